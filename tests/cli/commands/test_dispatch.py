"""dispatch: what it says of a track, and what it refuses."""

import json
from pathlib import Path

import pytest


@pytest.fixture
def track(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "conductor" / "tracks" / "prices_20260101"
    folder.mkdir(parents=True)
    (folder / "spec.md").write_text("# Pricing\nThe tiers and their screen.\n")
    (folder / "metadata.json").write_text('{"type": "feature"}')
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.mark.req("D1", "D3")
@pytest.mark.parametrize("name", ["prices_20260101", "conductor/tracks/prices_20260101"])
def test_it_names_the_evaluators_with_their_reasons(flyball, track, name):
    done = flyball("dispatch", name, "--choose")
    assert done.code == 0, done.err
    assert done.out.splitlines() == [
        "ui-ux: word: screen",
        "code-quality: metadata: type feature",
        "business-logic: word: pricing; word: tier",
    ]
    told = json.loads(flyball("dispatch", name, "--choose", "--json").out)
    assert [each["name"] for each in told["evaluators"]] == ["ui-ux", "code-quality", "business-logic"]


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (lambda folder: (folder / "metadata.json").write_text("[1]"), ["metadata.json"]),
        (lambda folder: (folder / "metadata.json").write_text('{"evaluators": ["speed"]}'), ["metadata.json", "speed"]),
        (lambda folder: (folder / "spec.md").write_bytes(b"ok\n\xff"), ["spec.md", "line 2"]),
        (lambda folder: [path.unlink() for path in folder.iterdir()], ["neither spec.md nor metadata.json"]),
        (lambda folder: folder.rename(folder.with_name("other")), ["no track 'prices_20260101'"]),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(flyball, track, break_it, words):
    break_it(track)
    refused = flyball("dispatch", "prices_20260101", "--choose")
    assert refused.code == 2
    assert all(word in refused.err for word in words)


def test_without_choose_it_says_what_it_does(flyball, track):
    refused = flyball("dispatch", "prices_20260101")
    assert refused.code == 2
    assert "flyball dispatch prices_20260101 --choose" in refused.err
