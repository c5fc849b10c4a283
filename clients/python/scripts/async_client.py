"""Writes the asynchronous client from the blocking one, so that both have the same surface: python3 scripts/async_client.py [--check]"""

import re
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "agent_spaces"
HEADER = "# Written from _blocking by scripts/async_client.py: change that folder, and run the script.\n"

# Methods that return a list or a stream at once, or do no request.
PLAIN = {"events", "export", "list", "versions", "name", "status", "ended", "make", "__init__", "_limits", "_webhook", "same"}
# Classes that both clients have, whose asynchronous ones are public under a name of their own.
RENAMED = ["AgentSpaces", "Items", "Space", "Run", "Spaces", "Files", "Runs", "Approvals", "Capabilities", "Programs", "Audit", "Servers", "Transport"]


def generate(text: str) -> str:
    text = re.sub(rf"(?<!\"\"\")\b({'|'.join(RENAMED)})\b(?=[()\[\]:,]|$)", r"Async\1", text, flags=re.M)
    text = re.sub(r"^(\s*)def (\w+)\(", lambda found: found[0] if found[2] in PLAIN else f"{found[1]}async def {found[2]}(", text, flags=re.M)
    text = re.sub(r"self\._transport\.send\(", "await self._transport.send(", text)
    text = re.sub(r"\bself\.(refresh|wait|close)\(", r"await self.\1(", text)
    text = re.sub(r"\brun\.refresh\(", "await run.refresh(", text)
    text = re.sub(r"\bfor (\w+) in (self\.pages\(\)|self:|self\.events\(|run\.events\()", r"async for \1 in \2", text)
    text = text.replace("self._transport.http.close()", "await self._transport.http.aclose()")
    for name in ("enter", "exit"):
        text = text.replace(f"__{name}__", f"__a{name}__")
    text = text.replace("__iter__", "__aiter__")
    text = text.replace("Iterator", "AsyncIterator").replace("httpx.Client", "httpx.AsyncClient")
    text = text.replace("use it in ``with``", "use it in ``async with``")
    return HEADER + text


def main() -> int:
    sources = {path.name: generate(path.read_text()) for path in (PACKAGE / "_blocking").glob("*.py") if path.name != "__init__.py"}
    sources["__init__.py"] = HEADER + '"""The asynchronous client."""\n'
    target = PACKAGE / "_async"
    if "--check" in sys.argv[1:]:
        found = {path.name: path.read_text() for path in target.glob("*.py")}
        return 0 if found == sources else 1
    target.mkdir(exist_ok=True)
    for name, text in sources.items():
        (target / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
