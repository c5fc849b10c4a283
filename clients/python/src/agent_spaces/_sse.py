"""Parser of server-sent events, as the HTML standard defines them."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ._errors import ConnectionFailed

#: Longest message in characters: several times the largest event, which has one call's arguments.
MAX_MESSAGE = 64 * 1024 * 1024

_ENDS = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class Message:
    """One message of a stream; ``id`` is the last one of the stream so far."""

    event: str
    data: str
    id: str | None


class Parser:
    """Incremental parser: feed it chunks of any size. A message without its blank line at the end of the stream was cut, and is dropped."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._first = True
        # Parts of the line that has not ended yet. They are joined once, so that a long line costs no more than its length.
        self._line: list[str] = []
        self._line_length = 0
        self._data: list[str] = []
        self._data_length = 0
        self._event = ""
        self._id: str | None = None
        # True if the previous chunk ended with CR: a following LF belongs to it.
        self._after_cr = False

    def push(self, chunk: bytes) -> Iterator[Message]:
        """Return the messages that this chunk completes."""
        text = self._decoder.decode(chunk)
        if not text:
            return
        if self._first:
            self._first = False
            text = text.removeprefix("\ufeff")
        start = 1 if self._after_cr and text.startswith("\n") else 0
        if text:
            self._after_cr = text.endswith("\r")
        for end in _ENDS.finditer(text, start):
            self._keep(text[start : end.start()])
            start = end.end()
            line = "".join(self._line)
            self._line = []
            self._line_length = 0
            message = self._take(line)
            if message is not None:
                yield message
        self._keep(text[start:])

    def _keep(self, part: str) -> None:
        if not part:
            return
        self._line.append(part)
        self._line_length += len(part)
        if self._line_length + self._data_length > MAX_MESSAGE:
            raise ConnectionFailed(f"event is longer than {MAX_MESSAGE} characters")

    def _take(self, line: str) -> Message | None:
        if not line:
            return self._dispatch()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        # An empty field name is a comment; `retry` is not used, because the client has its own backoff.
        if name == "data":
            self._data.append(value)
            self._data_length += len(value)
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._id = value
        return None

    def _dispatch(self) -> Message | None:
        message = Message(self._event or "message", "\n".join(self._data), self._id) if self._data else None
        self._data = []
        self._data_length = 0
        self._event = ""
        return message
