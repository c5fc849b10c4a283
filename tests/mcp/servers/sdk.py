"""A server over the official Python SDK, whichever of its versions is installed."""

from typing import Any, Optional

from pydantic import BaseModel

try:
    from mcp.server.mcpserver import MCPServer
except ImportError:
    from mcp.server.fastmcp import FastMCP as MCPServer

server = MCPServer("sdk")


class Point(BaseModel):
    x: int


class Answer(BaseModel):
    """A model of the server's own."""

    result: int


@server.tool()
def add(a: int, b: int) -> int:
    return a + b


@server.tool()
def looks_like_json() -> str:
    return '{"a": 1}'


@server.tool()
def nothing() -> None:
    return None


@server.tool()
def yes() -> bool:
    return True


@server.tool()
def points() -> list[Point]:
    return [Point(x=1), Point(x=2)]


@server.tool(name="maybe-point")
def find_point(x: int) -> Optional[Point]:
    return Point(x=x) if x else None


@server.tool()
def own_model() -> Answer:
    return Answer(result=3)


@server.tool()
def members() -> dict[str, Any]:
    return {"result": 5}


if __name__ == "__main__":
    server.run()
