"""What a person's own words say of tests that exist, and of what configures tests, linters and CI."""

import re

_WHICH = (
    r"(?:(?:the|its|their|all|any|every|each|of|existing|old|current|affected|related|corresponding|obsolete|unit)\s+)*"
)
_CHANGING = r"(?:updat|chang|adapt|adjust|rewrit|migrat|mov|renam|remov|delet|drop|retir|replac)\w*"
_CHANGES_TESTS = re.compile(
    rf"\b{_CHANGING}\s+{_WHICH}tests?\b(?!\.?\w|\s+(?:runner|suite|framework|data|helper)s?)"
    rf"|\b{_CHANGING}\b[^.;\n]{{0,80}}?(?:,|\band|\balso|\bwith|\bincluding|\bas well as)\s+(?:(?:also|with|in)\s+)*{_WHICH}tests?\b(?!\.?\w|\s+(?:runner|suite|framework|data|helper)s?)"
    rf"|\btests?\s+(?:must|should|need to|needs to|have to|has to|may|can|are to|will have to)\s+(?:all\s+)?(?:be\s+)?{_CHANGING}",
    re.IGNORECASE,
)
_REFUSES = re.compile(r"\b(?:not|never|no|without|nor|keep(?:ing)?)\b|n['’]t\b", re.IGNORECASE)
_REFUSED = re.compile(r"\b(?:not|never|without|nor|neither)\b|n['’]t\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[.;:!?](?=\s)|\n|\bbut\b")
_ASKED = re.compile(
    r"\b(?:(?:re)?(?:writ|add|creat|extend|chang|updat|fix|set up|configur|remov|delet|renam|mov|replac|migrat|split|merg"
    r"|generat|fresh|record|bring)|flak|brittle|outdated)\w*",
    re.IGNORECASE,
)
"""How a change is asked for, or what is named is complained of."""
_ORDERED = re.compile(
    r"^\W*(?:please\s+|also\s+)*(?:test|run|check|build|use|let|enable|disable|turn|switch|pin|bump|raise|lower|set|drop|ignore)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""How settings are asked for besides."""
_CI = re.compile(
    r"\bCI\b|\bcontinuous integration\b|\b(?:build|release|deploy\w*)\s+pipelines?\b|\bworkflow files?\b|\b(?:GitHub|GitLab|CI)['’]?s?\s+(?:actions?|workflows?|jobs?)\b"
    r"|\b(?:build|test|version) matrix\b|\b(?:Jenkinsfile|CircleCI|Travis|AppVeyor|Buildkite)\b"
)
_RUNNERS = "pytest tox nox jest vitest mocha ava cypress playwright karma phpunit nextest"
_LINTERS = "ruff flake8 pylint black isort bandit eslint prettier stylelint biome golangci rubocop clippy phpstan psalm"
_TOOLS = {
    **{tool: tool for tool in f"{_RUNNERS} {_LINTERS} mypy pyright pre-commit".split()},
    "coverage": "coverage nyc c8",
    # "Test the pricing rules" asks for tests: only these two words after it mean its settings.
    r"test(?: runner)?(?=\s+(?:config|setting))": _RUNNERS,
    "lint(?:er|ing)?": _LINTERS,
    "type[- ]check(?:er|ing)?": "mypy pyright",
}
"""What a person calls a tool that judges, or a kind of them, and the names that its files and sections have."""
_SETTINGS = r"(?:config|setting|option|rule|marker)\w*"


def asks_for_change(text: str) -> bool:
    return _ASKED.search(text) is not None


def asks_for_ci(text: str) -> bool:
    return _asks_for_settings(text) and is_wanted(_CI, text)


def _asks_for_settings(text: str) -> bool:
    return asks_for_change(text) or _ORDERED.search(text) is not None


def is_wanted(what: re.Pattern[str], text: str) -> bool:
    """Whether a text names something other than to say that it is not to be changed."""
    return any(not _REFUSED.search(_CLAUSE.split(text[: match.start()])[-1]) for match in what.finditer(text))


def tools_to_configure(text: str) -> frozenset[str]:
    """The names of the runners and linters whose configuration a person wants changed."""
    if not _asks_for_settings(text):
        return frozenset()
    wanted = (
        names.split()
        for word, names in _TOOLS.items()
        if is_wanted(
            re.compile(
                rf"\b{word}(?:['’]s)?\s+(?:\w+\s+)?{_SETTINGS}|\b{_SETTINGS}\s+(?:of|for)\s+(?:the\s+)?{word}\b"
                + (r"|\bpre-?commit\b" if word == "pre-commit" else ""),
                re.IGNORECASE,
            ),
            text,
        )
    )
    return frozenset(name for names in wanted for name in names)


_COMMON = frozenset(
    "the and its their all any every each not with from into for that this must should need needs have has may can will now then"
    " remove removes delete deletes drop drops update updates change changes adapt rewrite rename renames replace replaces retire"
    " test tests existing old new current affected function functions method methods class classes module modules file files code"
    " make makes instead return returns give gives def assert import none true false".split()
)
"""Words that say nothing of what a request is about."""


def changes_tests(request: str) -> bool:
    """Whether a request says in words that existing tests change or go."""
    parts = re.split(r"[.;!?](?=\s|$)|\n", request)
    return any(_CHANGES_TESTS.search(part) and not _REFUSES.search(part) for part in parts)


def subjects(request: str) -> frozenset[str]:
    """The words that may name what a request is about."""
    return words_of_names(request) - _COMMON


def words_of_names(text: str) -> frozenset[str]:
    """The names in a text, as they are and in their words: `test_parse_empty` and `parseEmpty` have the word `empty`."""
    names = re.findall(r"[A-Za-z_]\w{2,}", text)
    words = (word for name in names for word in re.findall(r"[A-Z]?[a-z0-9]{2,}|[A-Z]{3,}", name))
    return frozenset(word.casefold() for word in (*names, *words))
