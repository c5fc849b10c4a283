# Written from _blocking by scripts/async_client.py: change that folder, and run the script.
"""Programs: publish, list, get, versions, delete."""

from __future__ import annotations

from .. import _calls as calls
from .. import _types as types
from .._transport import AsyncTransport
from .items import AsyncItems, same


class AsyncPrograms:
    """Programs: publish, list, get, versions, delete."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def publish(
        self, name: str, source: str, *, description: str | None = None, idempotency_key: str | None = None, timeout: float | None = None
    ) -> types.ProgramVersion:
        """Publish a new version. The source of the newest version publishes nothing. Repeated requests with one key publish one version."""
        return await self._transport.send(calls.publish_program(types.NewProgram(name, source, description), idempotency_key), timeout)

    def list(self, *, limit: int | None = None, timeout: float | None = None) -> AsyncItems[types.Program]:
        """List programs."""
        return AsyncItems(self._transport, lambda cursor: calls.list_programs(limit, cursor), same, timeout)

    async def get(self, name: str, *, timeout: float | None = None) -> types.Program:
        """Return a program, with the number of its newest version."""
        return await self._transport.send(calls.get_program(name), timeout)

    async def version(self, name: str, version: int, *, timeout: float | None = None) -> types.ProgramVersion:
        """Return one version, with its source."""
        return await self._transport.send(calls.get_version(name, version), timeout)

    def versions(self, name: str, *, limit: int | None = None, timeout: float | None = None) -> AsyncItems[types.ProgramVersion]:
        """List the versions of a program, newest first, without their sources."""
        return AsyncItems(self._transport, lambda cursor: calls.list_versions(name, limit, cursor), same, timeout)

    async def delete(self, name: str, *, timeout: float | None = None) -> None:
        """Delete all versions."""
        await self._transport.send(calls.delete_program(name), timeout)
