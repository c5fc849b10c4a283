"""Files of a space."""

from __future__ import annotations

from .. import _calls as calls
from .. import _types as types
from .._transport import Transport
from .items import Items, same


class Files:
    """Files of a space."""

    def __init__(self, transport: Transport, space: str) -> None:
        self._transport = transport
        self._space = space

    def list(self, *, prefix: str | None = None, limit: int | None = None, timeout: float | None = None) -> Items[types.File]:
        """List files."""
        return Items(self._transport, lambda cursor: calls.list_files(self._space, prefix, limit, cursor), same, timeout)

    def read(self, path: str, *, timeout: float | None = None) -> types.FileContent:
        """Read a file."""
        return self._transport.send(calls.read_file(self._space, path), timeout)

    def stat(self, path: str, *, timeout: float | None = None) -> types.FileState:
        """Return size and ETag without the content."""
        return self._transport.send(calls.stat_file(self._space, path), timeout)

    def write(
        self, path: str, content: bytes | str, *, if_match: str | None = None, if_none_match: str | None = None, timeout: float | None = None
    ) -> types.WrittenFile:
        """Write a file; a text as UTF-8. ``if_none_match="*"``: only if there is no such file."""
        return self._transport.send(calls.write_file(self._space, path, content, if_match, if_none_match), timeout)

    def delete(self, path: str, *, if_match: str | None = None, timeout: float | None = None) -> None:
        """Delete a file."""
        self._transport.send(calls.delete_file(self._space, path, if_match), timeout)
