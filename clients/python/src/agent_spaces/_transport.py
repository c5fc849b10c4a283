"""Requests with httpx: authorization, timeouts, retries and problem documents. What both transports decide is in `_Settings`."""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

import anyio
import httpx

from ._calls import Answer, Call
from ._errors import AgentSpacesError, ApiError, ConnectionFailed
from ._export import Export
from ._follow import Follower
from ._paths import base_url
from ._retry import delay_before, may_repeat, parse_retry_after
from ._types import AuditEntry, Event, Fault, RunError
from ._wire import load

T = TypeVar("T")

#: Largest answer, in bytes: eight times the largest file, above any page.
MAX_BODY = 64 * 1024 * 1024


def _fault(found: dict[str, Any]) -> Fault:
    """Return a fault of a problem document. A proxy may answer with anything."""
    places = {name: str(found[name]) for name in ("pointer", "parameter", "header") if found.get(name) is not None}
    return Fault(detail=str(found.get("detail", "")), **places)


class _Settings:
    """Decisions that need no connection."""

    def __init__(self, url: str, token: str | None, timeout: float, retries: int, stream_retries: int, stream_silence: float) -> None:
        # httpx would print the token in its own error.
        if token is not None and not re.fullmatch(r"[\x21-\x7e]+", token):
            raise ValueError("token is empty or has characters that a header cannot contain")
        self._url = base_url(url)
        self._token = token
        self._timeout = timeout
        self._retries = retries
        self.stream_retries = stream_retries
        self._silence = stream_silence

    def _request(self, call: Call[T], timeout: float | None, read_timeout: float | None = None) -> dict[str, Any]:
        headers = {"Accept": "application/json"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        headers.update({name: value for name, value in call.headers.items() if value is not None})
        content = call.content
        if call.json is not None:
            headers["Content-Type"] = "application/json"
            content = json.dumps(call.json, allow_nan=False).encode()
        most = self._limit(call, timeout)
        return {
            "method": call.method,
            "url": self._url + call.path,
            "params": call.parameters() or None,
            "headers": headers,
            "content": content,
            "timeout": httpx.Timeout(most, read=read_timeout or most),
            # A redirect is answered as an error: the token is for this server only.
            "follow_redirects": False,
        }

    def _limit(self, call: Call[T], timeout: float | None) -> float:
        return (self._timeout if timeout is None else timeout) + call.wait

    def _problem(self, answer: Answer) -> ApiError:
        problem: Any = None
        if re.match(r"application/(problem\+)?json\b", answer.headers.get("content-type", "")):
            try:
                # A server or proxy may repeat the request. After parsing: JSON may escape characters of the token.
                problem = self._redacted(json.loads(answer.body.decode(errors="replace")))
            except ValueError:
                pass  # Not the server's document: its status still says what happened.
        problem = problem if isinstance(problem, dict) else {}
        listed = problem.get("errors")
        faults = [_fault(one) for one in (listed if isinstance(listed, list) else []) if isinstance(one, dict)]
        error = None
        if isinstance(problem.get("error"), dict):
            try:
                error = load(RunError, problem["error"])
            except ConnectionFailed:
                pass  # Not the server's document either.
        return ApiError(answer.status, problem, faults, error, parse_retry_after(answer.headers.get("retry-after")))

    def _redacted(self, value: Any) -> Any:
        """Return a value of JSON without the token."""
        if isinstance(value, str):
            return value if self._token is None else value.replace(self._token, "[redacted]")
        if isinstance(value, list):
            return [self._redacted(one) for one in value]
        if isinstance(value, dict):
            return {key: self._redacted(one) for key, one in value.items()}
        return value

    def _judge(self, call: Call[T], answer: Answer, attempt: int) -> tuple[AgentSpacesError | None, float | None]:
        """Return the failure of an answer, if it is one, and the wait before the next attempt, if there is one."""
        if answer.status < 300 or (answer.status == 404 and attempt > 0 and call.gone_is_done):
            return None, None
        error = self._problem(answer)
        repeat = attempt < self._retries and may_repeat(error.status, call.repeatable)
        return error, delay_before(attempt, error.retry_after) if repeat else None

    def _judge_cut(self, call: Call[T], attempt: int) -> float | None:
        return delay_before(attempt) if attempt < self._retries and call.repeatable else None


    def _judge_export(self, export: Export, failure: AgentSpacesError, attempt: int) -> float:
        """Return the wait before an export is opened again, or raise if it is not."""
        wait = None
        if not export.begun and attempt < self._retries:
            if not isinstance(failure, ApiError):
                wait = delay_before(attempt)
            elif may_repeat(failure.status, True):
                wait = delay_before(attempt, failure.retry_after)
        if wait is None:
            raise failure
        return wait


class _Body:
    """Body that is being read, bounded in size and time."""

    def __init__(self, limit: float) -> None:
        self._parts: list[bytes] = []
        self._length = 0
        self._limit = limit
        self._deadline = time.monotonic() + limit

    def add(self, chunk: bytes) -> None:
        self._parts.append(chunk)
        self._length += len(chunk)
        if self._length > MAX_BODY:
            raise ConnectionFailed(f"answer is larger than {MAX_BODY} bytes")
        if time.monotonic() > self._deadline:
            raise ConnectionFailed(f"no answer within {self._limit:g} s")

    def answer(self, response: httpx.Response) -> Answer:
        return Answer(response.status_code, response.headers, b"".join(self._parts))


def _cut(error: Exception) -> ConnectionFailed:
    if isinstance(error, ConnectionFailed):
        return error
    if isinstance(error, httpx.TimeoutException):
        return ConnectionFailed(f"no answer in time ({type(error).__name__})")
    return ConnectionFailed(f"connection failed: {error}" if str(error) else f"connection failed: {type(error).__name__}")


class Transport(_Settings):
    """Blocking requests."""

    def __init__(
        self, http: httpx.Client, url: str, token: str | None, timeout: float, retries: int, stream_retries: int, stream_silence: float
    ) -> None:
        super().__init__(url, token, timeout, retries, stream_retries, stream_silence)
        self.http = http

    def send(self, call: Call[T], timeout: float | None = None) -> T:
        """Send a request, with retries."""
        attempt = 0
        while True:
            failure: AgentSpacesError | None = None
            try:
                answer = self._attempt(call, timeout)
            except (httpx.TransportError, httpx.DecodingError, ConnectionFailed) as error:
                failure = _cut(error)
                wait = self._judge_cut(call, attempt)
            else:
                failure, wait = self._judge(call, answer, attempt)
                if failure is None:
                    return call.read(answer)
            # Outside of `except`: the error of httpx has the request, with its token.
            if wait is None:
                raise failure
            time.sleep(wait)
            attempt += 1

    def _attempt(self, call: Call[T], timeout: float | None) -> Answer:
        body = _Body(self._limit(call, timeout))
        with self.http.stream(**self._request(call, timeout)) as response:
            for chunk in response.iter_bytes():
                body.add(chunk)
            return body.answer(response)

    @contextmanager
    def _stream(self, call: Call[None], timeout: float | None) -> Iterator[httpx.Response]:
        with self.http.stream(**self._request(call, timeout, self._silence)) as response:
            if response.status_code != 200:
                body = _Body(self._limit(call, timeout))
                for chunk in response.iter_bytes():
                    body.add(chunk)
                raise self._problem(body.answer(response))
            yield response

    def follow(self, follower: Follower, timeout: float | None = None) -> Iterator[Event]:
        """Return the events of a stream, over as many connections as it takes."""
        while not follower.done:
            failure: AgentSpacesError | None = None
            try:
                with self._stream(follower.connect(), timeout) as response:
                    for chunk in response.iter_bytes():
                        yield from follower.feed(chunk)
                        if follower.done:
                            return
            except ApiError as error:
                failure = error
            except (httpx.TransportError, httpx.DecodingError, ConnectionFailed) as error:
                failure = _cut(error)
            time.sleep(follower.closed(failure))

    def export(self, export: Export, timeout: float | None = None) -> Iterator[AuditEntry]:
        """Return the entries of an export, over as many requests as it takes."""
        attempt = 0
        while not export.done:
            failure: AgentSpacesError | None = None
            try:
                with self._stream(export.connect(), timeout) as response:
                    for chunk in response.iter_bytes():
                        yield from export.feed(chunk)
                export.ended()
                attempt = 0
            except ApiError as error:
                failure = error
            except (httpx.TransportError, httpx.DecodingError, ConnectionFailed) as error:
                failure = _cut(error)
            if failure is not None:
                time.sleep(self._judge_export(export, failure, attempt))
                attempt += 1


class AsyncTransport(_Settings):
    """Asynchronous requests."""

    def __init__(
        self, http: httpx.AsyncClient, url: str, token: str | None, timeout: float, retries: int, stream_retries: int, stream_silence: float
    ) -> None:
        super().__init__(url, token, timeout, retries, stream_retries, stream_silence)
        self.http = http

    async def send(self, call: Call[T], timeout: float | None = None) -> T:
        """Send a request, with retries."""
        attempt = 0
        while True:
            failure: AgentSpacesError | None = None
            try:
                answer = await self._attempt(call, timeout)
            except (httpx.TransportError, httpx.DecodingError, ConnectionFailed) as error:
                failure = _cut(error)
                wait = self._judge_cut(call, attempt)
            else:
                failure, wait = self._judge(call, answer, attempt)
                if failure is None:
                    return call.read(answer)
            # Outside of `except`: the error of httpx has the request, with its token.
            if wait is None:
                raise failure
            await anyio.sleep(wait)
            attempt += 1

    async def _attempt(self, call: Call[T], timeout: float | None) -> Answer:
        body = _Body(self._limit(call, timeout))
        async with self.http.stream(**self._request(call, timeout)) as response:
            async for chunk in response.aiter_bytes():
                body.add(chunk)
            return body.answer(response)

    @asynccontextmanager
    async def _stream(self, call: Call[None], timeout: float | None) -> AsyncIterator[httpx.Response]:
        async with self.http.stream(**self._request(call, timeout, self._silence)) as response:
            if response.status_code != 200:
                body = _Body(self._limit(call, timeout))
                async for chunk in response.aiter_bytes():
                    body.add(chunk)
                raise self._problem(body.answer(response))
            yield response

    async def follow(self, follower: Follower, timeout: float | None = None) -> AsyncIterator[Event]:
        """Return the events of a stream, over as many connections as it takes."""
        while not follower.done:
            failure: AgentSpacesError | None = None
            try:
                async with self._stream(follower.connect(), timeout) as response:
                    async for chunk in response.aiter_bytes():
                        for event in follower.feed(chunk):
                            yield event
                        if follower.done:
                            return
            except ApiError as error:
                failure = error
            except (httpx.TransportError, httpx.DecodingError, ConnectionFailed) as error:
                failure = _cut(error)
            await anyio.sleep(follower.closed(failure))

    async def export(self, export: Export, timeout: float | None = None) -> AsyncIterator[AuditEntry]:
        """Return the entries of an export, over as many requests as it takes."""
        attempt = 0
        while not export.done:
            failure: AgentSpacesError | None = None
            try:
                async with self._stream(export.connect(), timeout) as response:
                    async for chunk in response.aiter_bytes():
                        for entry in export.feed(chunk):
                            yield entry
                export.ended()
                attempt = 0
            except ApiError as error:
                failure = error
            except (httpx.TransportError, httpx.DecodingError, ConnectionFailed) as error:
                failure = _cut(error)
            if failure is not None:
                await anyio.sleep(self._judge_export(export, failure, attempt))
                attempt += 1
