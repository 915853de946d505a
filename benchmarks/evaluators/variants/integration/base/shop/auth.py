import functools
import os

import jwt
from flask import request


def token_required(view):
    @functools.wraps(view)
    def guarded(*args, **more):
        jwt.decode(request.headers["authorization"], os.environ["JWT_KEY"], algorithms=["HS256"])
        return view(*args, **more)

    return guarded
