import functools
import hashlib
import os
import secrets

import jwt
from flask import make_response, request

KEY = os.environ["JWT_KEY"]
TOKEN_TYPE = os.getenv("TOKEN_TYPE", "bearer")


def token_required(view):
    @functools.wraps(view)
    def guarded(*args, **more):
        kind = jwt.get_unverified_header(request.headers["authorization"])["typ"]
        if kind != TOKEN_TYPE:
            raise PermissionError(kind)
        jwt.decode(request.headers["authorization"], key=KEY, algorithms=["HS256"])
        return view(*args, **more)

    return guarded


class Passwords:
    def hash(self, password: str) -> str:
        salt = secrets.token_bytes(16)
        return hashlib.pbkdf2_hmac("sha256", password.encode(), salt, 600_000).hex()


def fingerprint(picture: bytes) -> str:
    return hashlib.new("md5", picture, usedforsecurity=False).hexdigest()


def remember(user: str):
    answer = make_response("", 204)
    answer.set_cookie("remember_me", user, max_age=10**7, secure=True, httponly=True)
    answer.set_cookie("font_size", "large")
    return answer
