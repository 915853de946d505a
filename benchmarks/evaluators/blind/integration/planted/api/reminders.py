import os
import urllib.request

import requests

from api.models import Appointment

SMS_API_KEY = "sk_live_51Hx9QeLkT0vYw3bZ8mN"


def remind(appointment: Appointment) -> None:
    requests.post(os.environ["SMS_GATEWAY"], json={"at": str(appointment.starts_at)}, headers={"x-key": SMS_API_KEY})


def opening_hours() -> list[str]:
    return requests.get("https://hours.example/api", timeout=5).json()["days"]


def holidays() -> bytes:
    with urllib.request.urlopen("https://holidays.example/de.ics") as answer:
        return answer.read()


def deliver(payload: dict[str, str]) -> None:
    while True:
        try:
            requests.post(os.getenv("LAB_URL", ""), json=payload, timeout=10).raise_for_status()
            return
        except requests.RequestException:
            continue
