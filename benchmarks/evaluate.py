"""Times the evaluation of a backlog of 1,000 issues and of 10,000, from text to decision: the time must grow with the size.

usage: python benchmarks/evaluate.py [SMALL LARGE]
"""

import sys
import time

from flyball.core.workflows.backlog.evaluator import evaluate
from flyball.core.workflows.backlog.issues.reading import gather_backlog, read_issues
from flyball.core.workflows.backlog.values import ISSUE_FILES, Situation

TARGET = 1.5
RUNS = 3


def backlog(issues: int, *, plain: bool) -> dict[str, str]:
    """Issue files with so many issues; those that are not plain need the whole of YAML."""
    files = {file: [f"# {file}\n\n"] for file in ISSUE_FILES}
    for number in range(issues):
        files[ISSUE_FILES[number % len(ISSUE_FILES)]].append(block(number, plain=plain))
    return {file: "".join(blocks) for file, blocks in files.items()}


def block(number: int, *, plain: bool) -> str:
    status = ("proposed", "in-progress", "blocked", "completed")[number % 4]
    title = f"Issue number {number}" if plain else f'"Issue \\"number\\" {number}"'
    return (
        f"---\nid: BUG-{number:05}@{number:06x}\ntitle: {title}\ncreated: 2026-01-{number % 28 + 1:02}\n"
        f"tags: [reader, csv]\ntype: bug\npriority: high\nstatus: {status}\naffected_files:\n  - src/a{number}.py\n"
        f"related:\n  blocked_by: [BUG-{number // 2:05}@{number // 2:06x}]\n---\n\n"
        f"### Problem\nSomething is wrong with number {number}.\n\n### Acceptance Criteria\n- [ ] It is right\n\n"
    )


def seconds(files: dict[str, str]) -> float:
    begun = time.process_time()
    read = [read_issues(text, file) for file, text in files.items()]
    evaluate(Situation(backlog=gather_backlog(read)))
    return time.process_time() - begun


def main() -> int:
    small, large = (int(word) for word in sys.argv[1:3]) if len(sys.argv) > 2 else (1000, 10_000)
    print(f"{'headers':<10} {'issues':>8} {'seconds':>9} {'per issue':>11} {'ratio':>7}")
    worst = 0.0
    for name, plain in (("plain", True), ("full YAML", False)):
        times = {n: min(seconds(backlog(n, plain=plain)) for _ in range(RUNS)) for n in (small, large)}
        ratio = times[large] / times[small] / (large / small)
        worst = max(worst, ratio)
        for n, taken in times.items():
            shown = f"{ratio:.2f}" if n == large else ""
            print(f"{name:<10} {n:>8} {taken:>9.3f} {taken / n * 1e6:>8.0f} µs {shown:>7}")
    print(f"ratio: time per issue at {large} against {small}; target at most {TARGET}")
    return 0 if worst <= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
