"""Runs the same test with both clients: the asynchronous one is used through a bridge that blocks."""

import asyncio
import inspect
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from agent_spaces import AgentSpaces, AsyncAgentSpaces  # noqa: E402


class Bridge:
    def __init__(self, loop, target):
        self._loop, self._target = loop, target

    def __getattr__(self, name):
        return adapt(self._loop, getattr(self._target, name))

    def __iter__(self):
        return iterate(self._loop, self._target)


def iterate(loop, target):
    iterator = target.__aiter__()
    try:
        while True:
            try:
                item = loop.run_until_complete(iterator.__anext__())
            except StopAsyncIteration:
                return
            yield adapt(loop, item)
    finally:
        loop.run_until_complete(iterator.aclose())


def adapt(loop, value):
    if inspect.iscoroutine(value):
        return adapt(loop, loop.run_until_complete(value))
    if inspect.isasyncgen(value):
        return iterate(loop, value)
    if inspect.ismethod(value):
        return lambda *args, **more: adapt(loop, value(*args, **more))
    if isinstance(value, list):
        return [adapt(loop, one) for one in value]
    return Bridge(loop, value) if type(value).__module__.startswith("agent_spaces._async.") else value


class Both:
    """Base of tests that run twice: see `both`."""

    asynchronous = False

    @classmethod
    def connect(cls, url, token=None, **more):
        if not cls.asynchronous:
            client = AgentSpaces(url, token, **more)
            cls.addClassCleanup(client.close)
            return client
        client = AsyncAgentSpaces(url, token, **more)
        loop = asyncio.new_event_loop()
        cls.addClassCleanup(loop.close)
        # Generators that were left early are closed by tasks of the loop.
        cls.addClassCleanup(lambda: loop.run_until_complete(asyncio.sleep(0.01)))
        cls.addClassCleanup(lambda: loop.run_until_complete(client.close()))
        return Bridge(loop, client)


def both(cls):
    """Add a twin of a test class, for the asynchronous client."""
    twin = type(f"Async{cls.__name__}", (cls,), {"asynchronous": True, "__module__": cls.__module__})
    sys.modules[cls.__module__].__dict__[twin.__name__] = twin
    return cls
