# Written from _blocking by scripts/async_client.py: change that folder, and run the script.
"""The audit log: own entries, or all of them for the operator, who also verifies it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime

from .. import _calls as calls
from .. import _types as types
from .._export import Export
from .._transport import AsyncTransport
from .items import AsyncItems, same


class AsyncAudit:
    """The audit log: own entries, or all of them for the operator, who also verifies it."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def verify(self, *, timeout: float | None = None) -> types.AuditVerification:
        """Verify the whole log. Only for the operator."""
        return await self._transport.send(calls.verify_audit(), timeout)

    def export(
        self,
        *,
        type: str | Sequence[str] | None = None,
        caller: str | None = None,
        run: str | None = None,
        from_: str | datetime | None = None,
        until: str | datetime | None = None,
        q: str | None = None,
        order: types.ListOrder | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[types.AuditEntry]:
        """Read the entries as a stream, over as many requests as it takes. A stream that is cut raises ``ConnectionFailed``."""
        return self._transport.export(Export(calls.audit_query(type, caller, run, from_, until, q, order)), timeout)

    def list(
        self,
        *,
        type: str | Sequence[str] | None = None,
        caller: str | None = None,
        run: str | None = None,
        from_: str | datetime | None = None,
        until: str | datetime | None = None,
        q: str | None = None,
        order: types.ListOrder | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> AsyncItems[types.AuditEntry]:
        """List entries, oldest first unless ``order`` says otherwise."""
        query = calls.audit_query(type, caller, run, from_, until, q, order)
        return AsyncItems(self._transport, lambda cursor: calls.list_audit(query, limit, cursor), same, timeout)
