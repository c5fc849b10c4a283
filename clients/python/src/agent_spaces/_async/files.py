# Written from _blocking by scripts/async_client.py: change that folder, and run the script.
"""Files of a space."""

from __future__ import annotations

from .. import _calls as calls
from .. import _types as types
from .._transport import AsyncTransport
from .items import AsyncItems, same


class AsyncFiles:
    """Files of a space."""

    def __init__(self, transport: AsyncTransport, space: str) -> None:
        self._transport = transport
        self._space = space

    def list(self, *, prefix: str | None = None, limit: int | None = None, timeout: float | None = None) -> AsyncItems[types.File]:
        """List files."""
        return AsyncItems(self._transport, lambda cursor: calls.list_files(self._space, prefix, limit, cursor), same, timeout)

    async def read(self, path: str, *, timeout: float | None = None) -> types.FileContent:
        """Read a file."""
        return await self._transport.send(calls.read_file(self._space, path), timeout)

    async def stat(self, path: str, *, timeout: float | None = None) -> types.FileState:
        """Return size and ETag without the content."""
        return await self._transport.send(calls.stat_file(self._space, path), timeout)

    async def write(
        self, path: str, content: bytes | str, *, if_match: str | None = None, if_none_match: str | None = None, timeout: float | None = None
    ) -> types.WrittenFile:
        """Write a file; a text as UTF-8. ``if_none_match="*"``: only if there is no such file."""
        return await self._transport.send(calls.write_file(self._space, path, content, if_match, if_none_match), timeout)

    async def delete(self, path: str, *, if_match: str | None = None, timeout: float | None = None) -> None:
        """Delete a file."""
        await self._transport.send(calls.delete_file(self._space, path, if_match), timeout)
