"""Client for the REST API of Agent Spaces.

Layout: ``_blocking`` and ``_async`` the same surface twice, one file per resource. What both share does no input or output: ``_calls`` one
function per operation, ``_follow`` event streams that resume, ``_sse`` their parser, ``_retry`` when a request is repeated, ``_paths`` addresses,
``_wire`` JSON to dataclasses and back, ``_types`` the dataclasses. ``_transport`` sends requests with httpx. ``_errors``: all errors.
"""

from ._async.client import AsyncAgentSpaces
from ._async.items import AsyncItems
from ._async.runs import AsyncRun
from ._async.spaces import AsyncSpace
from ._blocking.client import AgentSpaces
from ._blocking.items import Items
from ._blocking.runs import Run
from ._blocking.spaces import Space
from ._errors import AgentSpacesError, ApiError, ConnectionFailed, RunFailed
from ._types import (
    Approval,
    AuditEntry,
    Capability,
    CapabilityFunction,
    Cause,
    ConsoleLine,
    Decision,
    DoubtfulCall,
    Event,
    EventPage,
    Fault,
    File,
    FileContent,
    FileState,
    Limits,
    Location,
    NewWebhook,
    Parent,
    Program,
    ProgramVersion,
    RunError,
    RunInfo,
    SpaceInfo,
    Usage,
    Webhook,
    WrittenFile,
)

__all__ = [
    "AgentSpaces",
    "AgentSpacesError",
    "ApiError",
    "Approval",
    "AsyncAgentSpaces",
    "AsyncItems",
    "AsyncRun",
    "AsyncSpace",
    "AuditEntry",
    "Capability",
    "CapabilityFunction",
    "Cause",
    "ConnectionFailed",
    "ConsoleLine",
    "Decision",
    "DoubtfulCall",
    "Event",
    "EventPage",
    "Fault",
    "File",
    "FileContent",
    "FileState",
    "Items",
    "Limits",
    "Location",
    "NewWebhook",
    "Parent",
    "Program",
    "ProgramVersion",
    "Run",
    "RunError",
    "RunFailed",
    "RunInfo",
    "Space",
    "SpaceInfo",
    "Usage",
    "Webhook",
    "WrittenFile",
]
