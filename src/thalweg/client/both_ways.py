"""Methods that are written once: a blocking client returns their values, and an awaiting one is awaited."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from functools import update_wrapper, wraps
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, cast, overload

P = ParamSpec("P")
T = TypeVar("T")


class Blocks:
    """A client whose methods return when they are done."""


class Awaits:
    """A client whose methods are awaited."""


def finished(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns that never suspends.

    Examples
    --------
    >>> async def twice(number):
    ...     return 2 * number
    >>> finished(twice(21))
    42
    """
    try:
        coroutine.send(None)
    except StopIteration as done:
        value: T = done.value
        return value
    coroutine.close()
    raise RuntimeError("a blocking client must not suspend")


class call(Generic[P, T]):  # noqa: N801 - used as a decorator
    """A method that is awaited on an `Awaits` client, and returns its value on one that `Blocks`.

    Examples
    --------
    >>> class Greeting:
    ...     @call
    ...     async def greet(self, name: str) -> str:
    ...         return f"Good day, {name}"
    >>> class Now(Greeting, Blocks): ...
    >>> class Later(Greeting, Awaits): ...
    >>> Now().greet("Ada")
    'Good day, Ada'
    >>> import asyncio
    >>> asyncio.run(Later().greet("Ada"))
    'Good day, Ada'
    """

    def __init__(self, method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> None:
        self.method = method
        update_wrapper(self, method)

    @overload
    def __get__(self, client: None, owner: type) -> Self: ...
    @overload
    def __get__(self, client: Blocks, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: Awaits, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, client: Blocks | Awaits | None, owner: type) -> Any:
        if client is None:
            return self
        method: Callable[P, Coroutine[Any, Any, T]] = self.method.__get__(client)
        if isinstance(client, Awaits):
            return method

        @wraps(method)
        def blocking(*arguments: P.args, **options: P.kwargs) -> T:
            return finished(method(*arguments, **options))

        return blocking

    def __call__(self, client: Any, *arguments: P.args, **options: P.kwargs) -> Coroutine[Any, Any, T]:
        """The coroutine itself, for methods that use one another."""
        return self.method(client, *arguments, **options)


class stream(Generic[P, T]):  # noqa: N801 - used as a decorator
    """A method that hands out values as they come, to ``for`` or to ``async for``.

    Examples
    --------
    >>> class Counting:
    ...     @stream
    ...     async def count(self, most: int):
    ...         for number in range(most):
    ...             yield number
    >>> class Now(Counting, Blocks): ...
    >>> list(Now().count(3))
    [0, 1, 2]
    """

    def __init__(self, method: Callable[Concatenate[Any, P], AsyncGenerator[T, None]]) -> None:
        self.method = method
        update_wrapper(cast(Any, self), method)

    @overload
    def __get__(self, client: None, owner: type) -> Self: ...
    @overload
    def __get__(self, client: Blocks, owner: type) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, client: Awaits, owner: type) -> Callable[P, AsyncGenerator[T, None]]: ...
    def __get__(self, client: Blocks | Awaits | None, owner: type) -> Any:
        if client is None:
            return self
        method: Callable[P, AsyncGenerator[T, None]] = self.method.__get__(client)
        if isinstance(client, Awaits):
            return method

        @wraps(method)
        def blocking(*arguments: P.args, **options: P.kwargs) -> Iterator[T]:
            values = method(*arguments, **options)
            try:
                while True:
                    try:
                        value = finished(values.__anext__())
                    except StopAsyncIteration:
                        return
                    yield value
            finally:
                finished(values.aclose())

        return blocking
