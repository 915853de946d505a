import os

from flask import Flask, jsonify
from flask_login import login_required

from api.models import Patient, session

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
