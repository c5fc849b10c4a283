"""Tasks of tau2 with their gold actions, and an instance of their MCP server that executes them directly."""

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

DOMAINS = ("airline", "retail")


class Domain:
    """A domain of tau2, as its package has it."""

    def __init__(self, name):
        self.name = name
        self.module = f"tau2_{name}_mcp.server"
        package = importlib.util.find_spec(f"tau2_{name}_mcp")
        if package is None:
            sys.exit(f"tau2-{name}-mcp-eval is not installed: pip install -r {Path(__file__).parent}/requirements.txt")
        data = Path(package.origin).parent / "data" / "tau2" / "domains" / name
        self.policy = (data / "policy.md").read_text()
        self.tasks = {task["id"]: Task(self, task) for task in json.loads((data / "tasks.json").read_text())}
        self._database = data / "db.json"

    @property
    def command(self):
        return [sys.executable, "-m", self.module]

    def environment(self, folder):
        return {f"TAU2_{self.name.upper()}_MCP_STATE_DIR": str(folder)}

    def state(self, folder):
        """Return the state that a server left in a folder: its database and the log of its calls."""
        key = hashlib.sha256(f"tau2/{self.name}/default".encode()).hexdigest()
        file = Path(folder) / f"{key}.json"
        if file.exists():
            return json.loads(file.read_text())
        # A server that was never called leaves nothing.
        return {"calls": [], "db": json.loads(self._database.read_text())}


class Task:
    """A task: what the user wants, and the calls that do it."""

    def __init__(self, domain, task):
        self.domain, self.id = domain, task["id"]
        actions = task["evaluation_criteria"]["actions"] or []
        self.actions = [(action["name"], action["arguments"]) for action in actions]
        told = task["user_scenario"]["instructions"]
        parts = [told[key] for key in ("reason_for_call", "known_info", "task_instructions") if told.get(key)]
        self.question = "\n\n".join(parts)


class GoldServer:
    """The MCP server without Agent Spaces: a client that sends one request after the other."""

    def __init__(self, domain, folder):
        self._domain, self._folder, self._id = domain, folder, 0
        environment = {**os.environ, **domain.environment(folder)}
        self._process = subprocess.Popen(
            domain.command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        info = {"name": "gold", "version": "1"}
        self._request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info})

    def execute(self, task):
        """Execute the gold actions in a new state; return the results and the state."""
        reset = self._call("reset_state", {})
        assert reset["ok"], reset
        results = [self._call(name, arguments) for name, arguments in task.actions]
        state = self._domain.state(self._folder)
        assert self._call("get_call_log", {})["calls"] == state["calls"]
        return results, state

    def close(self):
        self._process.stdin.close()
        self._process.wait(10)

    def _call(self, name, arguments):
        return self._request("tools/call", {"name": name, "arguments": arguments})["structuredContent"]

    def _request(self, method, params):
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert answer["id"] == self._id and "result" in answer, answer
        return answer["result"]
