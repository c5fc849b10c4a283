"""OpenAI's SDK for Python."""

import asyncio
import json

import openai
from check import INPUT_TOKENS, OUTPUT_TOKENS, SERVER, TOKEN, WEATHER, check, end, raises
from pydantic import BaseModel

client = openai.OpenAI(base_url=f"{SERVER}/v1", api_key=TOKEN)
tools = [{"type": "function", "function": {"name": "get_weather", "description": "Weather of a city", "parameters": WEATHER}}]


def user(text):
    return [{"role": "user", "content": text}]


class Train(BaseModel):
    train: str
    hour: int


@check("models")
def _():
    names = sorted(model.id for model in client.models.list())
    assert names == ["bare", "coder", "planner"], names
    return names


@check("chat; the agent calls its own function")
def _():
    completion = client.chat.completions.create(model="planner", messages=user("[case:own] Which train?"))
    choice = completion.choices[0]
    assert "IC-707" in choice.message.content and choice.finish_reason == "stop", completion
    assert completion.usage.total_tokens == 2 * (INPUT_TOKENS + OUTPUT_TOKENS), completion.usage
    return choice.message.content


@check("stream")
def _():
    stream = client.chat.completions.create(
        model="planner", messages=user("[case:own] Which train?"), stream=True, stream_options={"include_usage": True}
    )
    pieces, usage = [], None
    for chunk in stream:
        if chunk.choices and chunk.choices[0].delta.content:
            pieces.append(chunk.choices[0].delta.content)
        usage = chunk.usage or usage
    assert len(pieces) > 3 and "IC-707" in "".join(pieces), pieces
    assert usage.completion_tokens == 2 * OUTPUT_TOKENS, usage
    return f"{len(pieces)} pieces: {''.join(pieces)}"


@check("questions side by side")
def _():
    async def ask():
        async with openai.AsyncOpenAI(base_url=f"{SERVER}/v1", api_key=TOKEN) as asking:
            create = asking.chat.completions.create
            return await asyncio.gather(*(create(model="planner", messages=user("[case:own]")) for _ in range(12)))

    texts = {completion.choices[0].message.content for completion in asyncio.run(ask())}
    assert len(texts) == 1 and "IC-707" in texts.pop(), texts
    return "12 answers"


@check("tools of the caller")
def _():
    messages = user("[case:weather] How is it in Paris?")
    choice = client.chat.completions.create(model="planner", messages=messages, tools=tools).choices[0]
    assert choice.finish_reason == "tool_calls", choice
    call = choice.message.tool_calls[0]
    assert json.loads(call.function.arguments) == {"city": "Paris"}, call
    messages += [choice.message, {"role": "tool", "tool_call_id": call.id, "content": "rain-17"}]
    text = client.chat.completions.create(model="planner", messages=messages, tools=tools).choices[0].message.content
    assert "rain-17" in text, text
    return text


@check("tools of the caller in a stream, after a tool of the agent")
def _():
    with client.chat.completions.stream(model="planner", messages=user("[case:both]"), tools=tools) as stream:
        kinds = {event.type for event in stream}
        choice = stream.get_final_completion().choices[0]
    assert choice.finish_reason == "tool_calls" and "tool_calls.function.arguments.done" in kinds, (choice, kinds)
    return choice.message.tool_calls[0].function


@check("a schema of the answer")
def _():
    completion = client.chat.completions.parse(model="bare", messages=user("[case:json]"), response_format=Train)
    assert completion.choices[0].message.parsed == Train(train="IC-7", hour=7), completion
    return completion.choices[0].message.parsed


@check("errors are those of the SDK")
def _():
    def ask(asking=client, **more):
        return asking.chat.completions.create(**{"model": "bare", "messages": user("[case:plain]"), **more})

    raises(openai.AuthenticationError, lambda: ask(client.with_options(api_key="wrong-token-of-a-client")))
    error = raises(openai.NotFoundError, lambda: ask(model="nobody"))
    assert error.code == "model_not_found", error
    raises(openai.BadRequestError, lambda: ask(n=3))
    error = raises(openai.InternalServerError, lambda: ask(messages=user("[case:fail]")))
    assert error.code == "model_failed", error
    return error


end()
