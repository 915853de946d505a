"""A small language model as an agent that always claims to have finished: model_agent.py URL SEED [--named] [--untested].

Each answer's code becomes one module and one test of it; a test that does not pass is thrown away, so a loop meets green trees only.
`--named` puts the ids of the criteria into the names of the tests, as prompts ask; `--untested` writes no test at all. As a reviewer it gives
the verdict that the model chooses; plans are given to it and pass, so that the work begins.
"""

import json
import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

URL, SEED = sys.argv[1], int(sys.argv[2])
TEST_S = 20
PROMPT_SHOWN = 1_000
VERDICT = {
    "type": "object",
    "properties": {"verdict": {"enum": ["pass", "fail"]}, "summary": {"type": "string", "maxLength": 200}},
    "required": ["verdict", "summary"],
}
REVIEWERS = re.compile(r"review|audit|eval|^qa$")
WRITERS = re.compile(r"documenter|writer")


def ask(question: str, number: int, tokens: int = 300, schema: dict[str, Any] | None = None) -> str:
    turn = int(os.environ["FLYBALL_TURN"])
    asked = {"messages": [{"role": "user", "content": question}], "max_tokens": tokens, "temperature": 0.8}
    asked["seed"] = SEED * 10_000 + turn * 100 + number
    if schema:
        asked["response_format"] = {"type": "json_object", "schema": schema}
    request = urllib.request.Request(
        f"{URL}/v1/chat/completions", json.dumps(asked).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=300) as answer:
        return str(json.load(answer)["choices"][0]["message"]["content"])


def code_of(answer: str) -> str:
    blocks = re.findall(r"```(?:\w*\n)?(.*?)(?:```|$)", answer, re.DOTALL)
    return (blocks[0] if blocks else answer).strip() + "\n"


def works(path: Path) -> bool:
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", str(path)]
    try:
        return not subprocess.run(command, capture_output=True, timeout=TEST_S, check=False).returncode
    except subprocess.TimeoutExpired:
        return False


def work(prompt: str) -> None:
    product = Path(next(iter(re.findall(r"shop/\w+\.py", prompt)), "shop/slug.py"))
    test = Path("tests") / f"test_{product.stem}.py"
    criteria = list(dict.fromkeys(re.findall(r"\bAC-(\d+)", prompt))) or ["1"]
    wishes = dict.fromkeys(line.strip("- ") for line in prompt.splitlines() if str(product) in line)
    request = "\n".join(wishes)[:PROMPT_SHOWN]
    if os.environ["FLYBALL_ROLE"] != "tester":
        product.parent.mkdir(exist_ok=True)
        product.write_text(code_of(ask(f"{request}\n\nWrite {product}. Answer with one block of Python.", 1)))
    if "--untested" in sys.argv or os.environ["FLYBALL_ROLE"] == "refactorer":
        return
    code = product.read_text() if product.exists() else ""
    wanted = (
        f"Write tests of it for pytest. Begin with `from shop.{product.stem} import`. Answer with one block of Python."
    )
    text = code_of(ask(f"{request}\n\n```python\n{code}```\n\n{wanted}", 2))
    for criterion in (*criteria, *criteria[-1:] * 20) if "--named" in sys.argv else ():
        text = re.sub(r"def test_(?!ac_)", f"def test_ac_{criterion}_", text, count=1)
    test.write_text(text)
    if os.environ["FLYBALL_ROLE"] != "tester" and not works(test):
        test.unlink()


def document() -> None:
    for path in (Path("README.md"), Path("CHANGELOG.md"), Path("docs/decisions/0001-shop.md")):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            file.write("\nThe shop has a new module.\n")


def main() -> None:
    prompt, role = sys.stdin.read(), os.environ["FLYBALL_ROLE"]
    report: dict[str, Any] = {"nonce": os.environ["FLYBALL_NONCE"], "status": "complete", "exit_signal": True}
    if role.startswith("plan-"):
        report["verdict"] = "pass"
    elif "planner" in role:
        report["plan"] = next(path for path in Path().rglob("plan.md") if ".git" not in path.parts).read_text()
    elif REVIEWERS.search(role):
        answer = ask(
            f"{prompt[-PROMPT_SHOWN:]}\n\nIs the work good? Answer with your verdict as JSON.", 0, 120, VERDICT
        )
        try:
            report |= json.loads(answer)
        except json.JSONDecodeError:
            report["verdict"] = "pass"
    elif WRITERS.search(role):
        document()
    else:
        work(prompt)
    Path(os.environ["FLYBALL_REPORT_FILE"]).write_text(json.dumps({"summary": "all done", **report}))
    print("All done: every test passes.")


main()
