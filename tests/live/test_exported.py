"""What `flyball export` writes, loaded by the programs it is written for."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryFile

import pytest
from tests.live.conftest import Live
from tests.support.model_script import ModelAnswer
from tests.support.model_server import ModelServer

from flyball.documents.governed import govern
from flyball.hook import MOST_ALIKE
from flyball.projections.export.agents import exported_roles

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

NAMES = {f"flyball-{role.name}" for role in exported_roles()}
QA, MONITOR = (next(role for role in exported_roles() if role.name == name) for name in ("qa", "monitor"))
PATIENCE_S = 120


def export(live: Live, target: str, to: Path, *more: str) -> None:
    words = [sys.executable, "-m", "flyball", "export", "--target", target, "--to", str(to), *more]
    subprocess.run(words, cwd=live.repository, env=live.environment(), check=True, capture_output=True)


def run(live: Live, name: str, *words: str, env: Mapping[str, str] = {}) -> subprocess.CompletedProcess[str]:
    """Run a program in the repository, with nothing on its standard input.

    It writes to a file: a program that leaves before its pipe is empty loses the rest.
    """
    with TemporaryFile("w+") as said:
        done = subprocess.run(
            [str(live.program(name)), *words],
            cwd=live.repository,
            env=live.environment(env),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        said.seek(0)
        return subprocess.CompletedProcess(done.args, done.returncode, said.read(), done.stderr)


def asked(server: ModelServer) -> str:
    """All that the requests with tools said, as the model got it."""
    return "\n".join(json.dumps(request.body) for request in server.requests if request.step is not None)


def as_sent(text: str) -> str:
    """A text as it stands within JSON."""
    return json.dumps(text)[1:-1]


def claude(server: ModelServer) -> dict[str, str]:
    return {
        "ANTHROPIC_API_KEY": "dummy",
        "ANTHROPIC_BASE_URL": server.url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "0",
    }


CLAUDE_WORDS = ("-p", "Look at it.", "--output-format", "stream-json", "--verbose")


def test_claude_code_knows_every_role_and_plays_one(live: Live) -> None:
    export(live, "claude", live.repository)
    server = live.serve(ModelAnswer(say="Looked."))
    done = run(live, "claude", "--agent", "flyball-qa", *CLAUDE_WORDS, env=claude(server))
    assert done.returncode == 0, done.stderr
    init = next(json.loads(line) for line in done.stdout.splitlines() if '"init"' in line)
    assert set(init["agents"]) >= NAMES
    assert set(init["tools"]) >= {"Read", "Bash"}
    assert not set(init["tools"]) & {"Edit", "Write"}
    assert as_sent(QA.text) in asked(server)


def test_the_plugin_is_valid_for_claude_code_itself(live: Live) -> None:
    plugin = live.folder / "plugin"
    export(live, "claude", plugin, "--plugin")
    for strictness in ("--strict", "--profile=directory"):
        done = run(live, "claude", "plugin", "validate", str(plugin), strictness)
        assert done.returncode == 0, done.stdout + done.stderr
    (plugin / "hooks" / "hooks.json").write_text('{"hooks": {"NoSuchEvent": 3}}')
    assert run(live, "claude", "plugin", "validate", str(plugin), "--strict").returncode != 0


def governed(live: Live) -> None:
    """A task in place that flyball has not measured as done."""
    known = {
        "task": "001-x",
        "decision": "CONTINUE",
        "stage": "GREEN",
        "reason": "one test fails",
        "missing": ["test_x"],
    }
    home = live.environment()["FLYBALL_HOME"]
    govern(home, str(live.repository), "001-x", verdict=json.dumps(known), lock=f"{home}/none")


def test_the_plugins_stop_hook_sends_the_agent_on_and_lets_it_go_in_the_end(live: Live) -> None:
    plugin = live.folder / "plugin"
    export(live, "claude", plugin, "--plugin")
    governed(live)
    server = live.serve(ModelAnswer(say="I am done.", repeat=0))
    done = run(live, "claude", "--plugin-dir", str(plugin), *CLAUDE_WORDS, env=claude(server))
    assert done.returncode == 0, done.stderr
    init = next(json.loads(line) for line in done.stdout.splitlines() if '"init"' in line)
    assert "flyball:implementer" in init["agents"]
    assert {"flyball:run", "flyball:verdict"} <= set(init["slash_commands"])
    assert server.taken == 1 + MOST_ALIKE
    assert "001-x is not done by flyball's measurement (stage GREEN): one test fails" in asked(server)


def test_the_plugins_stop_hook_says_nothing_where_nothing_is_governed(live: Live) -> None:
    plugin = live.folder / "plugin"
    export(live, "claude", plugin, "--plugin")
    server = live.serve(ModelAnswer(say="I am done.", repeat=0))
    assert run(live, "claude", "--plugin-dir", str(plugin), *CLAUDE_WORDS, env=claude(server)).returncode == 0
    assert server.taken == 1


def test_a_command_of_the_plugin_asks_for_the_verdict(live: Live) -> None:
    plugin = live.folder / "plugin"
    export(live, "claude", plugin, "--plugin")
    server = live.serve(ModelAnswer(say="It goes on."))
    words = ("-p", "/flyball:verdict 001-x", *CLAUDE_WORDS[2:])
    assert run(live, "claude", "--plugin-dir", str(plugin), *words, env=claude(server)).returncode == 0
    assert "flyball status 001-x --json" in asked(server)


def opencode(server: ModelServer) -> dict[str, str]:
    model = {"name": "S", "limit": {"context": 128000, "output": 8192}}
    options = {"baseURL": f"{server.url}/v1", "apiKey": "dummy"}
    local = {"npm": "@ai-sdk/openai-compatible", "name": "L", "options": options, "models": {"scripted-model": model}}
    config = {"autoupdate": False, "share": "disabled", "provider": {"local": local}, "model": "local/scripted-model"}
    quiet = ("MODELS_FETCH", "AUTOUPDATE", "DEFAULT_PLUGINS", "LSP_DOWNLOAD")
    return {
        "OPENCODE_CONFIG_CONTENT": json.dumps({**config, "small_model": "local/scripted-model"}),
        **{f"OPENCODE_DISABLE_{name}": "1" for name in quiet},
    }


def test_opencode_lists_every_role_and_plays_one(live: Live) -> None:
    export(live, "opencode", live.repository)
    server = live.serve(ModelAnswer(say="Looked."))
    listed = run(live, "opencode", "agent", "list", env=opencode(server))
    assert listed.returncode == 0, listed.stderr
    assert {name for name in NAMES if name in listed.stdout} == NAMES
    done = run(
        live, "opencode", "run", "--format", "json", "--agent", "flyball-qa", "Look at it.", env=opencode(server)
    )
    assert done.returncode == 0, done.stderr
    assert as_sent(QA.text) in asked(server)
    (request,) = [request for request in server.requests if request.step is not None]
    tools = {tool["function"]["name"] for tool in request.body["tools"]}
    assert "bash" in tools
    assert not tools & {"edit", "write"}


def copilot(server: ModelServer) -> dict[str, str]:
    return {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{server.url}/v1",
        "COPILOT_PROVIDER_API_KEY": "dummy",
        "COPILOT_MODEL": "scripted-model",
        "COPILOT_AUTO_UPDATE": "false",
    }


def test_copilot_plays_a_role_also_one_with_a_list_of_models(live: Live) -> None:
    export(live, "copilot", live.repository)
    server = live.serve(ModelAnswer(say="Looked.", repeat=0))
    words = ("-p", "Look at it.", "--output-format", "json", "--no-color", "--allow-all-tools")
    for role in (QA, MONITOR):
        done = run(live, "copilot", *words, "--agent", f"flyball-{role.name}", env=copilot(server))
        assert done.returncode == 0, done.stdout + done.stderr
        assert as_sent(role.text) in asked(server)
    unknown = run(live, "copilot", *words, "--agent", "flyball-nobody", env=copilot(server))
    assert unknown.returncode != 0


GEMINI_WORDS = ("-m", "gemini-2.5-pro", "-o", "stream-json", "--skip-trust")


def gemini(live: Live, server: ModelServer, more: Mapping[str, object] = {}) -> dict[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": False},
        **more,
    }
    folder = live.home / ".gemini"
    folder.mkdir(exist_ok=True)
    (folder / "settings.json").write_text(json.dumps(settings))
    return {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": server.url, "GEMINI_CLI_TRUST_WORKSPACE": "true"}


def test_gemini_offers_every_role_to_its_model(live: Live) -> None:
    export(live, "gemini", live.home)
    server = live.serve(ModelAnswer(say="Looked."))
    done = run(live, "gemini", "-p", "Look at it.", *GEMINI_WORDS, env=gemini(live, server))
    assert done.returncode == 0, done.stderr
    assert {name for name in NAMES if name in asked(server)} == NAMES


def codex(server: ModelServer) -> list[str]:
    """What makes Codex ask this model; a model it does not know gets all tools at once."""
    local = f'{{name="l",base_url="{server.url}/v1",env_key="LOCAL_KEY",wire_api="responses",request_max_retries=0}}'
    settings = ('model_provider="local"', f"model_providers.local={local}", "analytics.enabled=false")
    flags = [word for each in (*settings, "features.plugins=false") for word in ("-c", each)]
    return ["-m", "scripted-model", *flags]


def codex_home(home: Path) -> dict[str, str]:
    return {"LOCAL_KEY": "dummy", "CODEX_HOME": str(home)}


def test_codex_offers_every_role_to_its_model_in_a_trusted_project(live: Live) -> None:
    export(live, "codex", live.repository)
    home = live.home / ".codex"
    home.mkdir()
    (home / "config.toml").write_text(f'[projects."{live.repository}"]\ntrust_level = "trusted"\n')
    server = live.serve(ModelAnswer(say="Looked."))
    done = run(live, "codex", "exec", "--json", *codex(server), "Look at it.", env=codex_home(home))
    assert done.returncode == 0, done.stdout + done.stderr
    assert {name for name in NAMES if name in asked(server)} == NAMES


HOOK = {"hooks": [{"type": "command", "command": "flyball hook stop", "timeout": 10}]}


def test_codex_obeys_the_stop_hook_too(live: Live) -> None:
    governed(live)
    home = live.home / ".codex"
    home.mkdir()
    (home / "hooks.json").write_text(json.dumps({"hooks": {"Stop": [HOOK]}}))
    server = live.serve(ModelAnswer(say="I am done.", repeat=0))
    done = run(
        live, "codex", "exec", "--json", "--dangerously-bypass-hook-trust", *codex(server), "Go.", env=codex_home(home)
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert server.taken == 1 + MOST_ALIKE
    assert "one test fails" in asked(server)


def test_gemini_obeys_it_after_the_agent(live: Live) -> None:
    governed(live)
    server = live.serve(ModelAnswer(say="I am done.", repeat=0))
    hook = {"hooks": [{**HOOK["hooks"][0], "timeout": 10_000}]}
    done = run(live, "gemini", "-p", "Go.", *GEMINI_WORDS, env=gemini(live, server, {"hooks": {"AfterAgent": [hook]}}))
    assert done.returncode == 0, done.stderr
    assert "one test fails" in asked(server)
    assert 1 < server.taken <= 1 + MOST_ALIKE
