# Written from _blocking by scripts/async_client.py: change that folder, and run the script.
"""MCP servers of the configuration: list, accept."""

from __future__ import annotations

from .. import _calls as calls
from .. import _types as types
from .._transport import AsyncTransport
from .items import AsyncItems, same


class AsyncServers:
    """MCP servers of the configuration: list, accept."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def accept(self, name: str, *, offer: str | None = None, timeout: float | None = None) -> types.Server:
        """Accept the tools of a server. Only for the operator.

        With ``offer`` of the server as it was reviewed, one that offers something else by now fails with ``server.changed``.
        """
        return await self._transport.send(calls.accept_server(name, types.NewAcceptance(offer)), timeout)

    def list(self, *, limit: int | None = None, timeout: float | None = None) -> AsyncItems[types.Server]:
        """List servers as they were last seen: none is started."""
        return AsyncItems(self._transport, lambda cursor: calls.list_servers(limit, cursor), same, timeout)
