"""Small files of flyball's own that are asked for by a key, and can be made again.

A hook reads them in a few milliseconds, so this module needs no more than the standard library.
"""

import os
from hashlib import blake2b


def key_of(*parts: str | bytes) -> str:
    """A name for what texts or bytes of any kind stand for, one after the other."""
    digest = blake2b(digest_size=16)
    for part in parts:
        raw = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        digest.update(len(raw).to_bytes(8, "big"))
        digest.update(raw)
    return digest.hexdigest()


def keep(path: str, raw: bytes) -> bool:
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(path, "wb") as file:
            file.write(raw)
    except OSError:
        return False
    return True
