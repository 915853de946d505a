from flask import Blueprint, jsonify, request

from shop.auth import token_required
from shop.bank import pay

pages = Blueprint("pages", __name__)


@pages.route("/customers/<uuid:customer>", methods=("GET",))
@token_required
def customer(customer):
    return jsonify(id=str(customer))


@pages.route("/customers/<uuid:customer>", methods=["DELETE"])
@token_required
def forget(customer):
    return "", 204


@pages.post("/payments")
@token_required
def payment():
    return jsonify(pay(request.json["cents"]))
