import os

import jwt
from flask import Flask, jsonify, request
from flask_login import login_required
from werkzeug.security import check_password_hash

from api.models import Appointment, Patient, session
from api.reminders import remind

app = Flask(__name__)
app.secret_key = os.environ["SECRET_KEY"]


@app.get("/patients")
@login_required
def patients():
    return jsonify([each.as_dict() for each in session().query(Patient)])


@app.get("/patients/<int:patient_id>")
@login_required
def patient(patient_id: int):
    return jsonify(session().get(Patient, patient_id).as_dict())


@app.post("/appointments")
@login_required
def create_appointment():
    made = Appointment(**request.get_json())
    with session() as store:
        store.add(made)
        store.commit()
    remind(made)
    return jsonify({"id": made.id}), 201


@app.delete("/appointments/<int:appointment_id>")
@login_required
def cancel_appointment(appointment_id: int):
    with session() as store:
        store.delete(store.get(Appointment, appointment_id))
        store.commit()
    return "", 204


@app.post("/login")
def login():
    body = request.get_json()
    known = session().query(Patient).filter_by(name=body["name"]).one()
    if not check_password_hash(known.password_hash or "", body["password"]):
        return jsonify({"ok": False}), 401
    token = jwt.encode({"sub": known.name}, app.secret_key, algorithm="HS256")
    answer = jsonify({"ok": True})
    answer.set_cookie("session", token, httponly=True, secure=True, samesite="Lax")
    return answer


def current_user(token: str) -> str:
    return jwt.decode(token, app.secret_key, algorithms=["HS256"])["sub"]
