"""Which documents of the business a change makes untrue: by the lines that changed, and by the executor's own word."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

FILES_NAMED = 8
"""As many files are named for one kind of change; after a large one there may be thousands."""


class BusinessSync(msgspec.Struct, frozen=True):
    """Whether documents need to be brought up to date, which, and why."""

    required: bool = False
    documents: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()


class Trigger(msgspec.Struct, frozen=True):
    """A kind of change, how lines and paths show it, and the documents that tell of it."""

    name: str
    lines: re.Pattern[str]
    paths: re.Pattern[str]
    documents: tuple[str, ...]


def _words(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.MULTILINE)


_MANIFEST = _words(
    r"(?:^|/)(?:requirements[^/]*\.txt|pyproject\.toml|package\.json|Cargo\.toml|go\.mod|Gemfile|Pipfile|setup\.(?:cfg|py)|pom\.xml|build\.gradle(?:\.kts)?|[^/]+\.csproj|composer\.json)$"
)
_SDKS = (
    r"ai21|anthropic|async[_-]openai|boto3|claude[_-]agent[_-]sdk|cohere|dashscope|deepseek|fireworks|gemini|google[._-](?:genai|generativeai)|"
    r"groq|huggingface_hub|langchain\w*|litellm|llama_index|mistralai|ollama|openai|replicate|sendgrid|stripe|supabase|together|transformers|"
    r"twilio|vertexai|voyageai|xai_sdk|zhipuai|@ai-sdk|@anthropic-ai|@google/gen\w+|@mistralai|go-openai"
)
_SDK_IMPORT = (
    rf"^[ \t]*(?:import|from|use|using)[ \t]+(?:[a-z]+\.)?(?:{_SDKS})\b|^[ \t]*from[ \t]+google[ \t]+import[ \t]+genai\b|"
    rf"(?:\bfrom|\brequire\(?|\bimport\(?)[ \t]*['\"](?:{_SDKS})(?:/[^'\"]*)?['\"]|^[ \t]*(?:\w+[ \t]+)?['\"][\w.]+/[\w./-]*(?:{_SDKS})[\w./-]*['\"]"
)
"""How programs bring in a vendor's package: Python, Java, Rust and C#; scripts and Ruby; the import block of Go."""
_FAMILIES = "amazon|anthropic|chatgpt|claude|codestral|dall-e|deepseek|devstral|gemini|gemma|glm|gpt|grok|imagen|jamba|kimi|llama|magistral|ministral|mistral|mixtral|pixtral|qwen|text-embedding"
_WORDS_TOO = "codex|command|ernie|nova|o[134]|phi|sonar|sora|titan|veo|voyage|whisper|yi"
_VERSION = r"(?:[-.:/@]?(?:[a-z]+[-.:])*[a-z]?\d[\w.:@-]*|-(?:[ar]|chat|large|medium|mini|nano|plus|pro|reasoner|small)\b[\w.:@-]*)"
_MODEL = (
    r"\bmodel(?:_?(?:name|id))?['\"]?\s*(?::?=|:|=>)\s*['\"][\w./:@-]+['\"]|"
    rf"\b(?:{_FAMILIES}){_VERSION}|['\"](?:{_WORDS_TOO}){_VERSION}['\"]"
)
"""A model's name in any vendor's form, with a version or a size; one that is a common word as well counts as a whole string only."""
TRIGGERS = (
    Trigger(
        "pricing",
        _words(r"(?<![a-z])pric(?:e|es|ing)(?![a-z])|price_?(?:id|cents|monthly|yearly)|monthly_?(?:fee|price)|[$€£]\s?\d"),
        _words(r"pric(?:e|es|ing)"),
        ("product.md", "business-strategy.md", "pricing data file"),
    ),
    Trigger(
        "model, SDK or cost",
        _words(rf"{_MODEL}|{_SDK_IMPORT}|cost_per_\w+|per_?token"),
        _MANIFEST,
        ("tech-stack.md", "product.md"),
    ),
    Trigger(
        "package or tier",
        _words(r"(?<![a-z])tiers?(?![a-z])|\b(?:free|basic|pro|premium|enterprise|starter)_?(?:plan|tier|package)\b"),
        _words(r"(?:^|/|_|-)tiers?(?:/|_|-|\.)"),
        ("product.md", "business-strategy.md", "pricing data file"),
    ),
    Trigger("asset pipeline", _words(r"\basset[ _-]?pipeline\b|\bpipeline[ _-]?(?:step|stage|asset)s?\b"), _words(r"pipeline"), ("product.md", "tech-stack.md")),
    Trigger(
        "persona, go-to-market or revenue",
        _words(r"\bpersonas?\b|\bgo-to-market\b|\bGTM\b|\brevenue\b|\bchurn\b|\bconversion_?rate\b"),
        _words(r"persona|gtm|revenue"),
        ("business-strategy.md", "product.md"),
    ),
)  # fmt: skip
_SDK = _words(_SDKS)
_NO_PRODUCT = re.compile(
    r"(?:^|/)(?:tests?|__tests__|docs?|\.github)/|(?:^|/)test_|\.(?:md|txt|lock)$|[._-](?:test|spec)\.|package-lock\.json$"
)
_FLAG = re.compile(r"\*{0,2}Business Doc Sync Required\*{0,2}\s*:\s*\*{0,2}\s*(Yes|No)\b", re.IGNORECASE)
_REASON = re.compile(r"\*{0,2}Reason\*{0,2}\s*:\s*\*{0,2}\s*(.+)", re.IGNORECASE)
_DOCS = re.compile(r"\*{0,2}Affected Docs\*{0,2}\s*:\s*\*{0,2}\s*(.+)", re.IGNORECASE)


def business_sync(changed: Mapping[str, Iterable[str]], summary: str) -> BusinessSync:
    """What the changed lines, added or removed, and the executor's summary ask for; a No of the executor is not believed."""
    reasons: list[str] = []
    shown: Counter[str] = Counter()
    documents: list[str] = []
    for path, lines in changed.items():
        text = "\n".join(lines)
        for trigger in TRIGGERS:
            if shown[trigger.name] < FILES_NAMED and _shows(trigger, path, text):
                shown[trigger.name] += 1
                reasons.append(f"{trigger.name} in {path}")
                documents += trigger.documents
    flag = _FLAG.search(summary)
    if flag and flag[1].lower() == "yes":
        reason, docs = _REASON.search(summary, flag.end()), _DOCS.search(summary, flag.end())
        reasons.append(f"executor's summary: {reason[1].strip()}" if reason else "executor's summary")
        documents += [each.strip(" `*") for each in re.split(r"[,;]", docs[1]) if each.strip(" `*")] if docs else []
    return BusinessSync(bool(reasons), tuple(dict.fromkeys(documents)), tuple(dict.fromkeys(reasons)))


def _shows(trigger: Trigger, path: str, text: str) -> bool:
    if _MANIFEST.search(path):
        return trigger.name.startswith("model") and bool(_SDK.search(text))
    if _NO_PRODUCT.search(path):
        return False
    return bool(trigger.paths.search(path) or trigger.lines.search(text))
