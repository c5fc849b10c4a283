"""One function per operation of the REST API: what is sent, and how the answer is read. Shared by both clients."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Generic, TypeVar

from . import _types as types
from ._errors import ConnectionFailed, RunFailed
from ._paths import file_path, segment
from ._wire import dump, load

T = TypeVar("T")

#: Seconds that ``Space.run`` lets the server wait for the end: most runs need no event stream at all.
FIRST_WAIT = 10

#: Seconds that a replay may take in addition to the timeout.
REPLAY_WAIT = 70

#: Seconds that a verification may take in addition to the timeout: it reads the whole log.
VERIFY_WAIT = 600

#: Seconds that an acceptance may take in addition to the timeout: the server is started.
ACCEPT_WAIT = 60

QueryValue = str | int | float | bool | datetime | Sequence[str] | None


@dataclass(frozen=True)
class Answer:
    """Answer with its body already read."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def etag(self) -> str | None:
        """Value of the header ETag."""
        return self.headers.get("etag")

    def json(self) -> Any:
        """Return the body, parsed."""
        try:
            return json.loads(self.body)
        except ValueError:
            pass
        raise ConnectionFailed("answer is not JSON: is this the address of an Agent Spaces server?")


@dataclass(frozen=True)
class Page(Generic[T]):
    """Page of a list."""

    items: list[T]
    next: str | None


@dataclass(frozen=True)
class Call(Generic[T]):
    """Request, and how its answer is read."""

    method: str
    path: str
    read: Callable[[Answer], T]
    query: Mapping[str, QueryValue] = field(default_factory=dict)
    headers: Mapping[str, str | None] = field(default_factory=dict)
    #: Body as JSON.
    json: Any = None
    #: Body as bytes.
    content: bytes | None = None
    #: True if repeating the request has no further effect.
    repeatable: bool = True
    #: For a deletion: 404 after a lost answer is success.
    gone_is_done: bool = False
    #: Seconds that the server may take in addition to the timeout.
    wait: float = 0.0

    def parameters(self) -> list[tuple[str, str]]:
        """Return the query without what is None."""
        found: list[tuple[str, str]] = []
        for name, value in self.query.items():
            if value is None:
                continue
            for one in [value] if isinstance(value, (str, int, float, datetime)) else value:
                found.append((name, _text(one)))
        return found


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError("datetime without a time zone")
        return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    return str(value)


def _one(cls: type[T]) -> Callable[[Answer], T]:
    return lambda answer: load(cls, answer.json())


def _page(cls: type[T]) -> Callable[[Answer], Page[T]]:
    def read(answer: Answer) -> Page[T]:
        data = answer.json()
        items = data.get("items") if isinstance(data, dict) else None
        if not isinstance(items, list):
            raise ConnectionFailed("answer is no page")
        return Page([load(cls, one) for one in items], data.get("next"))

    return read


def _nothing(_: Answer) -> None:
    return None


def _delete(path: str, if_match: str | None = None) -> Call[None]:
    return Call("DELETE", path, _nothing, headers={"If-Match": if_match}, repeatable=if_match is None, gone_is_done=True)


def next_cursor(page: Page[T], cursor: str | None) -> str | None:
    """Return the cursor after a page. A server that returns the cursor it was given would be asked forever."""
    if page.next is not None and page.next == cursor:
        raise ConnectionFailed("the server repeats a page")
    return page.next


def value_of(run: types.RunInfo) -> Any:
    """Return the value of an ended run; raise RunFailed if it has none."""
    if run.status != "finished":
        raise RunFailed(run)
    return run.value


# Caller


def get_me() -> Call[types.Me]:
    return Call("GET", "/v1/me", _one(types.Me))


# Spaces


def create_space(space: types.NewSpace, key: str | None) -> Call[types.SpaceInfo]:
    return Call("POST", "/v1/spaces", _one(types.SpaceInfo), headers={"Idempotency-Key": key or secrets.token_hex(16)}, json=dump(space))


def list_spaces(limit: int | None, cursor: str | None) -> Call[Page[types.SpaceInfo]]:
    return Call("GET", "/v1/spaces", _page(types.SpaceInfo), {"limit": limit, "cursor": cursor})


def get_space(space: str) -> Call[types.SpaceInfo]:
    return Call("GET", f"/v1/spaces/{segment(space)}", _one(types.SpaceInfo))


def update_space(space: str, change: types.SpaceChange, etag: str | None) -> Call[types.SpaceInfo]:
    path = f"/v1/spaces/{segment(space)}"
    return Call("PATCH", path, _one(types.SpaceInfo), headers={"If-Match": etag}, json=dump(change), repeatable=False)


def update_webhook(space: str, change: types.WebhookChange, etag: str | None) -> Call[types.SpaceInfo]:
    path = f"/v1/spaces/{segment(space)}/webhook"
    return Call("PATCH", path, _one(types.SpaceInfo), headers={"If-Match": etag}, json=dump(change), repeatable=False)


def delete_space(space: str) -> Call[None]:
    return _delete(f"/v1/spaces/{segment(space)}")


def check_program(space: str, check: types.NewCheck) -> Call[types.Check]:
    return Call("POST", f"/v1/spaces/{segment(space)}/check", _one(types.Check), json=dump(check))


def explain_function(space: str, explanation: types.NewExplanation) -> Call[types.Explanation]:
    return Call("POST", f"/v1/spaces/{segment(space)}/explain", _one(types.Explanation), json=dump(explanation))


# Files


def _file(space: str, path: str) -> str:
    return f"/v1/spaces/{segment(space)}/files/{file_path(path)}"


def list_files(space: str, prefix: str | None, limit: int | None, cursor: str | None) -> Call[Page[types.File]]:
    query = {"prefix": prefix, "limit": limit, "cursor": cursor}
    return Call("GET", f"/v1/spaces/{segment(space)}/files", _page(types.File), query)


def read_file(space: str, path: str) -> Call[types.FileContent]:
    return Call("GET", _file(space, path), lambda answer: types.FileContent(answer.body, answer.etag), headers={"Accept": "*/*"})


def stat_file(space: str, path: str) -> Call[types.FileState]:
    def read(answer: Answer) -> types.FileState:
        length = answer.headers.get("content-length")
        return types.FileState(int(length) if length is not None else None, answer.etag)

    return Call("HEAD", _file(space, path), read, headers={"Accept": "*/*", "Accept-Encoding": "identity"})


def write_file(space: str, path: str, content: bytes | str, if_match: str | None, if_none_match: str | None) -> Call[types.WrittenFile]:
    return Call(
        "PUT",
        _file(space, path),
        lambda answer: types.WrittenFile(answer.etag, answer.status == 201),
        headers={"Content-Type": "application/octet-stream", "If-Match": if_match, "If-None-Match": if_none_match},
        content=content.encode() if isinstance(content, str) else content,
        # A condition that was true before a lost answer is false after it: the retry would report a conflict with itself.
        repeatable=if_match is None and if_none_match is None,
    )


def delete_file(space: str, path: str, if_match: str | None) -> Call[None]:
    return _delete(_file(space, path), if_match)


# Runs


def create_run(space: str, run: types.NewRun, key: str | None, wait: int) -> Call[types.RunInfo]:
    if (run.source is None) == (run.program is None):
        raise ValueError("give either source or program")
    return Call(
        "POST",
        f"/v1/spaces/{segment(space)}/runs",
        _one(types.RunInfo),
        {"wait": wait or None},
        headers={"Idempotency-Key": key or secrets.token_hex(16)},
        json=dump(run),
        wait=wait,
    )


def list_runs(
    space: str | None,
    status: types.RunStatus | None,
    created_from: str | datetime | None,
    created_until: str | datetime | None,
    limit: int | None,
    cursor: str | None,
) -> Call[Page[types.RunInfo]]:
    query: dict[str, QueryValue] = {"space": space, "status": status, "createdFrom": created_from, "createdUntil": created_until}
    return Call("GET", "/v1/runs", _page(types.RunInfo), {**query, "limit": limit, "cursor": cursor})


def get_run(run: str, wait: int | None) -> Call[types.RunInfo]:
    return Call("GET", f"/v1/runs/{segment(run)}", _one(types.RunInfo), {"wait": wait}, wait=wait or 0)


def cancel_run(run: str) -> Call[types.RunInfo]:
    return Call("POST", f"/v1/runs/{segment(run)}/cancel", _one(types.RunInfo), repeatable=False)


def resume_run(run: str) -> Call[types.RunInfo]:
    return Call("POST", f"/v1/runs/{segment(run)}/resume", _one(types.RunInfo), repeatable=False)


def answer_call(run: str, answer: types.CallAnswer) -> Call[types.RunInfo]:
    return Call("POST", f"/v1/runs/{segment(run)}/answers", _one(types.RunInfo), json=dump(answer), repeatable=False)


def run_source(run: str) -> Call[types.RunSource]:
    return Call("GET", f"/v1/runs/{segment(run)}/source", _one(types.RunSource))


def replay_run(run: str, replay: types.NewReplay) -> Call[types.Replay]:
    return Call("POST", f"/v1/runs/{segment(run)}/replay", _one(types.Replay), json=dump(replay), wait=REPLAY_WAIT)


def event_page(run: str, after: int | None, limit: int | None) -> Call[types.EventPage]:
    return Call("GET", f"/v1/runs/{segment(run)}/events", _one(types.EventPage), {"after": after, "limit": limit})


def stream_run(run: str, follow: bool) -> Call[None]:
    return Call("GET", f"/v1/runs/{segment(run)}/events", _nothing, {"follow": None if follow else False})


def stream_runs(runs: Sequence[str]) -> Call[None]:
    return Call("GET", "/v1/events", _nothing, {"run": runs})


# Approvals


def list_approvals(
    status: types.ApprovalStatus | None,
    run: str | None,
    space: str | None,
    agent: str | None,
    order: types.ListOrder | None,
    limit: int | None,
    cursor: str | None,
) -> Call[Page[types.Approval]]:
    query = {"status": status, "run": run, "space": space, "agent": agent, "order": order, "limit": limit, "cursor": cursor}
    return Call("GET", "/v1/approvals", _page(types.Approval), query)


def get_approval(approval: str) -> Call[types.Approval]:
    return Call("GET", f"/v1/approvals/{segment(approval)}", _one(types.Approval))


def decide_approval(approval: str, decision: types.NewDecision) -> Call[types.Approval]:
    path = f"/v1/approvals/{segment(approval)}/decision"
    return Call("POST", path, _one(types.Approval), json=dump(decision), repeatable=False)


# Capabilities


def list_capabilities(space: str | None, limit: int | None, cursor: str | None) -> Call[Page[types.Capability]]:
    return Call("GET", "/v1/capabilities", _page(types.Capability), {"space": space, "limit": limit, "cursor": cursor})


def get_capability(name: str, space: str | None) -> Call[types.Capability]:
    return Call("GET", f"/v1/capabilities/{segment(name)}", _one(types.Capability), {"space": space})


def search_capabilities(q: str, space: str | None, limit: int | None) -> Call[types.FoundFunctions]:
    return Call("GET", "/v1/capabilities/search", _one(types.FoundFunctions), {"q": q, "space": space, "limit": limit})


# Programs


def publish_program(program: types.NewProgram, key: str | None) -> Call[types.ProgramVersion]:
    headers = {"Idempotency-Key": key or secrets.token_hex(16)}
    return Call("POST", "/v1/programs", _one(types.ProgramVersion), headers=headers, json=dump(program))


def list_programs(limit: int | None, cursor: str | None) -> Call[Page[types.Program]]:
    return Call("GET", "/v1/programs", _page(types.Program), {"limit": limit, "cursor": cursor})


def get_program(name: str) -> Call[types.Program]:
    return Call("GET", f"/v1/programs/{segment(name)}", _one(types.Program))


def get_version(name: str, version: int) -> Call[types.ProgramVersion]:
    return Call("GET", f"/v1/programs/{segment(name)}/versions/{segment(version)}", _one(types.ProgramVersion))


def list_versions(name: str, limit: int | None, cursor: str | None) -> Call[Page[types.ProgramVersion]]:
    return Call("GET", f"/v1/programs/{segment(name)}/versions", _page(types.ProgramVersion), {"limit": limit, "cursor": cursor})


def delete_program(name: str) -> Call[None]:
    return _delete(f"/v1/programs/{segment(name)}")


# Audit


def audit_query(
    type: str | Sequence[str] | None,
    caller: str | None,
    run: str | None,
    from_: str | datetime | None,
    until: str | datetime | None,
    q: str | None,
    order: types.ListOrder | None,
) -> dict[str, QueryValue]:
    return {"type": type, "caller": caller, "run": run, "from": from_, "until": until, "q": q, "order": order}


def list_audit(query: Mapping[str, QueryValue], limit: int | None, cursor: str | None) -> Call[Page[types.AuditEntry]]:
    return Call("GET", "/v1/audit", _page(types.AuditEntry), {**query, "limit": limit, "cursor": cursor})


def export_audit(query: Mapping[str, QueryValue], cursor: str | None) -> Call[None]:
    return Call("GET", "/v1/audit/export", _nothing, {**query, "cursor": cursor}, {"Accept": "application/x-ndjson"})


def verify_audit() -> Call[types.AuditVerification]:
    return Call("GET", "/v1/audit/verification", _one(types.AuditVerification), wait=VERIFY_WAIT)


# MCP servers


def list_servers(limit: int | None, cursor: str | None) -> Call[Page[types.Server]]:
    return Call("GET", "/v1/servers", _page(types.Server), {"limit": limit, "cursor": cursor})


def accept_server(name: str, acceptance: types.NewAcceptance) -> Call[types.Server]:
    path = f"/v1/servers/{segment(name)}/accept"
    return Call("POST", path, _one(types.Server), json=dump(acceptance), repeatable=False, wait=ACCEPT_WAIT)
