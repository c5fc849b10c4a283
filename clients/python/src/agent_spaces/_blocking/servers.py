"""MCP servers of the configuration: list, accept."""

from __future__ import annotations

from .. import _calls as calls
from .. import _types as types
from .._transport import Transport
from .items import Items, same


class Servers:
    """MCP servers of the configuration: list, accept."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def accept(self, name: str, *, offer: str | None = None, timeout: float | None = None) -> types.Server:
        """Accept the tools of a server. Only for the operator.

        With ``offer`` of the server as it was reviewed, one that offers something else by now fails with ``server.changed``.
        """
        return self._transport.send(calls.accept_server(name, types.NewAcceptance(offer)), timeout)

    def list(self, *, limit: int | None = None, timeout: float | None = None) -> Items[types.Server]:
        """List servers as they were last seen: none is started."""
        return Items(self._transport, lambda cursor: calls.list_servers(limit, cursor), same, timeout)
