"""Choosing evaluators for a track: whole words, fields, reasons."""

import pytest

from flyball.core.evaluation.choosing import UnknownEvaluator, choose

TABLE = {
    "ui-ux": ("screen", "component", "design system", "layout", "visual", "UI shell"),
    "code-quality": ("implement", "feature", "refactor", "infrastructure", "hook", "store"),
    "integration": ("Supabase", "Stripe", "Gemini", "API", "auth", "database", "webhook"),
    "business-logic": ("generation", "lock", "dependency", "pricing", "tier", "pipeline", "download"),
}


def names(spec: str, **metadata: object) -> list[str]:
    return [each.name for each in choose(metadata, spec)]


@pytest.mark.req("D1")
@pytest.mark.parametrize(("name", "word"), [(name, word) for name, words in TABLE.items() for word in words])
def test_each_word_of_the_table_chooses_its_evaluator_and_is_the_reason(name: str, word: str) -> None:
    for text in (f"The {word.lower()} of it.", f"The {word.upper()}."):
        reasons = {each.name: each.chosen_by for each in choose({}, text)}
        assert f"word: {word}" in reasons[name]
        assert set(reasons) <= {name, "code-quality"}


@pytest.mark.req("D2")
@pytest.mark.parametrize(
    "text",
    [
        "We block it, rapidly, at the frontier, and restore the author.",
        "```\nAPI pricing screen\n```\nPlain words.",
        "~~~\nAPI\n~~~\n",
        "See `pricing` and https://example.org/api/pricing and www.api.example",
        "```\nan unclosed fence with an API",
    ],
)
def test_words_inside_others_in_code_and_in_addresses_do_not_count(text: str) -> None:
    (chosen,) = choose({}, text)
    assert chosen.name == "code-quality"
    assert chosen.chosen_by[0].startswith("default")


@pytest.mark.req("D2")
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("three APIs", "integration"),
        ("users are authenticated", "integration"),
        ("authorization", "integration"),
        ("authentication", "integration"),
        ("dependencies", "business-logic"),
        ("locked and locking", "business-logic"),
        ("pipelines", "business-logic"),
        ("tiered", "business-logic"),
        ("refactored", "code-quality"),
        ("implementing", "code-quality"),
        ("stored", "code-quality"),
        ("design-systems", "ui-ux"),
        ("design\nsystem", "ui-ux"),
        ("components", "ui-ux"),
    ],
)
def test_inflections_match(text: str, name: str) -> None:
    chosen = {each.name: each.chosen_by for each in choose({}, text)}
    assert name in chosen
    assert not chosen[name][0].startswith("default")


@pytest.mark.req("D2")
def test_the_metadata_overrides_and_its_type_adds() -> None:
    assert names("pricing of an API", evaluators=["eval-ui-ux"]) == ["ui-ux"]
    assert names("pricing", type="design-system") == ["ui-ux", "business-logic"]
    assert names("nothing", type="Integration") == ["integration"]
    with pytest.raises(UnknownEvaluator, match="'speed'"):
        choose({"evaluators": ["speed"]}, "")


@pytest.mark.req("D2")
def test_what_needs_its_code_judged_too_and_a_shell_that_does_not() -> None:
    assert names("sign in with auth") == ["code-quality", "integration"]
    assert names("a database") == ["code-quality", "integration"]
    assert names("the text generator") == ["code-quality", "business-logic"]
    assert names("x", type="generator") == ["code-quality", "business-logic"]
    assert names("implement the UI shell") == ["ui-ux"]
    assert names("implement the UI shell over the API") == ["ui-ux", "code-quality", "integration"]


@pytest.mark.req("D3")
def test_every_chosen_evaluator_says_why() -> None:
    assert all(each.chosen_by for each in choose({"name": "Pricing screens"}, "implement an API"))
    assert choose({"name": "Pricing"}, "")[0].chosen_by == ("word: pricing",)
