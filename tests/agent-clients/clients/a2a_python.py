"""A2A's SDK for Python, over JSON-RPC and over HTTP+JSON."""

import asyncio
import uuid

import httpx
from a2a.client import ClientConfig, ClientFactory
from a2a.types import a2a_pb2 as a2a
from a2a.utils.constants import TransportProtocol
from a2a.utils.errors import A2AError
from check import SERVER, TOKEN, end, failed, passed

COMPLETED = a2a.TASK_STATE_COMPLETED
INPUT_REQUIRED = a2a.TASK_STATE_INPUT_REQUIRED


def message(text, **more):
    parts = [a2a.Part(text=text)]
    return a2a.SendMessageRequest(message=a2a.Message(message_id=str(uuid.uuid4()), role=a2a.ROLE_USER, parts=parts, **more))


def answer(task):
    return "".join(part.text for artifact in task.artifacts for part in artifact.parts)


async def last(events):
    """The task of a request without a stream."""
    return [event async for event in events][-1].task


class Checks:
    """Checks of one client without streams and one with."""

    def __init__(self, binding, whole, streaming):
        self.binding, self.whole, self.streaming = binding, whole, streaming

    async def check(self, name, body):
        name = f"{self.binding}: {name}"
        try:
            passed(name, await asyncio.wait_for(body(), 60))
        except Exception:
            failed(name)

    async def message(self):
        task = await last(self.whole.send_message(message("[case:own] Which train?")))
        assert task.status.state == COMPLETED and "IC-707" in answer(task), task
        return answer(task)

    async def stream(self):
        kinds, text, state = [], "", None
        async for event in self.streaming.send_message(message("[case:own] Which train?")):
            kinds.append(event.WhichOneof("payload"))
            if event.HasField("artifact_update"):
                update = event.artifact_update
                piece = "".join(part.text for part in update.artifact.parts)
                text = text + piece if update.append else piece
            if event.HasField("status_update"):
                state = event.status_update.status.state
        assert kinds[0] == "task" and state == COMPLETED, (kinds, state)
        assert text.startswith("The tools returned:") and "IC-707" in text, text
        return f"{len(kinds)} events: {text}"

    async def context(self):
        first = await last(self.whole.send_message(message("[case:plain] My name is Ada.")))
        second = await last(self.whole.send_message(message("[case:history]", context_id=first.context_id)))
        assert second.context_id == first.context_id and second.id != first.id, (first, second)
        assert "My name is Ada." in answer(second), second
        return answer(second)

    async def approval(self):
        waiting = await last(self.whole.send_message(message("[case:book] Book a seat.")))
        assert waiting.status.state == INPUT_REQUIRED, waiting
        assert "book" in str(waiting.status.message), waiting
        more = {"task_id": waiting.id, "context_id": waiting.context_id}
        done = await last(self.whole.send_message(message("approve", **more)))
        # The decision may be answered before the task is over.
        while done.status.state not in (COMPLETED, a2a.TASK_STATE_FAILED):
            await asyncio.sleep(0.2)
            done = await self.whole.get_task(a2a.GetTaskRequest(id=waiting.id))
        assert done.status.state == COMPLETED and "IC-7/42" in answer(done), done
        return answer(done)

    async def denial(self):
        states, text = [], ""
        async for event in self.streaming.send_message(message("[case:book] Book a seat.")):
            if event.HasField("task"):
                task = event.task
            if event.HasField("status_update"):
                states.append(event.status_update.status.state)
        assert states[-1] == INPUT_REQUIRED, states
        denied = message("deny: too expensive", task_id=task.id, context_id=task.context_id)
        async for event in self.streaming.send_message(denied):
            if event.HasField("artifact_update"):
                text += "".join(part.text for part in event.artifact_update.artifact.parts)
        assert "too expensive" in text and "IC-7/42" not in text, text
        return text

    async def tasks(self):
        task = await last(self.whole.send_message(message("[case:plain]")))
        same = await self.whole.get_task(a2a.GetTaskRequest(id=task.id))
        assert same.id == task.id and len(same.history) >= 1, same
        listed = await self.whole.list_tasks(a2a.ListTasksRequest(context_id=task.context_id))
        assert [known.id for known in listed.tasks] == [task.id], listed
        return f"{len(same.history)} messages"

    async def cancel(self):
        waiting = await last(self.whole.send_message(message("[case:book] Book a seat.")))
        cancelled = await self.whole.cancel_task(a2a.CancelTaskRequest(id=waiting.id))
        while cancelled.status.state == a2a.TASK_STATE_WORKING:
            await asyncio.sleep(0.2)
            cancelled = await self.whole.get_task(a2a.GetTaskRequest(id=waiting.id))
        assert cancelled.status.state == a2a.TASK_STATE_CANCELED, cancelled
        return "cancelled"

    async def errors(self):
        kinds = []
        for request in (
            lambda: self.whole.get_task(a2a.GetTaskRequest(id="task_of_nobody")),
            lambda: last(self.whole.send_message(message("x", task_id="task_of_nobody"))),
        ):
            try:
                await request()
            except A2AError as error:
                kinds.append(type(error).__name__)
        assert kinds == ["TaskNotFoundError", "TaskNotFoundError"], kinds
        return kinds

    async def run(self):
        await self.check("a message; the agent calls its own function", self.message)
        await self.check("stream", self.stream)
        await self.check("a context remembers", self.context)
        await self.check("a call is approved", self.approval)
        await self.check("a call is denied, in a stream", self.denial)
        await self.check("tasks are read and listed", self.tasks)
        await self.check("a task is cancelled", self.cancel)
        await self.check("errors are those of the SDK", self.errors)


async def main():
    for binding in (TransportProtocol.JSONRPC, TransportProtocol.HTTP_JSON):
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as http:

            async def create(streaming):
                config = ClientConfig(
                    streaming=streaming, httpx_client=http, supported_protocol_bindings=[binding], use_client_preference=True
                )
                return await ClientFactory(config).create_from_url(f"{SERVER}/a2a/planner")

            await Checks(str(getattr(binding, "value", binding)), await create(False), await create(True)).run()


asyncio.run(main())
end()
