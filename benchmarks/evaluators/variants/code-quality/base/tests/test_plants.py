from garden.plants import Plant


def test_a_plant_is_thirsty_after_four_days():
    assert Plant("fern").thirsty(4)
    assert not Plant("fern").thirsty(3)
