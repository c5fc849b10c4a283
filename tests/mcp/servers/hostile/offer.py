"""The tools that are offered, and how one is."""
from wire import Failure

tools: "dict[str, dict]" = {}
functions = {}


def tool(description, **properties):
    """Registers a function of (call id, arguments, _meta) as a tool of the same name."""

    def register(function):
        schema = {"type": "object", "properties": {name: {"type": kind} for name, kind in properties.items()}}
        tools[function.__name__] = {"name": function.__name__, "description": description, "inputSchema": schema}
        functions[function.__name__] = function
        return function

    return register


def call(identity, params):
    name = params.get("name")
    if name not in tools and not str(name).startswith("page_"):
        raise Failure(-32602, f"Unknown tool: {name}")
    # What is listed and has no function of its own echoes.
    function = functions.get(name, functions["echo"])
    return function(identity, params.get("arguments") or {}, params.get("_meta") or {})
