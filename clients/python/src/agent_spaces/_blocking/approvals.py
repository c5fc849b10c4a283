"""Approvals: list, get, decide."""

from __future__ import annotations

from .. import _calls as calls
from .. import _types as types
from .._transport import Transport
from .items import Items, same


class Approvals:
    """Approvals: list, get, decide."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        status: types.ApprovalStatus | None = None,
        run: str | None = None,
        space: str | None = None,
        agent: str | None = None,
        order: types.ListOrder | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> Items[types.Approval]:
        """List approvals of runs and agents, oldest first unless ``order`` says otherwise."""
        return Items(self._transport, lambda cursor: calls.list_approvals(status, run, space, agent, order, limit, cursor), same, timeout)

    def get(self, approval: str, *, timeout: float | None = None) -> types.Approval:
        """Return an approval."""
        return self._transport.send(calls.get_approval(approval), timeout)

    def approve(
        self, approval: str, *, reason: str | None = None, by: str | None = None, for_: types.Scope | None = None, timeout: float | None = None
    ) -> types.Approval:
        """Approve the call. A late or repeated decision fails with ``approval.expired`` or ``approval.decided``."""
        return self._transport.send(calls.decide_approval(approval, types.NewDecision("approve", reason, by, for_)), timeout)

    def deny(
        self, approval: str, *, reason: str | None = None, by: str | None = None, for_: types.Scope | None = None, timeout: float | None = None
    ) -> types.Approval:
        """Deny the call. A late or repeated decision fails with ``approval.expired`` or ``approval.decided``."""
        return self._transport.send(calls.decide_approval(approval, types.NewDecision("deny", reason, by, for_)), timeout)
