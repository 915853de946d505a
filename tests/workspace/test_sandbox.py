import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from flyball.core.model.task import Settings
from flyball.folders import environment_folders, users_environments
from flyball.ports import Confine
from flyball.workspace.mounts import Mount
from flyball.workspace.sandbox import (
    Confined,
    Unavailable,
    Unconfined,
    _real_paths,
    available,
    command,
    secret_paths,
)

FOUND = available()
works = pytest.mark.skipif(isinstance(FOUND, Unavailable), reason=str(FOUND))
NOBODY = 65534
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if os.geteuid() == 0 else []
ordinary = pytest.mark.skipif(
    os.geteuid() == 0 and shutil.which("setpriv") is None,
    reason="setpriv, which makes root an ordinary user, is missing",
)
CLOSED = [str(folder) for folder in Path(__file__).resolve().parents if not folder.stat().st_mode & 0o001]
open_to_all = pytest.mark.skipif(
    os.geteuid() == 0 and bool(CLOSED), reason=f"the project's folder is closed to other users by {CLOSED[:1]}"
)
ENV = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}


_SINGLE = {
    ".netrc",
    ".pypirc",
    ".vault-token",
    ".git-credentials",
    "credentials",
    ".bash_history",
    ".zsh_history",
    ".python_history",
}


@pytest.fixture
def base():
    """A folder outside /tmp, which the sandbox makes private: beside this file, or where a clone below /tmp can have one."""
    places = (Path(__file__).parent, Path("/var/lib"), Path.home())
    open_ones = [p for p in places if os.access(p, os.W_OK) and not p.is_relative_to("/tmp")]
    if not open_ones:
        pytest.skip("no folder outside /tmp can be written")
    folder = open_ones[0] / f".sandbox-{os.getpid()}"
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def place(base, monkeypatch):
    """A user's repository with an environment, a task's tree, flyball's home and a person's home."""
    for name in (
        "project/.venv/bin",
        "home/tasks/x/tree",
        "home/vault.git",
        "person/.ssh",
        "person/.claude",
        "reports",
    ):
        (base / name).mkdir(parents=True)
    (base / "project" / "who").write_text("the user's")
    (base / "project" / ".venv" / "installed").write_text("by the user")
    (base / "home" / "tasks" / "x" / "tree" / "who").write_text("the candidate")
    (base / "home" / "secret").write_text("journal")
    (base / "person" / ".ssh" / "id").write_text("key")
    (base / "person" / ".netrc").write_text("password")
    monkeypatch.setenv("HOME", str(base / "person"))
    return base


@pytest.fixture
def confine(place):
    return Confined(
        program=str(FOUND),
        root=place / "project",
        hidden=(*secret_paths(place / "person"), place / "home"),
        shown=(place / "person" / ".claude",),
        environments=environment_folders(place / "project", Settings().environment_folders),
        environment_names=Settings().environment_folders,
        copies=lambda tree: place / "home" / f"{tree.name}.environments",
    )


def run(confine, tree, script, **options):
    argv, cwd, env = confine(["sh", "-c", script], tree=tree, env=options.pop("env", ENV), **options)
    return subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True, timeout=120, check=False)


def tree_in(place):
    return place / "home" / "tasks" / "x" / "tree"


def test_the_command_line_is_built_without_touching_anything():
    mounts = (
        Mount("empty", Path("/secret")),
        Mount("nothing", Path("/key")),
        Mount("writable", Path("/at"), Path("/from")),
    )
    argv = command("bwrap", mounts, ["prog", "--flag"], folder=Path("/at"), network=False)
    assert argv[0] == "bwrap"
    assert argv[argv.index("--chdir") :] == ["--chdir", "/at", "--", "prog", "--flag"]
    text = " ".join(argv)
    for words in (
        *("--die-with-parent", "--new-session", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
        *("--unshare-net", "--cap-drop ALL", "--ro-bind / /", "--tmpfs /tmp", "--tmpfs /secret"),
        *("--ro-bind /dev/null /key", "--bind /from /at"),
    ):
        assert words in text
    assert "--disable-userns" not in argv
    assert "--unshare-net" not in command("bwrap", (), ["true"], folder=Path("/"))


def test_without_the_program_the_reason_is_a_sentence(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    found = available()
    assert isinstance(found, Unavailable)
    assert "apt install bubblewrap" in found.reason


def test_a_program_that_does_not_work_is_found_out(monkeypatch, tmp_path):
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho no permission to create namespaces >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert available() == Unavailable("bubblewrap does not work here: no permission to create namespaces")


def test_unconfined_changes_nothing(tmp_path):
    port: Confine = Unconfined()
    assert port(["prog"], tree=tmp_path, env=ENV) == (["prog"], tmp_path, ENV)


@works
def test_the_tree_is_seen_at_the_repositorys_own_path(confine, place):
    port: Confine = confine
    done = run(port, tree_in(place), f"pwd; cat who; cat {place}/project/who; echo changed > who")
    assert done.stdout.splitlines() == [str(place / "project"), "the candidatethe candidate"]
    assert (tree_in(place) / "who").read_text() == "changed\n"
    assert (place / "project" / "who").read_text() == "the user's"


@works
def test_nothing_outside_can_be_written(confine, place):
    script = f"""
    for path in {place}/person/x /etc/flyball-test /usr/flyball-test {place}/x; do touch $path && echo WROTE $path; done
    touch {place}/person/.claude/ok && echo allowed
    """
    done = run(confine, tree_in(place), script)
    assert done.stdout.split() == ["allowed"]
    assert (place / "person" / ".claude" / "ok").exists()
    assert not (place / "x").exists()


@works
def test_secrets_and_flyballs_own_folder_are_hidden(confine, place):
    script = f"ls -A {place}/person/.ssh {place}/home; cat {place}/person/.netrc {place}/home/secret"
    done = run(confine, tree_in(place), script)
    assert "key" not in done.stdout
    assert "id" not in done.stdout
    assert "password" not in done.stdout
    assert "journal" not in done.stdout
    assert "vault.git" not in done.stdout


@works
def test_a_hidden_folder_cannot_be_uncovered_even_by_root(confine, place):
    script = f"umount {place}/person/.ssh; mount -o remount,rw /; cat {place}/person/.ssh/id; touch /flyball-test"
    done = run(confine, tree_in(place), script)
    assert "key" not in done.stdout
    assert not Path("/flyball-test").exists()


@works
def test_the_environment_of_the_repository_is_there_and_read_only(confine, place):
    done = run(confine, tree_in(place), "cat .venv/installed; echo x > .venv/installed; touch .venv/new")
    assert done.stdout == "by the user"
    assert (place / "project" / ".venv" / "installed").read_text() == "by the user"
    assert not (place / "project" / ".venv" / "new").exists()
    again = run(confine, tree_in(place), "cat .venv/installed")
    assert again.stdout == "by the user"


@works
def test_an_environment_of_the_trees_own_is_used_instead(confine, place):
    (tree_in(place) / ".venv").mkdir()
    (tree_in(place) / ".venv" / "installed").write_text("by setup")
    assert (
        run(confine, tree_in(place), "cat .venv/installed; touch .venv/new", environments="disposable").stdout
        == "by setup"
    )
    assert (tree_in(place) / ".venv" / "new").exists()


@works
@pytest.mark.req("C42")
def test_an_editable_install_resolves_to_the_candidate(confine, place):
    for name, root in (("user", place / "project"), ("candidate", tree_in(place))):
        (root / "pkg").mkdir()
        (root / "pkg" / "__init__.py").write_text(f"who = {name!r}\n")
    (place / "project" / ".venv" / "lib").mkdir()
    (place / "project" / ".venv" / "lib" / "editable.pth").write_text(str(place / "project"))
    script = "import site; site.addsitedir('.venv/lib'); import pkg; print(pkg.who, pkg.__file__)"
    argv, cwd, env = confine([sys.executable, "-c", script], tree=tree_in(place), env=ENV)
    done = subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["candidate", str(place / "project" / "pkg" / "__init__.py")]


@works
def test_tmp_is_private(confine, place, tmp_path):
    (tmp_path / "mine").write_text("x")
    done = run(
        confine,
        tree_in(place),
        f"ls {tmp_path}; echo x > /tmp/flyball-private && ls /tmp",
        env=ENV | {"TMPDIR": str(tmp_path)},
    )
    assert "mine" not in done.stdout
    assert "flyball-private" in done.stdout
    assert not Path("/tmp/flyball-private").exists()


@works
def test_the_environment_is_only_what_is_given_and_not_on_the_command_line(confine, place, monkeypatch):
    monkeypatch.setenv("LEAK", "leaked")
    argv, cwd, env = confine(["env"], tree=tree_in(place), env=ENV | {"API_KEY": "k3y"})
    assert not any("k3y" in word for word in argv)
    done = subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True, check=True)
    assert "API_KEY=k3y" in done.stdout
    assert "leaked" not in done.stdout


@works
@pytest.mark.slow
@pytest.mark.req("C8")
@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_npm_installs_a_package_where_a_persons_home_cannot_be_written(confine, place):
    tree = tree_in(place)
    made = {"part/package.json": '{"name": "part", "version": "1.0.0"}', "part/index.js": "module.exports = 42\n"}
    for path, text in {**made, "package.json": '{"dependencies": {"part": "file:part-1.0.0.tgz"}}'}.items():
        (tree / path).parent.mkdir(exist_ok=True)
        (tree / path).write_text(text)
    script = "npm pack --silent ./part && npm install --silent --offline && node -p 'require(\"part\")'"
    done = run(confine, tree, script, env=ENV | {"HOME": str(place / "person")})
    assert done.stdout.split()[-1] == "42", done.stderr
    assert (tree / "package-lock.json").exists()


@works
def test_a_tree_can_be_read_only_with_a_writable_place_for_reports(confine, place):
    script = f"touch new; echo changed > who; echo report > {place}/reports/r; cat who; cat .venv/installed"
    done = run(confine, tree_in(place), script, read_only_tree=True, writable=[place / "reports"])
    assert done.stdout == "the candidateby the user"
    assert (place / "reports" / "r").read_text() == "report\n"
    assert not (tree_in(place) / "new").exists()


@works
def test_a_report_folder_inside_flyballs_hidden_home_can_be_written(confine, place):
    folder = place / "home" / "reports"
    folder.mkdir()
    run(confine, tree_in(place), f"echo report > {folder}/r", writable=[folder])
    assert (folder / "r").read_text() == "report\n"


@works
@pytest.mark.parametrize("variable", ["GOCACHE", "npm_config_cache", "UV_CACHE_DIR", "YARN_CACHE_FOLDER"])
def test_a_tool_that_must_write_its_cache_gets_one_that_ends_with_the_command(confine, place, variable):
    cache = place / "person" / "cache"
    cache.mkdir()
    script = f'mkdir -p "${variable}" && touch "${variable}/new" && echo "${variable}"'
    done = run(confine, tree_in(place), script, env=ENV | {variable: str(cache)})
    assert done.returncode == 0, done.stderr
    assert not Path(done.stdout.strip()).exists()
    assert list(cache.iterdir()) == []


@works
def test_the_network_can_be_taken_away(confine, place):
    alone = Confined(program=confine.program, root=confine.root, hidden=confine.hidden, network=False)
    script = "grep -c : /proc/net/dev"
    assert run(alone, tree_in(place), script).stdout.strip() == "1"


@works
def test_git_in_the_tree_is_read_only_as_a_whole(confine, place):
    git = tree_in(place) / ".git"
    (git / "hooks").mkdir(parents=True)
    (git / "config").write_text("theirs")
    script = "echo x > .git/config; touch .git/hooks/post-commit; mv .git elsewhere; rm -rf .git; cat .git/config"
    done = run(confine, tree_in(place), script)
    assert done.stdout == "theirs"
    assert list((git / "hooks").iterdir()) == []


@works
def test_git_works_for_an_agent_in_the_sandbox(user, workspace, base):
    hidden = (workspace.home,)
    confine = Confined(program=str(FOUND), root=workspace.repository.root, hidden=hidden, git_dirs=workspace.git_dirs)
    before = user.everything()
    script = (
        "git status --porcelain; git log --format=%s; echo x > b.txt; git commit -q -am mine && git log --format=%s"
    )
    done = run(confine, workspace.root, script)
    assert done.stdout.split() == ["Start", "mine", "Start"]
    assert done.stderr == ""
    assert user.everything() == before
    assert (workspace.root / "b.txt").read_text() == "x\n"


@works
def test_nothing_outlives_the_sandbox(confine, place):
    marker = f"flyball-orphan-{os.getpid()}"
    seconds = f"301.{os.getpid()}"
    run(confine, tree_in(place), f"(setsid sh -c 'exec -a {marker} sleep 300' &) ; (setsid sleep {seconds} &); true")
    assert soon(lambda: seconds not in running())


@works
def test_the_sandbox_dies_with_whoever_started_it(confine, place):
    seconds = f"302.{os.getpid()}"
    argv, cwd, env = confine(["sleep", seconds], tree=tree_in(place), env=ENV)
    parent = subprocess.Popen(
        [sys.executable, "-c", f"import subprocess; subprocess.run({argv!r}, env={env!r})"], cwd=cwd
    )
    assert soon(lambda: seconds in running())
    parent.kill()
    parent.wait()
    assert soon(lambda: seconds not in running())


def soon(holds: Callable[[], bool]) -> bool:
    """Whether something becomes so, however slow the machine is."""
    deadline = time.monotonic() + 60
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.02)
    return holds()


def running() -> str:
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:1] == [b"sleep"]:
            lines.append(b" ".join(words).decode("utf-8", "replace"))
    return "\n".join(lines)


@works
@ordinary
@open_to_all
def test_an_ordinary_user_has_the_same_sandbox_and_can_nest_another(confine, place):
    for above, folders, files in os.walk(place):
        for name in (".", *folders, *files):
            os.chown(Path(above) / name, NOBODY, NOBODY, follow_symlinks=False)
    script = f"""
    cat who; echo changed > who
    for path in {place}/person/x {place}/x; do touch $path && echo WROTE $path; done
    cat {place}/person/.ssh/id {place}/home/secret; cat .venv/installed; echo
    bwrap --ro-bind / / --unshare-user --unshare-pid --proc /proc --dev /dev sh -c 'echo nested'
    """
    argv, cwd, env = confine(["sh", "-c", script], tree=tree_in(place), env=ENV)
    done = subprocess.run(
        [*AS_NOBODY, *argv], cwd=cwd, env=env, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.splitlines() == ["the candidateby the user", "nested"]
    assert (tree_in(place) / "who").read_text() == "changed\n"


@works
@ordinary
@pytest.mark.req("C45", "C47")
def test_an_ordinary_user_with_a_home_outside_tmp_sees_none_of_its_secrets_in_the_sandbox(confine, place):
    person = place / "person"
    secrets = [path for path in secret_paths(person) if path.is_relative_to(person)]
    for path in secrets:
        kept = path if path.suffix == ".toml" or path.name in _SINGLE else path / "key"
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text("SECRET")
    for above, folders, files in os.walk(place):
        for name in (".", *folders, *files):
            os.chown(Path(above) / name, NOBODY, NOBODY, follow_symlinks=False)
    hiding = msgspec.structs.replace(confine, hidden=(*secret_paths(person), place / "home"))
    script = "cat $HOME/.bashrc; find $HOME -type f -exec cat {} + 2>/dev/null; cat " + " ".join(map(str, secrets))
    (person / ".bashrc").write_text("readable")
    argv, cwd, env = hiding(["sh", "-c", script], tree=tree_in(place), env=ENV | {"HOME": str(person)})
    done = subprocess.run(
        [*AS_NOBODY, *argv], cwd=cwd, env=env, capture_output=True, text=True, timeout=120, check=False
    )
    assert "readable" in done.stdout
    assert "SECRET" not in done.stdout
    assert len(secrets) > 20


@pytest.mark.parametrize("place", ["/tmp", "/var/tmp", "/dev/shm"])
def test_a_file_a_command_names_can_be_read_wherever_the_sandbox_covers_it(tmp_path, place):
    if not os.access(place, os.W_OK):
        pytest.skip(f"{place} cannot be written")
    with tempfile.TemporaryDirectory(dir=place) as folder:
        program = Path(folder, "program.sh")
        program.touch()
        confined = Confined("bwrap", tmp_path, hidden=())
        argv, _, _ = confined(["/bin/sh", str(program)], tree=tmp_path, env={})
    assert f"--ro-bind {folder} {folder}" in " ".join(argv)


@pytest.mark.req("C43")
def test_environment_folders_are_found_at_any_depth_and_not_within_each_other(tmp_path):
    for name in (".venv", "node_modules/a/node_modules", "web/node_modules", "a/b/node_modules", ".git/node_modules"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "venv").symlink_to(tmp_path / ".venv")
    found = (".venv", "a/b/node_modules", "node_modules", "web/node_modules")
    assert environment_folders(tmp_path, Settings().environment_folders) == found


@works
@pytest.mark.req("C43")
@pytest.mark.parametrize("more", [0, 60])
@pytest.mark.parametrize("folder", [".venv", "packages/a/node_modules"])
def test_a_gate_cannot_write_the_environment_of_its_own_tree_but_may_keep_caches_there(confine, place, folder, more):
    own = tree_in(place) / folder
    for number in range(more):
        (own / f"package-{number}").mkdir(parents=True)
    (own / "lib" / "__pycache__").mkdir(parents=True)
    (own / "lib" / "__pycache__" / "runner.pyc").write_text("as installed")
    (own / ".vite").mkdir()
    (own / "linked").symlink_to("../pkg")
    script = (
        f"cd {folder}; cat lib/__pycache__/*; readlink linked; echo x > lib/__pycache__/runner.pyc; rm -r lib; mv lib x"
    )
    script += "; mkdir -p .vite/deps && echo cached > .vite/deps/a && cat .vite/deps/a; touch new"
    done = run(confine, tree_in(place), script, environments="pristine")
    assert done.stdout.split() == ["as", "installed../pkg", "cached"]
    assert (own / "lib" / "__pycache__" / "runner.pyc").read_text() == "as installed"
    assert not (own / "new").exists()
    assert os.readlink(own / "linked") == "../pkg"
    assert list((own / ".vite").iterdir()) == []


@works
@pytest.mark.req("C43")
def test_a_tool_that_has_no_cache_yet_may_write_one_in_a_large_environment_of_the_users(place):
    root = place / "project"
    for number in range(60):
        (root / "node_modules" / f"package-{number}").mkdir(parents=True)
    confine = Confined(program=str(FOUND), root=root, hidden=(), environments=("node_modules",))
    done = run(
        confine, tree_in(place), "mkdir -p node_modules/.vite/deps && echo cached; touch node_modules/package-1/x"
    )
    assert done.stdout == "cached\n"
    assert list((root / "node_modules" / ".vite").iterdir()) == []
    assert list((root / "node_modules" / "package-1").iterdir()) == []


@works
@pytest.mark.req("C43")
def test_set_up_installs_into_its_own_tree_though_the_user_has_an_environment_of_that_name(confine, place):
    done = run(confine, tree_in(place), "ls -A .venv; mkdir .venv; echo own > .venv/installed", environments="writable")
    assert done.stdout == ""
    assert (tree_in(place) / ".venv" / "installed").read_text() == "own\n"
    assert (place / "project" / ".venv" / "installed").read_text() == "by the user"


@works
@pytest.mark.req("C43")
@pytest.mark.parametrize("folder", [".venv", "packages/a/node_modules", "packages/env-3.11"])
def test_an_agent_writes_a_copy_of_the_users_environment_and_nobody_sees_it_afterwards(confine, place, folder):
    root = place / "project"
    tree = tree_in(place)
    (tree_in(place) / folder).parent.mkdir(parents=True, exist_ok=True)
    (root / folder / "lib").mkdir(parents=True)
    (root / folder / "lib" / "runner.py").write_text("as installed")
    (root / folder / "bin").mkdir(exist_ok=True)
    (root / folder / "pyvenv.cfg").touch()
    lent = users_environments(root, Settings().environment_folders)
    confine = msgspec.structs.replace(confine, environments=lent)
    seen = f"cat {folder}/lib/* {folder}/tried 2>/dev/null"
    script = f"echo tried > {folder}/tried; echo worse > {folder}/lib/runner.py; {seen}"
    done = run(confine, tree, script, environments="disposable")
    assert done.stdout == "worse\ntried\n"
    assert run(confine, tree, seen, environments="disposable").stdout == "as installed", "the next turn begins anew"
    assert run(confine, tree_in(place), seen).stdout == "as installed"
    assert sorted(path.name for path in (root / folder / "lib").iterdir()) == ["runner.py"]
    assert not (root / folder / "tried").exists()


@works
@pytest.mark.req("C43")
@pytest.mark.parametrize("where", ["checkout", "in place"])
@pytest.mark.parametrize("kept", ["project/env/dev", "elsewhere"])
def test_an_environment_reached_through_a_link_is_lent_and_out_of_reach(confine, place, where, kept):
    root = place / "project"
    (place / kept / "lib").mkdir(parents=True)
    (place / kept / "lib" / "runner.py").write_text("as installed")
    (root / "venv").symlink_to(place / kept)
    tree = tree_in(place)
    found = users_environments(root, Settings().environment_folders)
    assert found == (".venv", *(["env/dev"] if "project" in kept else []), "venv")
    confine = msgspec.structs.replace(confine, environments=found)
    script = f"cat venv/lib/runner.py; echo worse > venv/lib/runner.py; echo worse > {place / kept}/lib/runner.py"
    for use in ("disposable", "pristine"):
        assert run(confine, tree, script, environments=use).stdout == "as installed"
    assert (place / kept / "lib" / "runner.py").read_text() == "as installed"


def test_no_folder_is_made_through_a_link_that_an_agent_planted(tmp_path):
    root, tree, outside = tmp_path / "root", tmp_path / "tree", tmp_path / "outside"
    for folder in (root / "web" / "node_modules", tree, outside):
        folder.mkdir(parents=True)
    (tree / "web").symlink_to(outside)
    confine = Confined(program="bwrap", root=root, hidden=(), environments=("web/node_modules",))
    argv, _, _ = confine(["true"], tree=tree, env=ENV)
    assert list(outside.iterdir()) == []
    assert str(root / "web" / "node_modules") not in argv


def test_paths_are_taken_for_where_they_really_lead(tmp_path: Path) -> None:
    home = tmp_path.resolve() / "home"
    (home / "real" / "deep").mkdir(parents=True)
    (home / "file").write_text("x")
    (home / "link").symlink_to("real")
    (home / "away").symlink_to(home / "link" / "deep")
    (home / "loop").symlink_to("loop")
    (home / "dead").symlink_to("nowhere")
    names = ["real", "file", "link", "link/deep", "link/../file", "away", "loop", "dead", "none/below", "file/below"]
    paths = [home / name for name in names]
    expected = {str(path.resolve()) for path in paths if os.path.exists(path)}
    assert _real_paths(paths) == expected
    assert len(expected) == 3
