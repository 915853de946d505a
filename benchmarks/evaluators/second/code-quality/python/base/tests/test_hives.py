from apiary.hives import Hive


def test_a_hive_has_a_number() -> None:
    assert Hive(3, 10, 18.0).number == 3
