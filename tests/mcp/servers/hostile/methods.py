"""All requests but calls of tools."""
import os

from flags import flags
from honest import RESOURCES
from offer import tools
from wire import NOTHING, Failure

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
PROMPT = {"name": "greet", "description": "Greets.", "arguments": [{"name": "who", "required": True}]}


def initialize(params):
    if flags.no_start:
        return NOTHING
    asked = params.get("protocolVersion")
    version = flags.protocol or (asked if asked in VERSIONS else VERSIONS[0])
    capabilities = {"tools": {"listChanged": True}, "resources": {}, "prompts": {}, "logging": {}}
    return {"protocolVersion": version, "capabilities": capabilities, "serverInfo": {"name": "hostile", "version": "1"},
            **({"instructions": flags.instructions} if flags.instructions else {})}


def discover(_params):
    if flags.discover == "exit":
        os._exit(1)
    if flags.discover == "error":
        raise Failure(-32601, "Method not found")
    return {"silent": NOTHING, "empty": {}, "invalid": 7}[flags.discover]


def list_tools(params):
    if flags.loop_cursor:
        return {"tools": list(tools.values()), "nextCursor": "again"}
    page = int(params.get("cursor", 0))
    listed = list(tools.values()) if page == 0 else [
        {"name": f"page_{page}", "description": f"Is on page {page}.", "inputSchema": {"type": "object"}}]
    if flags.legacy_parameters:
        listed = [{"parameters" if key == "inputSchema" else key: one[key] for key in one} for one in listed]
    return {"tools": listed, **({"nextCursor": str(page + 1)} if page + 1 < flags.pages else {})}


def list_resources(_params):
    return {"resources": [
        {"uri": uri, "name": uri.rsplit("/", 1)[1], "mimeType": one["mimeType"]} for uri, one in RESOURCES.items()]}


def read_resource(params):
    if params.get("uri") not in RESOURCES:
        raise Failure(-32002, "Resource not found", {"uri": params.get("uri")})
    return {"contents": [RESOURCES[params["uri"]]]}


def get_prompt(params):
    who = params.get("arguments", {}).get("who", "nobody")
    return {"messages": [{"role": "user", "content": {"type": "text", "text": f"Greet {who}"}}]}


METHODS = {
    "initialize": initialize,
    "server/discover": discover,
    "ping": lambda params: {},
    "logging/setLevel": lambda params: {},
    "tools/list": list_tools,
    "resources/list": list_resources,
    "resources/templates/list": lambda params: {"resourceTemplates": [
        {"uriTemplate": "hostile://{name}", "name": "any"}]},
    "resources/read": read_resource,
    "prompts/list": lambda params: {"prompts": [PROMPT]},
    "prompts/get": get_prompt,
}
