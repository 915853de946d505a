import logging
import os

import requests

from api.models import Appointment

log = logging.getLogger(__name__)


def remind(appointment: Appointment) -> None:
    try:
        answer = requests.post(
            os.environ["SMS_GATEWAY"],
            json={"at": str(appointment.starts_at)},
            headers={"x-key": os.environ["SMS_API_KEY"]},
            timeout=5,
        )
        answer.raise_for_status()
    except requests.RequestException as error:
        log.warning("no reminder was sent: %s", error)


def deliver(payload: dict[str, str], attempts: int = 3) -> bool:
    for _ in range(attempts):
        try:
            requests.post(os.environ["LAB_URL"], json=payload, timeout=10).raise_for_status()
        except requests.RequestException as error:
            log.warning("the laboratory did not answer: %s", error)
        else:
            return True
    return False
