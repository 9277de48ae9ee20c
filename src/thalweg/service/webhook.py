"""Alerts as signed HTTP posts, sent by a thread of its own: learning never waits for them.

The body is JSON. The header ``Thalweg-Signature: t=SECONDS,v1=HEX`` holds the time of the attempt and the HMAC-SHA256,
under the shared secret, of that time, a point and the body. A receiver computes the same, compares it in constant time,
and refuses times that are far from its own, so that a post cannot be replayed. ``Thalweg-Delivery`` names the alert: it
is the same in all attempts.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import queue
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Mapping
from email.message import Message
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from thalweg import __version__
from thalweg.errors import InvalidParameter

_LOG = logging.getLogger("thalweg.service")
#: The environment variable that holds the secret, where no file does.
SECRET = "THALWEG_ALERT_SECRET"
#: Alerts that wait, attempts, seconds before the second one (doubled each time, up to the longest) and for a reply.
MOST_WAITING, ATTEMPTS, FIRST_PAUSE, LONGEST_PAUSE, TIMEOUT = 1000, 8, 1.0, 60.0, 10.0
#: Bytes of a secret, at the least.
_SHORTEST = 16
#: Statuses below 500 after which another attempt makes sense.
_TRY_AGAIN = (408, 425, 429)


def signature(secret: bytes, seconds: int, body: bytes) -> str:
    """The value of the header.

    Examples
    --------
    >>> signature(b"a secret of the two", 1_800_000_000, b"{}")
    't=1800000000,v1=2569868f49b87148597d885715cb25b66059e780d92fe66f90ca6ee10e5d31df'
    """
    signed = hmac.new(secret, b"%d.%b" % (seconds, body), hashlib.sha256).hexdigest()
    return f"t={seconds},v1={signed}"


def read_secret(file: Path | None, environment: Mapping[str, str] = os.environ) -> bytes:
    """The secret, from a file or else from the environment; `InvalidParameter` where there is none, or a short one."""
    if file is not None:
        try:
            secret = file.read_bytes().strip()
        except OSError as error:
            raise InvalidParameter(f"--alert-secret-file {file} cannot be read: {error.strerror or error}") from error
    else:
        secret = environment.get(SECRET, "").strip().encode()
    if not secret:
        raise InvalidParameter(f"--alert-webhook needs a secret to sign with: set {SECRET} or give --alert-secret-file")
    if len(secret) < _SHORTEST:
        raise InvalidParameter(f"the secret of --alert-webhook must have {_SHORTEST} bytes at least, got {len(secret)}")
    return secret


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the alert to an address that nobody gave."""

    def redirect_request(self, req: Any, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str) -> None:
        return None


class Webhook(threading.Thread):
    """Posts alerts to one address, in order, each as often as needed.

    Parameters
    ----------
    url : str
        An http or https address.
    secret : bytes
        Shared with the receiver.
    """

    def __init__(self, url: str, secret: bytes, *, first_pause: float = FIRST_PAUSE) -> None:
        super().__init__(name="thalweg-webhook", daemon=True)
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise InvalidParameter.of_option("alert_webhook", "be an address as in https://example.org/hook", url)
        self._url, self._secret, self._first_pause = url, secret, first_pause
        self._queue: queue.Queue[tuple[str, bytes] | None] = queue.Queue(MOST_WAITING)
        self._ending = threading.Event()
        self._opener = urllib.request.build_opener(_NoRedirect)
        #: Alerts by what became of them.
        self.counts = {"delivered": 0, "failed": 0, "dropped": 0}

    def put(self, alert: Mapping[str, Any]) -> None:
        """Send an alert in the background; one that finds a full queue is counted, and lost."""
        try:
            self._queue.put_nowait((str(uuid.uuid4()), json.dumps(alert, ensure_ascii=False).encode()))
        except queue.Full:
            self.counts["dropped"] += 1

    def stop(self, seconds: float = 5.0) -> None:
        """Try what waits once more, without pauses, for so many seconds; then give it up."""
        self._ending.set()
        try:
            self._queue.put_nowait(None)
        except queue.Full:
            return
        self.join(seconds)

    def run(self) -> None:
        while (post := self._queue.get()) is not None:
            self.counts["delivered" if self._deliver(*post) else "failed"] += 1

    def _deliver(self, name: str, body: bytes) -> bool:
        pause = self._first_pause
        for attempt in range(1, ATTEMPTS + 1):
            why, again = self._send(name, body)
            if why is None:
                return True
            if not again or attempt == ATTEMPTS or self._ending.is_set():
                break
            self._ending.wait(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        _LOG.error("an alert could not be posted, and is given up: %s", why)
        return False

    def _send(self, name: str, body: bytes) -> tuple[str | None, bool]:
        """One attempt: what went wrong, and whether another one makes sense."""
        request = urllib.request.Request(
            self._url,
            body,
            {
                "Content-Type": "application/json",
                "User-Agent": f"thalweg/{__version__}",
                "Thalweg-Delivery": name,
                "Thalweg-Signature": signature(self._secret, int(time.time()), body),
            },
        )
        try:
            with self._opener.open(request, timeout=TIMEOUT):
                return None, False
        except urllib.error.HTTPError as error:
            error.close()
            return f"the receiver answered {error.code}", error.code >= 500 or error.code in _TRY_AGAIN
        except OSError as error:
            return str(error), True
