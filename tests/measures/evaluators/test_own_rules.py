"""flyball's own rules of code-quality and integration: each finds its defect in several spellings and lets look-alikes be."""

import pytest
from tests.measures.evaluators.planted import trees_of

from flyball.measures.evaluators.sources.syntax import Syntax

D22, D23 = (pytest.mark.req(each) for each in ("D22", "D23"))


def told(folder, name: str, text: str) -> list[tuple[str, int]]:
    """What all rules say of one file."""
    trees = trees_of(folder, {name: text})
    passes = ("error handling", "dead code", "type safety", "auth flow", "error recovery", "environment")
    syntax = Syntax(trees.toolbox)
    return [(each.rule, each.line) for one in passes for each in syntax.defects(trees.head, one)]


def each(name: str, *texts: str, mark: pytest.MarkDecorator = D22):
    return [pytest.param(name, text, marks=mark, id=f"{name}-{n}") for n, text in enumerate(texts, 1)]


PYTHON_DEFECTS = [
    *each("no-timeout", "async def f():\n    async with aiohttp.ClientSession() as session:\n        return await session.get(U)\n", mark=D23),
    *each("secret-in-code", "answer = {'auth_token': 'eyJpbmRleCI6IDExfQ=='}\n", mark=D23),
    *each("opaque-key", "REGISTER_KEY = 'rk_9f3bA7xQ2mLw8ZtV4cYh6KpD'\n", mark=D23),
    *each(
        "silent-except",
        "try:\n    f()\nexcept Exception as error:\n    logger.debug('%s', str(error))\n",
        "try:\n    f()\nexcept (KeyError, Exception):\n    logging.getLogger('a').debug('no')\n",
        "try:\n    f()\nexcept BaseException:\n    self.log.trace('no')\n    return\n",
        "try:\n    f()\nexcept:\n    x = 1\n",
    ),
    *each(
        "unreachable",
        "def f():\n    return 1\n    g()\n",
        "def f():\n    raise ValueError\n    # then\n    return 2\n",
        "for x in y:\n    if x:\n        continue\n        y.pop()\n",
        "while f():\n    break\n    g()\n",
        "def f(a):\n    if a:\n        return 1\n    elif b:\n        raise C\n    else:\n        return 2\n    g()\n",
        "def f(a):\n    if a:\n        if b:\n            return 1\n        else:\n            return 3\n    else:\n        return 2\n    g()\n",
        "def f():\n    try:\n        return g()\n    except KeyError:\n        raise\n    return 2\n",
        "def f():\n    while True:\n        g()\n    return 2\n",
    ),
    *each(
        "open-cookie",
        "answer.set_cookie('session', value)\n",
        "resp.set_cookie(key='access_token', value=t, httponly=True)\n",
        "r.set_cookie(SESSION_COOKIE, t, secure=True, httponly=False)\n",
        "make_response().set_cookie('sid', t, samesite='Lax', secure=True)\n",
        mark=D23,
    ),
    *each(
        "unverified-token",
        "def who(token):\n    return jwt.decode(token, options={'verify_signature': False})\n",
        "claims = jwt.decode(raw, KEY, verify=False)\n",
        "claims = jose.jwt.decode(raw, '', algorithms=['none'])\n",
        "user = decode(token, options=dict(verify_signature=False))\n",
        mark=D23,
    ),
    *each(
        "answer-unread",
        "def f():\n    return requests.get(U, timeout=5).json()['days']\n",
        "def f():\n    answer = httpx.post(U, json={})\n    return answer.json()\n",
        "data = requests.get(U, timeout=1).text\n",
        "def f(self):\n    return self.session.get(U).json()\n",
        "def f():\n    requests.delete(U, timeout=3)\n",
        "async def f():\n    async with httpx.AsyncClient(timeout=5) as client:\n        answer = await client.get(U)\n        return answer.json()\n",
        "async def f():\n    async with aiohttp.ClientSession(timeout=T) as session, session.get(U) as answer:\n        return await answer.text()\n",
        mark=D23,
    ),
    *each(
        "endless-retry",
        "def f():\n    while True:\n        try:\n            return requests.get(U, timeout=5)\n        except requests.RequestException:\n            continue\n",
        "def f():\n    while 1:\n        try:\n            client.send(m)\n            break\n        except Exception as error:\n            log.warning(error)\n            time.sleep(1)\n",
        "def f():\n    while True:\n        try:\n            answer = call(U)\n        except ConnectionError:\n            pass\n        else:\n            return answer\n",
        "def f():\n    while True:\n        try:\n            httpx.put(U, timeout=5).raise_for_status()\n        except httpx.TransportError:\n            continue\n        break\n",
        "def f():\n    up = False\n    while up is False:\n        try:\n            requests.head(U, timeout=1).raise_for_status()\n            up = True\n        except requests.ConnectionError:\n            time.sleep(1)\n",
        "def f():\n    sent = False\n    while not sent:\n        try:\n            client.send(m)\n            sent = True\n        except OSError:\n            pass\n",
        mark=D23,
    ),
    *each(
        "retry-by-itself",
        "def f(a):\n    try:\n        return requests.post(U, a, timeout=5)\n    except requests.RequestException:\n        return f(a)\n",
        mark=D23,
    ),
    *each(
        "secret-fallback",
        "KEY = os.getenv('JWT_SECRET', 'clinic-dev-2024')\n",
        'KEY = os.environ.get("DB_PASSWORD", "postgres")\n',
        "KEY = config('API_KEY', default='abc123')\n",
        "KEY = os.getenv('JWT_KEY') or 'not-so-secret'\n",
        mark=D23,
    ),
]  # fmt: skip
SCRIPT_DEFECTS = [
    *each(
        "silent-catch",
        "try { f(); } catch (error) {\n  // ignore\n}\n",
        "try { f(); } catch {\n  /* do nothing */\n}\n",
        "try { f(); } catch (e) { // intentionally left empty\n}\n",
        "try { f(); } catch (e) {\n  // ignore errors here.\n}\n",
        "try { f(); } catch (e) {\n  console.debug(String(e));\n}\n",
        "try { f(); } catch (e) {\n  // TODO: handle\n}\n",
    ),
    *each(
        "silent-rejection",
        "f().catch(() => {});\n",
        "f().catch((e) => {\n  // ignored\n});\n",
        "f().catch((e) => console.debug(e));\n",
        "f().catch(() => { /* noop */ });\n",
        "f().catch(function () {});\n",
    ),
    *each(
        "open-cookie-script",
        "response.cookie('session', token);\n",
        "res.status(200).cookie('auth_token', t, { httpOnly: true });\n",
        "res.cookie(SESSION_NAME, t, { secure: true, httpOnly: false });\n",
        mark=D23,
    ),
    *each("opaque-key-script", "const registerKey = 'rk_9f3bA7xQ2mLw8ZtV4cYh6KpD';\n", mark=D23),
    *each(
        "open-session",
        "app.use(session({ secret, cookie: { httpOnly: false, secure: true } }));\n",
        "app.use(expressSession({ secret, cookie: { secure: false } }));\n",
        mark=D23,
    ),
    *each(
        "unverified-token-script",
        "const user = jwt.decode(token);\n",
        "jwt.verify(token, key, { algorithms: ['none', 'HS256'] });\n",
        mark=D23,
    ),
    *each(
        "weak-password-hash",
        "const h = (password) => crypto.createHash('md5').update(password).digest('hex');\n",
        "function check(user, pwd) { return createHash(\"sha1\").update(pwd).digest('hex') === user.hash; }\n",
        mark=D23,
    ),
    *each(
        "endless-retry-script",
        "async function f() { while (true) { try { return await fetch(u, { signal }); } catch (e) { console.warn(e); } } }\n",
        "async function f() { for (;;) { try { await apiClient.send(m); break; } catch (e) { await wait(5); } } }\n",
        mark=D23,
    ),
    *each(
        "secret-fallback-script",
        "const key = process.env.JWT_SECRET || 'dev-2024';\n",
        "const key = process.env['API_KEY'] ?? \"abc123\";\n",
        mark=D23,
    ),
]  # fmt: skip
PYTHON_GOOD = [
    *each("opaque-key", "CACHE_KEY = 'rk_9f3bA7xQ2mLw8ZtV4cYh6KpD'\n", "HEADER_KEY = 'X-Request-Id-Of-The-2nd-Call'\n", "USER_KEY = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'\n", mark=D23),
    *each("no-timeout", "async def f():\n    async with aiohttp.ClientSession() as session:\n        return await session.get(U, timeout=T)\n", mark=D23),
    *each("secret-in-code", "answer = {'next_page_token': 'eyJpbmRleCI6IDExfQ=='}\n", mark=D23),
    *each("silent-except", "try:\n    f()\nexcept Exception as error:\n    log.warning('%s', error)\n", "try:\n    f()\nexcept Exception:\n    log.debug('no')\n    raise\n", "try:\n    f()\nexcept KeyError:\n    log.debug('no')\n"),
    *each("unreachable", "def f():\n    return\n    yield\n", "def f():\n    if a:\n        return 1\n    # after all\n    return 2\n", "try:\n    raise A\nexcept A:\n    f()\nfinally:\n    g()\n", "def f(a):\n    if a:\n        return 1\n    elif b:\n        g()\n    else:\n        return 2\n    h()\n", "def f():\n    try:\n        return g()\n    except KeyError:\n        log()\n    return 2\n", "def f():\n    while True:\n        if g():\n            break\n    return 2\n", "def f(a):\n    if a:\n        return 1\n    return 2\n", "with suppress(A):\n    return 1\nreturn 2\n", "match a:\n    case 1:\n        return 2\n    case _:\n        return 3\n"),
    *each("open-cookie", "a.set_cookie('session', t, httponly=True, secure=True)\n", "a.set_cookie('theme', 'dark')\n", "a.set_cookie('session', t, **COOKIE)\n", "a.set_cookie('csrftoken', t)\n", "a.set_cookie('access_token', t, httponly=True, secure=settings.SECURE)\n", mark=D23),
    *each("unverified-token", "jwt.decode(token, key, algorithms=['HS256'])\n", "def f(token):\n    kid = jwt.decode(token, options={'verify_signature': False})['kid']\n    return jwt.decode(token, KEYS[kid], algorithms=['RS256'])\n", "raw.decode('utf-8')\n", "requests.get(u, verify=False, timeout=1).raise_for_status()\n", mark=D23),
    *each("answer-unread", "def f():\n    answer = requests.get(U, timeout=5)\n    answer.raise_for_status()\n    return answer.json()\n", "def f():\n    return requests.get(U, timeout=5)\n", "def f():\n    return checked(httpx.get(U))\n", "def f():\n    a = requests.get(U, timeout=5)\n    return a.json() if a.status_code == 200 else None\n", "def f():\n    a = requests.get(U, timeout=5)\n    return a\n", "def f():\n    a = requests.get(U, timeout=5)\n    check(a)\n    return a.json()\n", "async def f():\n    async with aiohttp.ClientSession(timeout=T) as session:\n        async with session.post(U) as answer:\n            yield answer\n", "def f():\n    return cache.get(k).json()\n", "def f():\n    return self.headers.get('a')\n", "async def f():\n    async with httpx.AsyncClient(timeout=5) as client:\n        return await client.get(U)\n", "async def f():\n    async with aiohttp.ClientSession(raise_for_status=True) as session:\n        return await (await session.get(U)).json()\n", mark=D23),
    *each("endless-retry", "while True:\n    try:\n        n = int(input())\n        break\n    except ValueError:\n        print('again')\n", "def f():\n    tries = 0\n    while True:\n        try:\n            return requests.get(U, timeout=5)\n        except requests.RequestException:\n            tries += 1\n            if tries > 3:\n                raise\n", "while True:\n    try:\n        handle(client.receive())\n    except ConnectionError:\n        log.warning('again')\n", "def f():\n    while True:\n        if time.monotonic() > end:\n            return None\n        try:\n            return requests.get(U, timeout=5)\n        except requests.RequestException:\n            time.sleep(1)\n", "while not done:\n    try:\n        client.poll()\n    except ConnectionError:\n        done = True\n", "for _ in range(3):\n    try:\n        requests.get(U, timeout=5)\n        break\n    except requests.RequestException:\n        continue\n", mark=D23),
    *each("retry-by-itself", "def f(a, n):\n    try:\n        return requests.post(U, a, timeout=5)\n    except requests.RequestException:\n        return f(a, n - 1)\n", "def walk(p):\n    try:\n        return open(p)\n    except FileNotFoundError:\n        return walk(p.parent)\n", mark=D23),
    *each("secret-fallback", "K = os.getenv('JWT_SECRET') or ''\n", "K = name or 'not-so-secret'\n", "K = os.getenv('JWT_SECRET', '')\n", "K = os.environ.get('SECRET_KEY')\n", "K = os.getenv('TOKEN_URL', 'https://x.example')\n", "K = os.getenv('API_KEY_HEADER', 'x-api-key')\n", "K = os.getenv('API_KEY', 'change-me')\n", mark=D23),
]  # fmt: skip
SCRIPT_GOOD = [
    *each("open-session", "app.use(session({ secret, resave: false, cookie: { httpOnly: true, secure: isLive } }));\n", "setTheme({ secure: false });\n", mark=D23),
    *each("opaque-key-script", "const storageKey = 'rk_9f3bA7xQ2mLw8ZtV4cYh6KpD';\n", "const sortKey = 'orders-2024-by-date-v2';\n", "const apiKey = read('rk_9f3bA7xQ2mLw8ZtV4cYh6KpD');\n", mark=D23),
    *each("silent-catch", "try { f(); } catch (error) {\n  // private windows have no storage\n}\n", "try { f(); } catch (e) { console.warn(e); }\n", "try { f(); } catch { /* the file may be gone already */ }\n", "const ok = (u) => { try { new URL(u); return true; } catch { return false; } };\n"),
    *each("silent-rejection", "f().catch((e) => { console.warn(e); });\n", "f().catch(() => { /* the player refuses to start before a click */ });\n", "f().catch(report);\n"),
    *each("open-cookie-script", "res.cookie('session', t, { httpOnly: true, secure: true });\n", "res.cookie('theme', 'dark');\n", "res.cookie('session', t, options);\n", "res.cookie('session', t, { ...cookieOptions, maxAge: 1 });\n", mark=D23),
    *each("unverified-token-script", "jwt.verify(token, key, { algorithms: ['RS256'] });\n", "function f(t) { const { kid } = jwt.decode(t).header; return jwt.verify(t, keys[kid]); }\n", "const head = (t) => { const read = jwt.decode(t, { complete: true }); return read.header; };\n", mark=D23),
    *each("weak-password-hash", "const etag = (body) => createHash('md5').update(body).digest('hex');\n", "const h = (password, salt) => scryptSync(password, salt, 64);\n", mark=D23),
    *each("endless-retry-script", "async function f() { for (let n = 0; n < 3; n++) { try { return await get(u); } catch (e) { last = e; } } throw last; }\n", "async function f() { while (true) { try { return await fetch(u); } catch (e) { if (++n > 3) throw e; } } }\n", "async function f() { while (true) { try { handle(await client.next()); } catch (e) { console.warn(e); } } }\n", mark=D23),
    *each("secret-fallback-script", "const k = process.env.API_KEY ?? '';\n", "const k = process.env.TOKEN_URL || 'https://x.example';\n", mark=D23),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "text"), PYTHON_DEFECTS)
def test_a_defect_in_python_is_found(tmp_path, rule, text):
    assert rule in {name for name, _ in told(tmp_path, "a.py", text)}


@pytest.mark.parametrize(("rule", "text"), SCRIPT_DEFECTS)
def test_a_defect_in_a_script_is_found(tmp_path, rule, text):
    assert rule in {name for name, _ in told(tmp_path, "a.ts", text)}


@pytest.mark.parametrize(("rule", "text"), PYTHON_GOOD)
def test_a_look_alike_in_python_is_let_be(tmp_path, rule, text):
    assert rule not in {name for name, _ in told(tmp_path, "a.py", text)}


@pytest.mark.parametrize(("rule", "text"), SCRIPT_GOOD)
def test_a_look_alike_in_a_script_is_let_be(tmp_path, rule, text):
    assert rule not in {name for name, _ in told(tmp_path, "a.ts", text)}
