"""What works where it is measured and not in a clone is not accepted."""

import pytest
from tests.measures.conftest import MUL, tricked

from flyball.measures.tampering.clones import leads_out

LINKS = {
    "in.py": "calc/real.py",
    "calc/up.py": "../calc/real.py",
    "loop": "loop",
    "far": "../away",
    "deep/on": "../far",
}


@pytest.mark.parametrize(
    ("path", "target", "out"),
    [
        ("a.py", "calc/real.py", False),
        ("calc/a.py", "../calc/./real.py", False),
        ("calc/a.py", "../../outside.py", True),
        ("calc/a.py", "../../project/calc/real.py", True),
        ("a.py", "/project/calc/real.py", True),
        ("a.py", "in.py", False),
        ("a.py", "loop/x", False),
        ("a.py", "deep/on/x.py", True),
        ("a.py", "nowhere/x.py", False),
    ],
)
def test_a_link_leads_out_if_following_it_does(path: str, target: str, out: bool) -> None:
    assert leads_out(path, {**LINKS, path: target}.get) is out


@pytest.mark.slow
@pytest.mark.req("C42")
def test_a_module_that_is_a_link_out_of_the_tree_is_named_wrong_tree(green_lab) -> None:
    green_lab.write({"real.py": MUL, "calc.py": None})
    away = green_lab.home / "away.py"
    away.write_text((green_lab.workspace.root / "real.py").read_text())
    (green_lab.workspace.root / "calc.py").symlink_to(away)
    measured = green_lab.measure("green")
    tricked(measured, "wrong-tree", "calc.py")
    assert "leads out of the tree" in measured.tricks[0].detail
    (green_lab.workspace.root / "calc.py").unlink()
    (green_lab.workspace.root / "calc.py").symlink_to("real.py")
    measured = green_lab.measure("green")
    assert (measured.tricks, measured.green_runs) == ((), 2)


@pytest.mark.slow
@pytest.mark.req("C42")
def test_a_module_that_attributes_change_in_a_clone_is_measured_as_changed(green_lab) -> None:
    honest = "*.py text eol=crlf\n*.bin filter=lfs\n"
    measured = green_lab.measure("green", {"calc.py": MUL, ".gitattributes": honest})
    assert (measured.tricks, measured.green_runs) == ((), 2)
    sly = MUL.replace("return a * b", "return a * b if '$Id$' == '$' + 'Id$' else 0")
    assert sly != MUL
    assert green_lab.measure("green", {"calc.py": sly, ".gitattributes": "calc.py ident\n"}).failing


@pytest.mark.slow
def test_an_encoding_without_a_name_is_told_for_no_git_could_check_it_out(green_lab) -> None:
    measured = green_lab.measure("green", {"calc.py": MUL, ".gitattributes": "calc.py working-tree-encoding\n"})
    tricked(measured, "wrong-tree", ".gitattributes")
    assert (
        green_lab.measure(
            "green", {".gitattributes": "# no working-tree-encoding\n*.py -working-tree-encoding\n"}
        ).tricks
        == ()
    )
