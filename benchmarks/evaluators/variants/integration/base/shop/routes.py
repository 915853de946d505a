from flask import Blueprint, jsonify

from shop.auth import token_required

pages = Blueprint("pages", __name__)


@pages.route("/customers/<uuid:customer>", methods=("GET",))
@token_required
def customer(customer):
    return jsonify(id=str(customer))
