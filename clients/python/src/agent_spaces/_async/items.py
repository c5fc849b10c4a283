# Written from _blocking by scripts/async_client.py: change that folder, and run the script.
"""Lists that are read page by page."""

from __future__ import annotations

from collections.abc import Callable, AsyncIterator
from typing import Any, Generic, TypeVar

from .. import _calls as calls
from .._transport import AsyncTransport

T = TypeVar("T")
U = TypeVar("U")


class AsyncItems(Generic[T]):
    """List of a server: iterating returns its items and asks for further pages as needed; `pages` returns whole pages."""

    def __init__(
        self, transport: AsyncTransport, call: Callable[[str | None], calls.Call[calls.Page[U]]], make: Callable[[U], T], timeout: float | None
    ) -> None:
        self._transport = transport
        self._call: Callable[[str | None], calls.Call[calls.Page[Any]]] = call
        self._make: Callable[[Any], T] = make
        self._timeout = timeout

    async def pages(self) -> AsyncIterator[list[T]]:
        """Return the pages."""
        cursor: str | None = None
        while True:
            page = await self._transport.send(self._call(cursor), self._timeout)
            cursor = calls.next_cursor(page, cursor)
            yield [self._make(item) for item in page.items]
            if cursor is None:
                return

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page:
                yield item

    async def all(self, most: int | None = None) -> list[T]:
        """Return all items, or the first `most`."""
        items: list[T] = []
        if most is not None and most <= 0:
            return items
        async for item in self:
            items.append(item)
            if most is not None and len(items) >= most:
                break
        return items


def same(item: T) -> T:
    return item
