"""Anthropic's SDK for Python."""

import anthropic
from check import INPUT_TOKENS, OUTPUT_TOKENS, SERVER, TOKEN, WEATHER, check, end, raises

client = anthropic.Anthropic(base_url=SERVER, api_key=TOKEN)
tools = [{"name": "get_weather", "description": "Weather of a city", "input_schema": WEATHER}]


def request(text, **more):
    return {"model": "planner", "max_tokens": 1000, "messages": [{"role": "user", "content": text}], **more}


def text_of(message):
    return " / ".join(block.text for block in message.content if block.type == "text")


@check("models")
def _():
    names = sorted(model.id for model in client.models.list())
    assert names == ["bare", "coder", "planner"], names
    return names


@check("a message; the agent calls its own function")
def _():
    message = client.messages.create(**request("[case:own] Which train?"))
    assert "IC-707" in text_of(message) and message.stop_reason == "end_turn", message
    assert (message.usage.input_tokens, message.usage.output_tokens) == (2 * INPUT_TOKENS, 2 * OUTPUT_TOKENS), message.usage
    return text_of(message)


@check("a token as bearer")
def _():
    bearer = anthropic.Anthropic(base_url=SERVER, auth_token=TOKEN)
    return text_of(bearer.messages.create(**request("[case:plain]")))


@check("stream")
def _():
    with client.messages.stream(**request("[case:own] Which train?")) as stream:
        pieces = list(stream.text_stream)
        message = stream.get_final_message()
    assert len(pieces) > 3 and len(message.content) == 2 and "IC-707" in text_of(message), message
    assert message.usage.output_tokens == 2 * OUTPUT_TOKENS, message.usage
    return f"{len(pieces)} pieces: {text_of(message)}"


@check("tools of the caller, in a stream")
def _():
    with client.messages.stream(**request("[case:both] Train and weather?", tools=tools)) as stream:
        first = stream.get_final_message()
    use = first.content[-1]
    assert first.stop_reason == "tool_use" and use.input == {"city": "Paris"}, first
    messages = [
        {"role": "user", "content": "[case:both] Train and weather?"},
        {"role": "assistant", "content": first.content},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": use.id, "content": "rain-17"}]},
    ]
    second = client.messages.create(**request("", messages=messages, tools=tools))
    assert "rain-17" in text_of(second), second
    return text_of(second)


@check("tools of the caller, with the runner of the SDK")
def _():
    asked = []

    @anthropic.beta_tool
    def get_weather(city: str) -> str:
        """Weather of a city."""
        asked.append(city)
        return "snow-5"

    message = client.beta.messages.tool_runner(**request("[case:weather]", tools=[get_weather])).until_done()
    assert "snow-5" in text_of(message) and asked == ["Paris"], (message, asked)
    return text_of(message)


@check("tokens are counted")
def _():
    def count(text, **more):
        return client.messages.count_tokens(model="bare", messages=[{"role": "user", "content": text}], **more).input_tokens

    short, long, with_tools = count("hi"), count("many words " * 200), count("hi", tools=tools)
    assert 0 < short < with_tools and long > short + 200, (short, long, with_tools)
    return f"{short}, {long}, {with_tools}"


@check("errors are those of the SDK")
def _():
    def ask(asking=client, **more):
        return asking.messages.create(**request("[case:plain]", **more))

    raises(anthropic.AuthenticationError, lambda: ask(client.with_options(api_key="wrong-token-of-a-client")))
    raises(anthropic.NotFoundError, lambda: ask(model="nobody"))
    raises(anthropic.BadRequestError, lambda: ask(tools=[{"type": "web_search_20250305", "name": "web_search"}]))
    return raises(anthropic.InternalServerError, lambda: ask(messages=[{"role": "user", "content": "[case:fail]"}]))


end()
