"""Capabilities: list, get, search."""

from __future__ import annotations

from .. import _calls as calls
from .. import _types as types
from .._transport import Transport
from .items import Items, same


class Capabilities:
    """Capabilities: list, get, search."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def search(self, q: str, *, space: str | None = None, limit: int | None = None, timeout: float | None = None) -> list[types.CapabilityFunction]:
        """Find functions by what they do."""
        found = self._transport.send(calls.search_capabilities(q, space, limit), timeout)
        return found.items

    def get(self, name: str, *, space: str | None = None, timeout: float | None = None) -> types.Capability:
        """Return a capability with the TypeScript declarations and WIT of its module."""
        return self._transport.send(calls.get_capability(name, space), timeout)

    def list(self, *, space: str | None = None, limit: int | None = None, timeout: float | None = None) -> Items[types.Capability]:
        """List capabilities."""
        return Items(self._transport, lambda cursor: calls.list_capabilities(space, limit, cursor), same, timeout)
