"""Who calls."""

from typing import Annotated

import jwt
from fastapi import Depends, Header, HTTPException

from permits.settings import read


def citizen(authorization: Annotated[str, Header()] = "") -> str:
    token = authorization.removeprefix("Bearer ")
    try:
        claims = jwt.decode(token, read().token_key, algorithms=["HS256"], audience="permits")
    except jwt.InvalidTokenError as error:
        raise HTTPException(401, "log in again") from error
    return str(claims["sub"])


Citizen = Annotated[str, Depends(citizen)]
