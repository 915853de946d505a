import os
from pathlib import Path

import pytest

from flyball.documents.errors import DocumentError
from flyball.documents.source import MAX_BYTES, read_source

PRP = """\
# PRP: Login with a code

## Goal

People log in with a code sent by mail.

### Success Criteria

- [ ] A wrong code is refused
- [x] A code is sent
"""


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "docs" / "login.md"
    path.parent.mkdir()
    path.write_text(PRP)
    return path


@pytest.mark.req("C6")
def test_title_request_and_criteria_are_read(document: Path, tmp_path: Path) -> None:
    found = read_source(document, tmp_path)
    assert found.title == "Login with a code"
    assert found.request == "Login with a code\n\nPeople log in with a code sent by mail."
    assert [(i.id, i.text, i.status) for i in found.items] == [
        ("AC-1", "A wrong code is refused", "not-started"),
        ("AC-2", "A code is sent", "completed"),
    ]
    assert found.source.path == "docs/login.md"
    assert found.text == PRP


def test_a_document_without_criteria_has_no_items(document: Path, tmp_path: Path) -> None:
    document.write_text("Add a login page.\n")
    found = read_source(document, tmp_path)
    assert (found.items, found.request) == ((), "Add a login page.")


def test_byte_order_mark_and_windows_line_ends_make_no_difference_to_what_is_read(
    document: Path, tmp_path: Path
) -> None:
    plain = read_source(document, tmp_path)
    document.write_bytes(b"\xef\xbb\xbf" + PRP.replace("\n", "\r\n").encode())
    other = read_source(document, tmp_path)
    assert (other.text, other.items, other.title) == (plain.text, plain.items, plain.title)


@pytest.mark.req("C62")
def test_a_changed_document_is_told_from_the_one_a_task_was_opened_from(document: Path, tmp_path: Path) -> None:
    opened = read_source(document, tmp_path)
    assert not read_source(document, tmp_path).differs_from(opened.source)
    document.write_text(PRP + "\nMore.\n")
    assert read_source(document, tmp_path).differs_from(opened.source)


@pytest.mark.req("C64")
def test_the_task_of_a_document_is_found_by_its_place_however_it_is_spelt(document: Path, tmp_path: Path) -> None:
    opened = read_source(document, tmp_path).source
    again = read_source(tmp_path / "docs" / ".." / "docs" / "login.md", tmp_path / "docs" / "..").source
    assert again == opened


def test_a_document_outside_the_repository_keeps_its_whole_path(document: Path, tmp_path: Path) -> None:
    root = tmp_path / "elsewhere"
    assert read_source(document, root).source.path == str(document.resolve())


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty; expected a document that says what is wanted"),
        (b" \n\r\n\t", "is empty"),
        ("# Ümlaut".encode("utf-16"), "is UTF-16; expected UTF-8. Save it as UTF-8"),
        (b"one\ntwo\0", "line 2: a binary file; expected text"),
        (b"one\n\ntwo \xff", "line 3: byte 0xff is not UTF-8"),
        (b"\xef\xbb\xbfone\n\xfe", "line 2: byte 0xfe is not UTF-8"),
        (b"x" * (MAX_BYTES + 1), "is larger than 2 MiB"),
    ],
)
def test_what_is_no_document_is_refused_with_a_sentence(
    document: Path, tmp_path: Path, content: bytes, sentence: str
) -> None:
    document.write_bytes(content)
    with pytest.raises(DocumentError, match=sentence) as refused:
        read_source(document, tmp_path)
    assert str(document) in str(refused.value)


def test_a_missing_file_a_folder_and_a_pipe_are_refused(document: Path, tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"There is no file .*absent.md; expected the document"):
        read_source(tmp_path / "absent.md", tmp_path)
    with pytest.raises(DocumentError, match="docs is a folder; expected a document"):
        read_source(document.parent, tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DocumentError, match="is not a regular file"):
        read_source(tmp_path / "pipe", tmp_path)
