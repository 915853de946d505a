import http.client
import logging
import os
import time

import requests

log = logging.getLogger(__name__)
BANK = os.environ["BANK_URL"]
KEY_FIELDS = {"api_key": "x-bank-api-key-field"}


class BankClosed(Exception):
    """It does not answer."""


def pay(cents: int) -> dict:
    with requests.Session() as session:
        answer = session.post(f"{BANK}/payments", json={"cents": cents}, timeout=10)
    if not answer.ok:
        raise BankClosed(answer.reason)
    return answer.json()


def balance() -> requests.Response:
    return requests.get(f"{BANK}/balance", timeout=10)


def statement() -> bytes:
    connection = http.client.HTTPSConnection("bank.example", timeout=10)
    connection.request("GET", "/statement")
    answer = connection.getresponse()
    if answer.status != 200:
        raise BankClosed(answer.reason)
    return answer.read()


def wait_for_bank(tries: int) -> None:
    while tries > 0:
        try:
            requests.head(BANK, timeout=1).raise_for_status()
            return
        except requests.ConnectionError as error:
            log.warning("the bank is closed: %s", error)
            tries -= 1
            time.sleep(0.1)
    raise BankClosed("no answer")


def listen(stream) -> None:
    while True:
        try:
            line = stream.readline()
            if not line:
                return
            log.info(line)
        except UnicodeDecodeError as error:
            log.warning("a line was left out: %s", error)
