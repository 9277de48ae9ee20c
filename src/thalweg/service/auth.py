"""Who may do what: bearer tokens, of which only a SHA-256 is kept.

A scope includes those before it: ``read`` looks at models, ``learn`` asks and labels, ``admin`` makes, promotes,
archives, restores and rolls back models.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from thalweg.errors import InvalidParameter
from thalweg.service.commands import Refused

Scope = Literal["read", "learn", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
_PORT = re.compile(r":\d{1,5}$")
_LINE = re.compile(r"(\S+)\s+(read|learn|admin)\s+([0-9a-f]{64})")


@dataclass(frozen=True)
class Token:
    """A token by its name: what it allows, and its hash."""

    name: str
    scope: Scope
    sha256: bytes


def make_token(name: str, scope: Scope) -> tuple[str, str]:
    """A new token, and the line for the file of tokens.

    Examples
    --------
    >>> token, line = make_token("dashboard", "read")
    >>> line.split()[:2], hashed(token).hex() == line.split()[2]
    (['dashboard', 'read'], True)
    """
    token = secrets.token_urlsafe(32)
    return token, f"{name} {scope} {hashed(token).hex()}"


def hashed(token: str) -> bytes:
    """What is kept of a token; it is long and random, so that a plain hash cannot be guessed from."""
    return hashlib.sha256(token.encode()).digest()


def read_tokens(path: Path) -> list[Token]:
    """The tokens of a file: a name, a scope and a SHA-256 a line; # begins a remark."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidParameter(f"{path} cannot be read: {error}") from error
    tokens = []
    for number, line in enumerate(lines, 1):
        text = line.split("#")[0].strip()
        match = _LINE.fullmatch(text)
        if match:
            tokens.append(Token(match[1], SCOPES[SCOPES.index(match[2])], bytes.fromhex(match[3])))
        elif text:
            raise InvalidParameter(f"{path}, line {number}: it must hold a name, {', '.join(SCOPES)}, and a SHA-256")
    if not tokens:
        raise InvalidParameter(f"{path} holds no token: make one with `thalweg serve --make-token NAME`")
    return tokens


class Authorizer:
    """Lets requests in: everyone who can reach the service where there are no tokens.

    ``hosts`` are the names by which the service may be asked, in small letters and without brackets. Without tokens, a
    page of a stranger could otherwise reach a service on the reader's own machine by a name of its own.
    """

    def __init__(self, tokens: list[Token], hosts: frozenset[str] | None = None) -> None:
        self._hosts = hosts
        #: As the last request said it that was let in; most say the same.
        self._host_let_in: bytes | None = None
        self.replace(tokens)

    def replace(self, tokens: list[Token]) -> None:
        """Let these tokens in from now on, and no others."""
        self._tokens = tokens

    def admit(self, headers: dict[bytes, bytes], scope: Scope, scheme: str) -> None:
        """`Refused` unless the request may do this."""
        given = headers.get(b"host", b"")
        if self._hosts is not None and given != self._host_let_in:
            host = _PORT.sub("", given.decode("latin-1")).lower()
            host = host.removeprefix("[").removesuffix("]")
            if host not in self._hosts:
                raise Refused(421, f"this service is not {host[:100]!r}: use {' or '.join(sorted(self._hosts))}")
            self._host_let_in = given
        if scope != "read" and _is_from_elsewhere(headers, scheme):
            raise Refused(403, "requests from pages of other sites may not change anything")
        if not self._tokens:
            return
        kind, _, token_given = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
        digest = hashed(token_given.strip())
        # Every token is compared, and each in constant time: how long it takes reveals nothing.
        allowed = [token.scope for token in self._tokens if hmac.compare_digest(token.sha256, digest)]
        if kind.lower() != "bearer" or not allowed:
            raise Refused(401, "a valid token is needed, as in 'Authorization: Bearer …'")
        if all(SCOPES.index(allowed_scope) < SCOPES.index(scope) for allowed_scope in allowed):
            raise Refused(403, f"this token may only {allowed[0]}: one of scope {scope} is needed")


def _is_from_elsewhere(headers: dict[bytes, bytes], scheme: str) -> bool:
    """Whether a browser says that a page of another origin asks; other clients say neither."""
    site, origin = headers.get(b"sec-fetch-site"), headers.get(b"origin")
    if site is not None and site not in (b"same-origin", b"none"):
        return True
    return origin is not None and origin.lower() != scheme.encode() + b"://" + headers.get(b"host", b"").lower()
