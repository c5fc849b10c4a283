# Written from _blocking by scripts/async_client.py: change that folder, and run the script.
"""Entry point: one object per server and token."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from types import TracebackType

import httpx

from .. import _calls as calls
from .. import _types as types
from .._follow import follow_runs
from .._transport import AsyncTransport
from .approvals import AsyncApprovals
from .audit import AsyncAudit
from .capabilities import AsyncCapabilities
from .programs import AsyncPrograms
from .runs import AsyncRuns
from .servers import AsyncServers
from .spaces import AsyncSpaces


class AsyncAgentSpaces:
    """Client for an Agent Spaces server. Close it, or use it in ``async with``.

    ``timeout`` is that of one attempt, ``retries`` the number of further attempts of one request, ``stream_retries`` the attempts to
    resume an event stream without a new event, ``stream_silence`` the silence after which one counts as cut: by default three of the
    server's comments. ``http`` is an httpx client of your own, with proxies or certificates; it is not closed.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = 30.0,
        retries: int = 5,
        stream_retries: int = 12,
        stream_silence: float = 45.0,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self._own = http is None
        self._transport = AsyncTransport(http or httpx.AsyncClient(), url, token, timeout, retries, stream_retries, stream_silence)
        self.spaces = AsyncSpaces(self._transport)
        self.runs = AsyncRuns(self._transport)
        self.approvals = AsyncApprovals(self._transport)
        self.capabilities = AsyncCapabilities(self._transport)
        self.programs = AsyncPrograms(self._transport)
        self.audit = AsyncAudit(self._transport)
        self.servers = AsyncServers(self._transport)

    async def me(self, *, timeout: float | None = None) -> types.Me:
        """Return the caller whose token this is, and what it may do."""
        return await self._transport.send(calls.get_me(), timeout)

    def events(self, runs: Sequence[str], *, timeout: float | None = None) -> AsyncIterator[types.Event]:
        """Follow up to 64 runs in one stream, until all have ended. Resumes by itself after a cut."""
        return self._transport.follow(follow_runs(runs, self._transport.stream_retries), timeout)

    async def close(self) -> None:
        """Close the connections."""
        if self._own:
            await self._transport.http.aclose()

    async def __aenter__(self) -> AsyncAgentSpaces:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()
