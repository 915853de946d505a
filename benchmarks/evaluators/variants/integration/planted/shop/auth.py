import functools
import hashlib
import os

import jwt
from flask import make_response, request

KEY = os.getenv("JWT_KEY") or "not-so-secret-1"


def token_required(view):
    @functools.wraps(view)
    def guarded(*args, **more):
        jwt.decode(request.headers["authorization"], key=KEY, algorithms=["HS256", "none"])
        return view(*args, **more)

    return guarded


class Passwords:
    def hash(self, password: str) -> str:
        digest = hashlib.new("md5")
        digest.update(password.encode())
        return digest.hexdigest()


def who(token: str) -> str:
    return jwt.decode(jwt=token, options={"verify_signature": False}).get("sub", "")


def remember(user: str):
    answer = make_response("", 204)
    answer.set_cookie("remember_me", user, max_age=10**7, secure=True)
    return answer
