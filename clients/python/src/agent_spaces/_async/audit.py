# Written from _blocking by scripts/async_client.py: change that folder, and run the script.
"""The caller's own entries of the audit log."""

from __future__ import annotations

from .. import _calls as calls
from .. import _types as types
from .._transport import AsyncTransport
from .items import AsyncItems, same


class AsyncAudit:
    """The caller's own entries of the audit log."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, *, limit: int | None = None, timeout: float | None = None) -> AsyncItems[types.AuditEntry]:
        """List entries."""
        return AsyncItems(self._transport, lambda cursor: calls.list_audit(limit, cursor), same, timeout)
