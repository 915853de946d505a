import sys

from courier import cli
from courier.depots import depot_of
from courier.imports import read_lines
from courier.labels import label, merge, weight_label, zone_number
from courier.parcels import Parcel
from courier.prices import domestic_price, export_price

PARCEL = Parcel("7", 2_500, "B", "fragile")


def test_prices_add_weight_zone_and_note():
    assert domestic_price(PARCEL) == 765
    assert export_price(PARCEL) == 1565


def test_labels_show_the_note_or_the_number():
    assert label(PARCEL) == "fragile"
    assert label(Parcel("8", 1, "A")) == "8"
    assert weight_label(PARCEL) == "2.5 kg"
    assert zone_number("C") == 0
    assert merge([PARCEL], []) == [PARCEL]


def test_a_zone_without_depot_is_served_by_a_hired_van():
    assert depot_of(PARCEL) == "south (own)"
    assert depot_of(Parcel("9", 1, "C")) == "north (hired)"


def test_a_broken_row_is_left_out(tmp_path):
    (tmp_path / "rows").write_text("1;200;A\nbroken\n")
    assert read_lines(str(tmp_path / "rows")) == [Parcel("1", 200, "A")]


def test_the_command_tells_the_price(tmp_path, monkeypatch, capsys):
    (tmp_path / "rows").write_text("")
    monkeypatch.setattr(sys, "argv", ["courier", "1", "100", str(tmp_path / "rows")])
    cli.main()
    assert "490 1290" in capsys.readouterr().out
