"""The evaluators and their passes: what is measured by which tool, what is judged, and which evidence a judge must give."""

from collections.abc import Iterable

import msgspec

PREFIX = "eval-"
"""How reports and metadata write the names; both forms are read."""


class Pass(msgspec.Struct, frozen=True):
    """One thing an evaluator looks at.

    `measured` names the tools that find it out, `judged` is the question put to a model, `evidence` what its answer must cite.
    At least one of the two is given; where both are, both must hold.
    """

    name: str
    measured: str = ""
    judged: str = ""
    evidence: str = ""


class EvaluatorCard(msgspec.Struct, frozen=True):
    """An evaluator: the words and types of a track that ask for it, and its passes."""

    name: str
    words: tuple[str, ...]
    types: tuple[str, ...]
    passes: tuple[Pass, ...]

    @property
    def questions(self) -> str:
        """What is put to a model, one line for each pass that is judged."""
        return "\n".join(
            f"- **{each.name}**: {each.judged} Evidence: {each.evidence}." for each in self.passes if each.judged
        )


UI_UX = EvaluatorCard(
    "ui-ux",
    ("screen", "component", "design system", "layout", "visual", "UI shell"),
    ("ui", "design", "design-system", "screens"),
    (
        Pass(
            "design tokens",
            measured="ast-grep rules on CSS, JSX and templates: raw colours, pixel sizes outside tokens",
        ),
        Pass(
            "visual consistency",
            judged="Do new components use the same colours, type sizes, radii, spacing and patterns as those that were there?",
            evidence="for each new component the line of its style, and the line of the one it should resemble",
        ),
        Pass(
            "layout",
            measured="browser: overlapping controls, covered and clipped text, landmarks, one h1, title; ast-grep: z-index",
        ),
        Pass(
            "responsive", measured="browser at 375, 768 and 1024 px: viewport, page overflow, touch targets under 44 px"
        ),
        Pass(
            "component states",
            measured="ast-grep: unions of more than seven states, fetching without failure, waiting or empty state; browser: buttons without hover, errors of scripts",
            judged="Does every new component handle hover, focus, disabled, empty, loading and error, without unsafe conditionals?",
            evidence="for each component and state the line that handles it, or the line where it is missing",
        ),
        Pass(
            "animation",
            measured="ast-grep: transitions and keyframes of layout properties, of everything, over 500 ms; browser: reduced motion",
        ),
        Pass(
            "accessibility",
            measured="oxlint jsx-a11y; ast-grep: labels; browser: axe-core, contrast, labels, focus by tabbing, mouse-only controls",
        ),
        Pass(
            "copy",
            measured="browser and source: placeholder text, undefined, NaN, raw JSON, exceptions, vague links and buttons; typos",
            judged="Are the texts free of jargon, and do they tell a person what happened and what to do next?",
            evidence="for each new text its line",
        ),
    ),
)
CODE_QUALITY = EvaluatorCard(
    "code-quality",
    ("implement", "feature", "refactor", "infrastructure", "hook", "store"),
    ("feature", "code", "bugfix", "refactor", "infrastructure"),
    (
        Pass(
            "build and type check",
            measured="the project's build; Python that parses; mypy where it is configured, the project's own tsc, new errors only",
        ),
        Pass(
            "type safety",
            measured="ruff PGH003, and missing types and Any where the project enables the rules; oxlint no-explicit-any, ban-ts-comment; ast-grep",
        ),
        Pass(
            "patterns",
            measured="jscpd: more than 10 lines twice; grimp and oxlint: import cycles; ruff, oxlint: unused imports",
        ),
        Pass("error handling", measured="ruff S110, S112, E722; ast-grep: an exception or rejection nobody hears of"),
        Pass(
            "dead code",
            measured="jscpd, ruff, oxlint: unused and unreachable; ruff ERA001, ast-grep: commented-out; TODO, FIXME, debug output",
        ),
        Pass(
            "coverage",
            measured="the report of a gate with {coverage}: 70 % overall, 90 % business logic, 80 % API and utilities",
        ),
    ),
)
INTEGRATION = EvaluatorCard(
    "integration",
    ("Supabase", "Stripe", "Gemini", "API", "auth", "database", "webhook"),
    ("integration", "auth", "payments", "api", "database"),
    (
        Pass(
            "API contracts",
            measured="OpenAPI documents: sound, agree with the routes, no breaking change against the base",
        ),
        Pass(
            "auth flow",
            measured="routes that change data beside guarded ones; ruff S324, ast-grep: passwords, cookies, tokens",
            judged="Can anything be read or changed without the rights the specification asks for?",
            evidence="for each route that is new or changed the line of the route and the line of its guard, or that it is public on purpose",
        ),
        Pass(
            "persistence and schema",
            measured="squawk on migrations, Alembic's too; no way back; models without one; foreign keys without index",
        ),
        Pass(
            "error recovery",
            measured="ruff S113, ast-grep: outgoing calls without time-out, a look at the answer, or an end of trying again",
        ),
        Pass(
            "environment",
            measured="variables read against .env.example; kingfisher, ast-grep: secrets in code, as fallbacks, in a committed .env",
        ),
        Pass(
            "end-to-end flow",
            judged="Can a person walk through the flow the specification describes, from the first call to the stored result?",
            evidence="for each step of the specification the line that does it",
        ),
    ),
)
BUSINESS_LOGIC = EvaluatorCard(
    "business-logic",
    ("generation", "lock", "dependency", "pricing", "tier", "pipeline", "download"),
    ("business-logic", "business", "logic", "generator", "core-feature"),
    (
        Pass(
            "product rules",
            measured="rules of product.md against tests that name them, can fail and use their numbers; numbers nobody uses",
        ),
        Pass(
            "correctness",
            judged="Does the code compute what the specification and the product rules say, in every case they name?",
            evidence="for each rule the line that implements it; for a violation the input, the expected and the real result",
        ),
        Pass(
            "edge cases",
            measured="limits of the rules and comparisons with them against the values tests use; code that fails on nothing or zero; ruff, oxlint: zones, NaN, shared defaults",
            judged="Which values may a caller give that no rule forbids and the code takes wrongly: negative ones, more than there is, twice?",
            evidence="for each new function that takes an amount, a count or a date its line, and what it does with such a value",
        ),
        Pass(
            "state transitions",
            measured="the table of states in product.md against transitions and types of states in the code",
        ),
        Pass(
            "data flow",
            judged="Does every field that is new or changed reach its storage and its display unharmed?",
            evidence="for each field the lines from input to storage to output",
        ),
        Pass(
            "user journey",
            judged="Can each step of the specification's journey be reached, and left again, also after an error?",
            evidence="for each step the line that offers it",
        ),
    ),
)
BUILT_IN = (UI_UX, CODE_QUALITY, INTEGRATION, BUSINESS_LOGIC)


def short_name(name: str) -> str:
    """The name without its prefix, in lower case."""
    return name.strip().lower().removeprefix(PREFIX)


def long_name(name: str) -> str:
    return f"{PREFIX}{name}"


def names(cards: Iterable[EvaluatorCard]) -> tuple[str, ...]:
    return tuple(card.name for card in cards)
