"""The two clients: the same calls, blocking or awaited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from thalweg.client.both_ways import Awaits, Blocks, finished
from thalweg.client.requests import Calls
from thalweg.client.transport import Wire
from thalweg.errors import InvalidParameter, MissingExtra

if TYPE_CHECKING:
    import httpx


class Client(Calls, Blocks):
    """Client of a running ``thalweg serve``.

    Requests that are lost or refused for the moment are sent again. Each request carries an idempotency key, so that
    nothing is learned twice.

    Parameters
    ----------
    address : str
        Address of the service, such as ``"http://127.0.0.1:8080"``.
    token : str, optional
        Access token, where the service needs one.
    model : str, optional
        Default model of the calls.
    patience : float
        Seconds to keep trying while the service is unreachable or busy; with 0 nothing is sent twice.
    timeout : float
        Seconds to wait for one reply.
    batch_rows : int
        Most rows or labels in one request; longer tables are split.
    transport : httpx transport, optional
        Replacement of the network, as in tests.

    Examples
    --------
    A stand-in for the service, so that the example runs anywhere:

    >>> import httpx
    >>> def service(request):
    ...     row = {"id": "a1", "prediction": "wet", "probabilities": {"wet": 0.9, "dry": 0.1}}
    ...     if request.url.path == "/v1/predict":
    ...         return httpx.Response(200, json={"model": "rain", "version": 40, "predictions": [row]})
    ...     return httpx.Response(200, json={"model": "rain", "seq": 82, "learned": 1})

    Ask now; give the label when it comes:

    >>> with Client("http://127.0.0.1:8080", transport=httpx.MockTransport(service)) as client:
    ...     predicted = client.predict_one({"cloud": 0.7, "wind": 3.1})
    ...     print(predicted.prediction, predicted.probability)
    ...     receipt = client.label(predicted.id, "wet")
    ...     print(receipt.learned, receipt.complete)
    wet 0.9
    1 True
    """

    def __init__(
        self,
        address: str,
        *,
        token: str | None = None,
        model: str | None = None,
        patience: float = 30.0,
        timeout: float = 30.0,
        batch_rows: int = 10_000,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        options = _checked("Client", address, token, patience, timeout, batch_rows)
        self._model, self._patience, self._batch_rows = model, patience, batch_rows
        self._wire = Wire(_httpx().Client(**options, transport=transport))

    def close(self) -> None:
        """Give up the connections; ``with`` does it by itself."""
        finished(self._wire.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()


class AsyncClient(Calls, Awaits):
    """Client of a running ``thalweg serve`` for async code: the methods of `Client`, awaited.

    Parameters
    ----------
    address, token, model, patience, timeout, batch_rows, transport
        See `Client`.

    Examples
    --------
    >>> import asyncio, httpx
    >>> def service(request):  # a stand-in
    ...     row = {"id": "a1", "prediction": "wet", "probabilities": {"wet": 0.9, "dry": 0.1}}
    ...     return httpx.Response(200, json={"model": "rain", "version": 40, "predictions": [row]})
    >>> async def ask():
    ...     async with AsyncClient("http://127.0.0.1:8080", transport=httpx.MockTransport(service)) as client:
    ...         return (await client.predict_one({"cloud": 0.7})).prediction
    >>> asyncio.run(ask())
    'wet'
    """

    def __init__(
        self,
        address: str,
        *,
        token: str | None = None,
        model: str | None = None,
        patience: float = 30.0,
        timeout: float = 30.0,
        batch_rows: int = 10_000,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        options = _checked("AsyncClient", address, token, patience, timeout, batch_rows)
        self._model, self._patience, self._batch_rows = model, patience, batch_rows
        self._wire = Wire(_httpx().AsyncClient(**options, transport=transport))

    async def close(self) -> None:
        """Give up the connections; ``async with`` does it by itself."""
        await self._wire.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *reason: object) -> None:
        await self.close()


def _checked(
    owner: str, address: str, token: str | None, patience: float, timeout: float, batch_rows: int
) -> dict[str, Any]:
    if not isinstance(address, str) or not address.startswith(("http://", "https://")):
        raise InvalidParameter.of(owner, "address", "begin with http:// or https://", address)
    if not patience >= 0.0:
        raise InvalidParameter.of(owner, "patience", "be at least 0", patience)
    if not timeout > 0.0:
        raise InvalidParameter.of(owner, "timeout", "be above 0", timeout)
    if not batch_rows >= 1:
        raise InvalidParameter.of(owner, "batch_rows", "be at least 1", batch_rows)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return {"base_url": address, "headers": headers, "timeout": timeout}


def _httpx() -> Any:
    return MissingExtra.import_module("httpx", "client", "speaking with a service")
