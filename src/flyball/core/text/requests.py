"""What a person's own words say of the work they ask for."""

from __future__ import annotations

import re

_KEEPS_BEHAVIOUR = re.compile(
    r"\brefactor|\brestructur|\breorgani[sz]|\brenam|\bclean(?:ing)?[ -]?up|\btid(?:y|ied)|\bsimplif|\bextract\b|\binline\b"
    r"|\bmove\b|\bsplit\b|\bdedup|\bmoderni[sz]|\btype[ -]?(?:hint|annotation)|\bannotat|\boptimi[sz]|\bspeed(?:ing)?[ -]up|\bperformance"
    r"|\bfaster\b|\bsame (?:values?|results?|outputs?|answers?|behaviou?r)\b|\breformat|\blint|\bstyle\b|\bcomplexity\b|\bno (?:functional|behaviou?r(?:al)?) change|\bwithout changing (?:the |its )?behaviou?r",
    re.IGNORECASE,
)


def keeps_behaviour(request: str) -> bool:
    """Whether a request asks for other code that does the same: no new test can fail without that."""
    return bool(_KEEPS_BEHAVIOUR.search(request))
