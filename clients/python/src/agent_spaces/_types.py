"""Types of the REST API. A test compares them with the OpenAPI document. Times are RFC 3339 texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ._wire import UNSET

RunStatus = Literal["queued", "running", "awaiting_approval", "waiting", "in_doubt", "needs_resume", "finished", "failed", "cancelled"]
ApprovalStatus = Literal["pending", "approved", "denied", "expired"]
DecisionKind = Literal["approve", "deny"]
Scope = Literal["once", "run", "arguments"]
Outcome = Literal["happened", "didNotHappen", "giveUp"]
ConsoleLevel = Literal["log", "info", "warn", "error", "debug"]
WebhookEvent = Literal["run.ended", "approval.needed"]
PolicyDecision = Literal["allow", "approval", "deny"]
Severity = Literal["error", "warning"]
ListOrder = Literal["oldest", "newest"]
AuditVerdict = Literal["unchanged", "gaps", "missing", "changed"]
ServerStatus = Literal["connected", "idle", "failed", "changed", "needs_login"]
ServerChangeKind = Literal["added", "removed", "changed"]


@dataclass(frozen=True)
class Limits:
    """Resource limits of one run. None keeps the limit of the space."""

    fuel: int | None = None
    memory_bytes: int | None = None
    time_ms: int | None = None
    calls: int | None = None
    inflight: int | None = None
    result_bytes: int | None = None
    console_bytes: int | None = None
    bytes_per_call: int | None = None
    failures: int | None = None


@dataclass(frozen=True)
class NewWebhook:
    """Webhook of a space to create; by default, all events are sent."""

    url: str
    events: list[WebhookEvent] | None = None


@dataclass(frozen=True)
class Webhook:
    """Webhook of a space. ``secret`` signs its messages; only the answer to the creation has it."""

    url: str
    events: list[WebhookEvent]
    enabled: bool
    secret: str | None = None


@dataclass(frozen=True)
class WebhookChange:
    """Change of a webhook. None keeps what it has."""

    url: str | None = None
    events: list[WebhookEvent] | None = None
    enabled: bool | None = None


@dataclass(frozen=True)
class SpaceInfo:
    """Space as the server describes it."""

    id: str
    name: str
    source: Literal["configuration", "api"]
    capabilities: list[str]
    modules: list[str]
    limits: Limits
    has_files: bool
    base: str | None = None
    policy: dict[str, Any] | None = None
    created_at: str | None = None
    updated_at: str | None = None
    expires_at: str | None = None
    webhook: Webhook | None = None
    etag: str | None = None


@dataclass(frozen=True)
class NewSpace:
    """Space to create."""

    name: str
    base: str | None = None
    capabilities: list[str] | None = None
    policy: Mapping[str, Any] | None = None
    limits: Limits | None = None
    ttl_seconds: int | None = None
    webhook: NewWebhook | None = None


@dataclass(frozen=True)
class SpaceChange:
    """Change of a space."""

    name: str | None = None
    ttl_seconds: int | None = None
    limits: Limits | None = None
    capabilities: list[str] | None = None
    policy: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class File:
    """File of a space."""

    path: str
    size: int
    modified_at: str | None = None


@dataclass(frozen=True)
class FileState:
    """Size and ETag of a file."""

    size: int | None
    etag: str | None


@dataclass(frozen=True)
class FileContent:
    """Content of a file."""

    content: bytes
    etag: str | None

    @property
    def text(self) -> str:
        """Content as UTF-8 text."""
        return self.content.decode()


@dataclass(frozen=True)
class WrittenFile:
    """Written file; ``created`` if it is new."""

    etag: str | None
    created: bool


@dataclass(frozen=True)
class NewRun:
    """Run to create."""

    source: str | None = None
    program: str | None = None
    input: Any = UNSET
    limits: Limits | None = None
    name: str | None = None


@dataclass(frozen=True)
class Location:
    """Source location."""

    file: str
    line: int
    column: int


@dataclass(frozen=True)
class Cause:
    """Cause of an error."""

    message: str
    location: Location | None = None


@dataclass(frozen=True)
class RunError:
    """Error of a failed run."""

    code: str
    message: str
    name: str | None = None
    stack: str | None = None
    location: Location | None = None
    function: str | None = None
    causes: list[Cause] | None = None
    hint: str | None = None
    details: Any = None
    retryable: bool | None = None


@dataclass(frozen=True)
class Usage:
    """Resource usage of a run."""

    fuel: int
    memory_bytes: int
    wall_ms: float
    calls: int
    bytes_in: int
    bytes_out: int


@dataclass(frozen=True)
class ConsoleLine:
    """Console message."""

    level: ConsoleLevel
    text: str


@dataclass(frozen=True)
class DoubtfulCall:
    """Call of which it is unknown whether it happened."""

    call: int
    function: str
    function_id: str
    params: Any


@dataclass(frozen=True)
class Decision:
    """Decision on a call: ``by`` is the person, as the caller names them, and ``caller`` is the caller, by its token."""

    decision: DecisionKind
    by: str
    caller: str | None = None
    decided_at: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Approval:
    """Request for the approval of a call: of a run, with ``run_id``, or of an agent, with ``agent``."""

    id: str
    status: ApprovalStatus
    capability: str
    function: str
    function_id: str
    module: str
    message: str
    places: list[str]
    created_at: str
    expires_at: str
    run_id: str | None = None
    space_id: str | None = None
    call_id: int | None = None
    agent: str | None = None
    session: str | None = None
    params: Any = None
    calls: list[Any] | None = None
    caller: str | None = None
    decision: Decision | None = None


@dataclass(frozen=True)
class RunInfo:
    """Run as the server describes it."""

    id: str
    space_id: str
    name: str
    status: RunStatus
    created_at: str
    updated_at: str
    ended_at: str | None = None
    value: Any = None
    has_value: bool | None = None
    error: RunError | None = None
    usage: Usage | None = None
    console: list[ConsoleLine] | None = None
    approvals: list[Approval] | None = None
    in_doubt: list[DoubtfulCall] | None = None
    waits_until: str | None = None
    program: str | None = None
    caller: str | None = None

    @property
    def ended(self) -> bool:
        """True if the run will not change any more."""
        return self.status in ("finished", "failed", "cancelled")


@dataclass(frozen=True)
class CallAnswer:
    """Answer for a call in doubt."""

    call: int
    outcome: Outcome
    value: Any = UNSET


@dataclass(frozen=True)
class NewDecision:
    """Decision to record."""

    decision: DecisionKind
    reason: str | None = None
    by: str | None = None
    for_: Scope | None = None


@dataclass(frozen=True)
class Parent:
    """Call of another run that a run answers."""

    run_id: str
    call_id: int


@dataclass(frozen=True)
class Event:
    """Event of a run. ``payload`` has the members that depend on ``type``: see docs/events.md."""

    type: str
    timestamp: str
    run_id: str
    seq: int
    caller: str | None = None
    parent: Parent | None = None
    payload: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class EventPage:
    """Page of events; ``ended`` if the run has ended and this is its last page. ``next`` is the ``after`` of the events that follow."""

    items: list[Event]
    ended: bool
    next: int | None = None


@dataclass(frozen=True)
class Annotations:
    """Hints about the effects of a function, by whoever wrote it."""

    read_only_hint: bool | None = None
    destructive_hint: bool | None = None
    idempotent_hint: bool | None = None
    open_world_hint: bool | None = None


@dataclass(frozen=True)
class CapabilityFunction:
    """Function of a capability. ``parameters`` and ``returns`` are JSON Schemas; they, ``annotations`` and ``decision`` are None in lists."""

    name: str
    id: str
    module: str
    signature: str
    description: str
    parameters: Any = None
    returns: Any = None
    annotations: Annotations | None = None
    decision: PolicyDecision | None = None


@dataclass(frozen=True)
class Capability:
    """Capability; ``entry`` in ``capabilities`` gives a space its module. ``declarations`` and ``wit`` are None in lists."""

    name: str
    module: str
    functions: list[CapabilityFunction]
    entry: str | None = None
    declarations: str | None = None
    wit: str | None = None


@dataclass(frozen=True)
class FoundFunctions:
    """Functions found by a search."""

    items: list[CapabilityFunction]


@dataclass(frozen=True)
class NewProgram:
    """Program version to publish."""

    name: str
    source: str
    description: str | None = None


@dataclass(frozen=True)
class Program:
    """Program; ``version`` is the number of its newest version."""

    name: str
    version: int
    created_at: str
    updated_at: str
    description: str | None = None


@dataclass(frozen=True)
class ProgramVersion:
    """Version of a program; ``source`` is None in lists."""

    name: str
    version: int
    hash: str
    created_at: str
    source: str | None = None


@dataclass(frozen=True)
class Me:
    """Caller of a request."""

    name: str
    operator: bool
    may_approve: bool
    version: str


@dataclass(frozen=True)
class RunSource:
    """Source of a run, as its author wrote it."""

    name: str
    source: str
    modules: list[str]
    input: Any = None


@dataclass(frozen=True)
class NewReplay:
    """Replay of a run; with ``source``, of a changed program."""

    source: str | None = None


@dataclass(frozen=True)
class RecordedCall:
    """Call of a replay, or of the recorded run."""

    call: int
    function: str
    function_id: str
    params: Any


@dataclass(frozen=True)
class ReplayDifference:
    """First step of a replay that differs."""

    recorded: str
    replayed: str
    places: list[str]
    expected: RecordedCall | None = None
    seen: RecordedCall | None = None


@dataclass(frozen=True)
class Replay:
    """Result of a replay; ``text`` is for people."""

    same: bool
    calls: int
    text: str
    console: list[ConsoleLine]
    difference: ReplayDifference | None = None
    value: Any = None
    has_value: bool | None = None
    error: RunError | None = None


@dataclass(frozen=True)
class NewCheck:
    """Program to check."""

    source: str
    name: str | None = None


@dataclass(frozen=True)
class Diagnostic:
    """Mistake of a program, with its place."""

    line: int
    column: int
    severity: Severity
    code: str
    message: str
    hint: str | None = None


@dataclass(frozen=True)
class CheckedTypes:
    """Result of the type check."""

    checked: bool
    reason: str | None = None


@dataclass(frozen=True)
class Check:
    """Findings about a program; ``manifest`` has the functions that it can call."""

    diagnostics: list[Diagnostic]
    more: int
    types: CheckedTypes
    manifest: dict[str, Any] | None = None


@dataclass(frozen=True)
class NewExplanation:
    """Function to explain; with ``params``, one call of it."""

    function: str
    params: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class ExplainedRule:
    """Condition on calls of a function."""

    text: str
    place: str
    passes: bool | None = None
    why: str | None = None


@dataclass(frozen=True)
class Explanation:
    """Decision of the policy about a function, or about one call of it."""

    function: str
    function_id: str
    decision: PolicyDecision
    text: str
    rules: list[ExplainedRule]
    because: str | None = None


@dataclass(frozen=True)
class AuditEntry:
    """Entry of the audit log."""

    seq: int
    time: str
    entry: dict[str, Any]


@dataclass(frozen=True)
class AuditVerification:
    """Result of verifying the audit log. The numbers are missing if it was changed."""

    ok: bool
    verdict: AuditVerdict
    message: str | None = None
    line: int | None = None
    entries: int | None = None
    files: int | None = None
    gaps: int | None = None
    lost: int | None = None
    recovered: int | None = None
    removed: int | None = None
    unwritten: int | None = None
    waiting: int | None = None


@dataclass(frozen=True)
class ServerChange:
    """Change of a tool, or of something of the server as a whole."""

    kind: ServerChangeKind
    name: str
    text: str
    breaking: bool
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True)
class Server:
    """MCP server of the configuration, as it was last seen. ``changes`` and ``offer`` are for the operator alone."""

    name: str
    spaces: list[str]
    transport: str
    status: ServerStatus
    tools: int | None = None
    checked_at: str | None = None
    error: str | None = None
    offer: str | None = None
    changes: list[ServerChange] | None = None


@dataclass(frozen=True)
class NewAcceptance:
    """Acceptance of a server; with ``offer``, only of what was reviewed."""

    offer: str | None = None


@dataclass(frozen=True)
class Fault:
    """Fault in one part of a request: ``pointer`` into the body, or the name of a query ``parameter`` or a ``header``."""

    detail: str
    pointer: str | None = None
    parameter: str | None = None
    header: str | None = None
