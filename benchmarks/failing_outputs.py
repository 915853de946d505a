"""Makes the failing outputs in tests/core/failures/outputs by running the tools themselves on the projects of benchmarks/failures.

usage: python benchmarks/failing_outputs.py                     say which tools there are and which are missing
       python benchmarks/failing_outputs.py CACHE [TOOL ...]    install pinned tools into CACHE, run, write the outputs
                                                               (TOOL as in `jest`, or `held-out/jest` for one half)

Every failure runs four times: as it is, again, and twice with comment lines above; each time in another folder, with other
temporary folders, users, hash seeds, test orders and ports, every second time in colour. Half of the first failures of each
tool, drawn by lot, are held out and made with other versions of the tools; the sets `unseen` and `later` were written and
measured after masks had been made. Runs are in a sandbox without network.
"""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "failures"
OUTPUTS = HERE.parent / "tests" / "core" / "failures" / "outputs"
SETS = ("tuning", "held-out", "unseen", "later")
LOT = 20
COMMENTS = {".py": "# ", ".toml": "# ", "": "# ", ".sh": "# "} | dict.fromkeys(
    (".js", ".mjs", ".ts", ".go", ".rs", ".java", ".c", ".h", ".cpp"), "// "
)
# Without the runner's own packages a project of these tools does not start.
NEEDS_NODE_MODULES = {"jest", "vitest", "tsc", "eslint"}


class Variant(NamedTuple):
    """One way to run the same failure."""

    name: str
    pad: int
    colour: bool
    root: str
    temporary: str
    user: str


VARIANTS = (
    Variant("first", 0, False, "/home/ann/code/sample", "/tmp", "ann"),
    Variant("again", 0, True, "/srv/ci/builds/71/sample", "/var/tmp/job-{n}", "ci"),
    Variant("shifted", 9, False, "/tmp/tmp{word}/sample", "/tmp", "ann"),
    Variant("moved", 26, True, "/opt/build/{n}/checkout", "/run/user/1000", "build"),
)


class Toolset(NamedTuple):
    """Where the tools of one half are on this machine; what is missing is None."""

    folder: Path
    python: Path | None
    rust: Path | None


def tools() -> dict[str, dict[str, Any]]:
    """The projects of every tool."""
    files = sorted(SOURCES.glob("*.failures.toml"))
    return {path.name.partition(".")[0]: tomllib.loads(path.read_text(encoding="utf-8")) for path in files}


def halves(tool: str, failures: dict[str, Any]) -> dict[str, str]:
    """The half of each failure, by lot; failures of one group stay together."""
    groups = sorted({one.get("group", name) for name, one in failures.items()})
    random.Random(f"{LOT}/{tool}").shuffle(groups)
    tuning = set(groups[: (len(groups) + 1) // 2])
    return {name: "tuning" if one.get("group", name) in tuning else "held-out" for name, one in failures.items()}


def of_set(tool: str, spec: dict[str, Any], name: str) -> dict[str, Any]:
    """The failures of one set: half of the first ones, or those written for the set."""
    half = halves(tool, spec["failure"])
    return {case: one for case, one in spec["failure"].items() if half[case] == name} | spec.get(name, {})


def installed(cache: Path, half: str) -> Toolset:
    """The tools of one half, installed where they are not yet."""
    wanted = tomllib.loads((SOURCES / "toolsets.toml").read_text(encoding="utf-8"))[half]
    folder = cache / half
    python = said([wanted["python"], "-c", "import sys; print(sys.base_prefix)"])
    rust = said(["rustc", f"+{wanted['rust']}", "--print", "sysroot"])
    if python and not (folder / "site").exists():
        pip = [f"{python}/bin/python3", "-m", "pip", "install", "--quiet", "--target", str(folder / "site")]
        subprocess.run([*pip, *wanted["pip"]], check=True)
    if shutil.which("npm") and not (folder / "node_modules").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text("{}", encoding="utf-8")
        npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder)]
        subprocess.run([*npm, *wanted["npm"]], check=True)
    for own in (
        folder / "go",
        folder / "mypy",
        folder / "node_modules" / ".vite",
        folder / "node_modules" / ".vite-temp",
    ):
        own.mkdir(parents=True, exist_ok=True)
    (folder / "hosts").write_text("127.0.0.1 localhost\n", encoding="utf-8")
    return Toolset(folder, Path(python) if python else None, Path(rust) if rust else None)


def said(command: list[str]) -> str:
    """What a program prints, or nothing when it is missing or fails."""
    if not shutil.which(command[0]):
        return ""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def works(program: str) -> bool:
    """Whether a program starts; a name on PATH may be a shim that leads nowhere."""
    return any(said([program, argument]) for argument in ("--version", "version"))


def missing(tool: str, half: str) -> str:
    """The program a tool needs and this machine lacks."""
    wanted = tomllib.loads((SOURCES / "toolsets.toml").read_text(encoding="utf-8"))[half]
    needs = {"go": "go", "cargo": "rustc", "javac": "javac", "make": "make"} | dict.fromkeys(
        (*NEEDS_NODE_MODULES, "node", "npm"), "npm"
    )
    return next((name for name in ("bwrap", needs.get(tool, wanted["python"])) if not works(name)), "")


def write_project(folder: Path, files: dict[str, str], pad: int) -> None:
    """The files of a project, with comment lines above where lines are to shift."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        comment = COMMENTS.get(path.suffix)
        above = "".join(f"{comment}remark {number}\n" for number in range(pad)) if comment else ""
        above = "\n" * pad if path.suffix == ".json" and pad else above
        path.write_text(above + text.removeprefix("\n"), encoding="utf-8")


def sandbox(toolset: Toolset, project: Path, root: str, temporary: str, scratch: Path) -> list[str]:
    """A system without this machine's names: only the tools, the project and a temporary folder."""
    command = ["bwrap", "--die-with-parent", "--unshare-user", "--unshare-ipc", "--unshare-net", "--unshare-uts"]
    command += ["--hostname", "box", "--ro-bind", "/usr", "/usr", "--ro-bind", "/proc", "/proc", "--dev", "/dev"]
    for name in ("bin", "lib", "lib64", "sbin"):
        command += ["--symlink", f"usr/{name}", f"/{name}"]
    for name in ("alternatives", *(path.name for path in Path("/etc").glob("java-*"))):
        command += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    command += [
        "--ro-bind",
        str(toolset.folder / "hosts"),
        "/etc/hosts",
        "--tmpfs",
        "/tmp",
        "--bind",
        str(scratch),
        temporary,
        "--dir",
        "/var/home",
    ]
    for name in ("go", "mypy"):
        command += ["--bind", str(toolset.folder / name), f"/var/cache/{name}"]
    if toolset.python:
        library = next((toolset.python / "lib").glob("python3.*/os.py")).parent.name
        command += ["--ro-bind", str(toolset.python), "/opt/python"]
        command += ["--ro-bind", str(toolset.folder / "site"), f"/opt/python/lib/{library}/site-packages"]
        command += ["--ro-bind", str(toolset.folder / "site" / "bin"), "/opt/tools"]
    if toolset.rust:
        command += ["--ro-bind", str(toolset.rust), "/opt/rust"]
    command += ["--ro-bind-try", str(toolset.folder / "node_modules" / "npm"), "/opt/npm"]
    return [*command, "--bind", str(project), root, "--chdir", root]


def environment(variant: Variant, temporary: str, seed: int) -> dict[str, str]:
    """What the run may know of the world."""
    known = {
        "PATH": "/opt/python/bin:/opt/tools:/opt/rust/bin:/usr/bin",
        "LD_LIBRARY_PATH": "/opt/python/lib",
        "HOME": "/var/home",
        "USER": variant.user,
        "LOGNAME": variant.user,
        "LANG": "C.UTF-8",
        "TMPDIR": temporary,
        "PYTHONHASHSEED": str(seed),
        "PYTHONDONTWRITEBYTECODE": "1",
        "GOCACHE": "/var/cache/go",
        "GOFLAGS": "-mod=mod",
        "GOPROXY": "off",
        "npm_config_update_notifier": "false",
        "npm_config_registry": "http://registry.test/",
        "npm_config_cache": f"{temporary}/npm-cache",
    }
    colours = dict.fromkeys(("FORCE_COLOR", "CLICOLOR_FORCE", "MYPY_FORCE_COLOR"), "1") | {"TERM": "xterm-256color"}
    return known | (colours if variant.colour else {"NO_COLOR": "1"})


def run(toolset: Toolset, tool: str, spec: dict[str, Any], failure: dict[str, Any], variant: Variant) -> str:
    """One failing output."""
    chance = random.Random()
    word = "".join(chance.choices("abcdefghijklmnopqrstuvwxyz0123456789_", k=8))
    blanks = {"n": str(chance.randrange(100, 9999)), "word": word}
    root, temporary = variant.root.format(**blanks), variant.temporary.format(**blanks)
    seed = chance.randrange(1, 4_000_000_000)
    known = {"{seed}": seed % 2_000_000_000, "{port}": chance.randrange(20_000, 60_000), "{tmp}": temporary}
    known |= {"{npm}": "/opt/npm", "{seed_order}": "-r" if variant.colour else ""}
    arguments = [*failure.get("command", spec["command"]), *failure.get("args", ())]
    arguments += spec.get("again" if variant.colour else "plain", ())
    for blank, value in known.items():
        arguments = [argument.replace(blank, str(value)) for argument in arguments]
    with tempfile.TemporaryDirectory() as made:
        project, scratch = Path(made, "project"), Path(made, "scratch")
        scratch.mkdir()
        write_project(project, spec.get("shared", {}).get("files", {}) | failure["files"], variant.pad)
        command = sandbox(toolset, project, root, temporary, scratch)
        if tool in NEEDS_NODE_MODULES:
            modules = f"{root}/node_modules"
            command += ["--ro-bind", str(toolset.folder / "node_modules"), modules]
            command += ["--tmpfs", f"{modules}/.vite", "--tmpfs", f"{modules}/.vite-temp"]
        command += ["--clearenv"]
        for name, value in environment(variant, temporary, seed).items():
            command += ["--setenv", name, value]
        done = subprocess.run(
            [*command, *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=1200, check=False,
        )  # fmt: skip
    text = done.stdout.decode("utf-8", "backslashreplace")
    if done.returncode == 0 or "bwrap: " in text:
        raise SystemExit(f"{tool}: a run of {sorted(failure['files'])} did not fail as it should:\n{text}")
    for own in (str(toolset.folder), str(Path.home()), os.uname().nodename):
        if re.search(rf"(?<!\w){re.escape(own)}(?!\w)", text):
            raise SystemExit(f"{tool}: the output names this machine ({own}):\n{text}")
    return text


def outputs_of(toolset: Toolset, tool: str, spec: dict[str, Any], half: str) -> list[dict[str, Any]]:
    """Every output of one tool in one half."""
    failures = of_set(tool, spec, half)
    runs = [(name, variant) for name in failures for variant in VARIANTS]
    with ThreadPoolExecutor(max_workers=2) as pool:
        texts = pool.map(lambda one: run(toolset, tool, spec, failures[one[0]], one[1]), runs)
    return [
        {
            "case": name,
            "group": failures[name].get("group", name),
            "run": variant.name,
            "pad": variant.pad,
            "out": text.split("\n"),
        }
        for (name, variant), text in zip(runs, texts, strict=True)
    ]


def main(arguments: list[str]) -> int:
    """Lists the tools, or runs them."""
    cache, *chosen = arguments or ("",)
    for half in SETS:
        toolset = installed(Path(cache).resolve(), half) if cache else None
        for tool, spec in tools().items():
            if chosen and not {tool, f"{half}/{tool}"} & set(chosen):
                continue
            if lacks := missing(tool, half):
                print(f"{half}/{tool}: skipped, {lacks} is missing")
            elif not toolset:
                print(f"{half}/{tool}: {len(of_set(tool, spec, half))} failures, ready")
            else:
                path = OUTPUTS / half / f"{tool}.json"
                path.parent.mkdir(parents=True, exist_ok=True)
                samples = outputs_of(toolset, tool, spec, half)
                path.write_text(json.dumps(samples, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
                print(f"{half}/{tool}: {len(samples)} outputs", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
