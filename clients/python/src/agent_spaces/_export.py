"""Exports of the audit log: lines of JSON, over as many requests as it takes. Shared by both clients."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from . import _calls as calls
from ._errors import ConnectionFailed
from ._types import AuditEntry
from ._wire import load

#: Longest line in bytes: several times the largest entry.
MAX_LINE = 64 * 1024 * 1024


class Export:
    """State of one export over its requests."""

    def __init__(self, query: Mapping[str, calls.QueryValue]) -> None:
        self._query = query
        self._cursor: str | None = None
        self._next: str | None = None
        # Parts of the line that has not ended yet. They are joined once, so that a long line costs no more than its length.
        self._line: list[bytes] = []
        self._length = 0
        #: True if a part of the current answer was received: it cannot be asked for again.
        self.begun = False
        #: True when all entries are there.
        self.done = False

    def connect(self) -> calls.Call[None]:
        """Return the next request."""
        self._next = None
        self._line = []
        self._length = 0
        self.begun = False
        return calls.export_audit(self._query, self._cursor)

    def feed(self, chunk: bytes) -> Iterator[AuditEntry]:
        """Return the entries that a chunk completes."""
        self.begun = self.begun or bool(chunk)
        *whole, rest = chunk.split(b"\n")
        for part in whole:
            line = b"".join([*self._line, part])
            self._line = []
            self._length = 0
            if line:
                entry = self._read(line)
                if entry is not None:
                    yield entry
        if rest:
            self._line.append(rest)
            self._length += len(rest)
            if self._length > MAX_LINE:
                raise ConnectionFailed(f"line is longer than {MAX_LINE} bytes")

    def ended(self) -> None:
        """End an answer. Sets `done` unless another request follows."""
        if self._line:
            raise ConnectionFailed("export was cut")
        self._cursor = self._next
        self.done = self._next is None

    def _read(self, line: bytes) -> AuditEntry | None:
        found: Any = None
        try:
            found = json.loads(line)
        except ValueError:
            pass
        if not isinstance(found, dict):
            raise ConnectionFailed("line is no JSON object")
        if "next" not in found:
            return load(AuditEntry, found)
        if not isinstance(found["next"], str) or found["next"] == self._cursor:
            raise ConnectionFailed("the server repeats an export")
        self._next = found["next"]
        return None
