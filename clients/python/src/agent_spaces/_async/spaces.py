# Written from _blocking by scripts/async_client.py: change that folder, and run the script.
"""Spaces: create, get, list, update, delete; runs started in one; programs and calls that are only checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import _calls as calls
from .. import _types as types
from .._transport import AsyncTransport
from .._wire import UNSET
from .files import AsyncFiles
from .items import AsyncItems
from .runs import AsyncRun


def _limits(limits: types.Limits | Mapping[str, Any] | None) -> types.Limits | None:
    return limits if limits is None or isinstance(limits, types.Limits) else types.Limits(**limits)


def _webhook(webhook: types.NewWebhook | Mapping[str, Any] | None) -> types.NewWebhook | None:
    return webhook if webhook is None or isinstance(webhook, types.NewWebhook) else types.NewWebhook(**webhook)


class AsyncSpaces:
    """Spaces: create, get, list, delete."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(
        self,
        name: str,
        *,
        capabilities: Sequence[str] | None = None,
        base: str | None = None,
        policy: Mapping[str, Any] | None = None,
        limits: types.Limits | Mapping[str, Any] | None = None,
        ttl_seconds: int | None = None,
        webhook: types.NewWebhook | Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> AsyncSpace:
        """Create a space."""
        names = None if capabilities is None else list(capabilities)
        new = types.NewSpace(name, base, names, policy, _limits(limits), ttl_seconds, _webhook(webhook))
        return AsyncSpace(self._transport, await self._transport.send(calls.create_space(new, idempotency_key), timeout))

    async def get(self, space: str, *, timeout: float | None = None) -> AsyncSpace:
        """Return a space."""
        return AsyncSpace(self._transport, await self._transport.send(calls.get_space(space), timeout))

    def list(self, *, limit: int | None = None, timeout: float | None = None) -> AsyncItems[AsyncSpace]:
        """List spaces."""

        def make(info: types.SpaceInfo) -> AsyncSpace:
            return AsyncSpace(self._transport, info)

        return AsyncItems(self._transport, lambda cursor: calls.list_spaces(limit, cursor), make, timeout)

    async def delete(self, space: str, *, timeout: float | None = None) -> None:
        """Delete a space and cancel its runs."""
        await self._transport.send(calls.delete_space(space), timeout)


class AsyncSpace:
    """One space. ``info`` is the space as the server last sent it."""

    def __init__(self, transport: AsyncTransport, info: types.SpaceInfo) -> None:
        self._transport = transport
        self.id = info.id
        self.info = info
        self.files = AsyncFiles(transport, self.id)

    @property
    def name(self) -> str:
        """Name of the space."""
        return self.info.name

    async def run(
        self,
        source: str | None = None,
        *,
        program: str | None = None,
        input: Any = UNSET,
        limits: types.Limits | Mapping[str, Any] | None = None,
        name: str | None = None,
        on_event: Callable[[types.Event], None] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Run a script, or a published program, to its end and return its value. Raise RunFailed if it fails or is cancelled."""
        new = types.NewRun(source, program, input, _limits(limits), name)
        wait = calls.FIRST_WAIT if on_event is None else 0
        run = AsyncRun(self._transport, await self._transport.send(calls.create_run(self.id, new, idempotency_key, wait), timeout))
        if on_event is None and run.info.ended:
            return calls.value_of(run.info)
        async for event in run.events(timeout=timeout):
            if on_event is not None:
                on_event(event)
        await run.refresh(timeout=timeout)
        return calls.value_of(run.info)

    async def start(
        self,
        source: str | None = None,
        *,
        program: str | None = None,
        input: Any = UNSET,
        limits: types.Limits | Mapping[str, Any] | None = None,
        name: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> AsyncRun:
        """Start a script, or a published program, and return its run at once."""
        new = types.NewRun(source, program, input, _limits(limits), name)
        return AsyncRun(self._transport, await self._transport.send(calls.create_run(self.id, new, idempotency_key, 0), timeout))

    async def check(self, source: str, *, name: str | None = None, timeout: float | None = None) -> types.Check:
        """Check a program without running it: its syntax, imports and types, and what it can reach."""
        return await self._transport.send(calls.check_program(self.id, types.NewCheck(source, name)), timeout)

    async def explain(self, function: str, params: Mapping[str, Any] | None = None, *, timeout: float | None = None) -> types.Explanation:
        """Explain what the policy decides about a function; with `params`, about that call."""
        return await self._transport.send(calls.explain_function(self.id, types.NewExplanation(function, params)), timeout)

    async def update(
        self,
        *,
        name: str | None = None,
        ttl_seconds: int | None = None,
        limits: types.Limits | Mapping[str, Any] | None = None,
        capabilities: Sequence[str] | None = None,
        policy: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> AsyncSpace:
        """Change the space; fails with ``precondition`` if somebody else has changed it since it was read."""
        entries = None if capabilities is None else list(capabilities)
        change = types.SpaceChange(name, ttl_seconds, _limits(limits), entries, policy)
        self.info = await self._transport.send(calls.update_space(self.id, change, self.info.etag), timeout)
        return self

    async def update_webhook(
        self,
        *,
        url: str | None = None,
        events: Sequence[types.WebhookEvent] | None = None,
        enabled: bool | None = None,
        timeout: float | None = None,
    ) -> AsyncSpace:
        """Change the webhook of the space, which keeps its secret; fails with ``precondition`` as ``update`` does."""
        change = types.WebhookChange(url, None if events is None else list(events), enabled)
        self.info = await self._transport.send(calls.update_webhook(self.id, change, self.info.etag), timeout)
        return self

    async def refresh(self, *, timeout: float | None = None) -> AsyncSpace:
        """Read the space again."""
        self.info = await self._transport.send(calls.get_space(self.id), timeout)
        return self

    async def delete(self, *, timeout: float | None = None) -> None:
        """Delete the space and cancel its runs."""
        await self._transport.send(calls.delete_space(self.id), timeout)
