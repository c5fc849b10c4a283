"""The caller's own entries of the audit log."""

from __future__ import annotations

from .. import _calls as calls
from .. import _types as types
from .._transport import Transport
from .items import Items, same


class Audit:
    """The caller's own entries of the audit log."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, limit: int | None = None, timeout: float | None = None) -> Items[types.AuditEntry]:
        """List entries."""
        return Items(self._transport, lambda cursor: calls.list_audit(limit, cursor), same, timeout)
