"""Which files are documents."""

import re

_DOCUMENT = re.compile(r".*\.(md|rst|adoc)|(?:.*/)?(?:openapi|swagger)[^/]*\.(?:ya?ml|json)", re.IGNORECASE)


def is_document(path: str) -> bool:
    return bool(_DOCUMENT.fullmatch(path))
