"""Who may do what."""

from fastapi import Header, HTTPException


def signed_in(authorization: str = Header()) -> str:
    if not authorization:
        raise HTTPException(401)
    return authorization
