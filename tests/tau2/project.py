"""A project with an agent for each script, and the command in it with a home of its own."""

import json
import os
import shutil
import subprocess
from pathlib import Path

TIMEOUT = 120


class Project:
    def __init__(self, folder, binary, domain, model_url):
        self._folder, self._binary, self._domain = Path(folder), binary, domain
        self._home, self._state = self._folder / "home", self._folder / "state"
        self._home.mkdir(parents=True)
        program, *arguments = domain.command
        server = {"command": program, "args": arguments, "env": domain.environment(self._state)}
        # Tools of the evaluation are not the agent's.
        decisions = {"*": "allow", "resetState": "deny", "getCallLog": "deny"}
        functions = {f"{domain.name}.{function}": decision for function, decision in decisions.items()}
        agent = {"promptFile": "./policy.md", "space": domain.name}
        config = {
            "mcpServers": {domain.name: server},
            "models": {"script": {"api": "openai-chat", "baseUrl": model_url}},
            "agents": {
                "direct": {**agent, "tools": "direct", "models": ["script/direct"]},
                "all": {**agent, "tools": "code", "models": ["script/all"]},
                "last": {**agent, "tools": "code", "models": ["script/last"]},
            },
            "spaces": {domain.name: {"capabilities": [f"mcp:{domain.name}"], "policy": {"functions": functions}}},
        }
        (self._folder / "policy.md").write_text(domain.policy)
        (self._folder / "agent-spaces.config.json").write_text(json.dumps(config, indent=2))
        self._run("trust", "agent-spaces.config.json").check_returncode()
        self._run("mcp", "accept").check_returncode()

    def ask(self, agent, task):
        """Ask an agent in a new state; return the finished command and the state."""
        shutil.rmtree(self._state, ignore_errors=True)
        # Types of earlier results make later requests longer: each question starts without them.
        shutil.rmtree(self._home / "cache" / "agent-spaces" / "outlines", ignore_errors=True)
        command = self._run("agent", agent, "-", "--json", "--no-session", question=task.question)
        return command, self._domain.state(self._state)

    def _run(self, *arguments, question=""):
        kinds = ("config", "cache", "state", "data")
        variables = {f"XDG_{kind.upper()}_HOME": str(self._home / kind) for kind in kinds}
        environment = {**os.environ, **variables, "HOME": str(self._home)}
        environment.pop("AGENT_SPACES_DATA", None)
        return subprocess.run(
            [self._binary, *arguments],
            cwd=self._folder, env=environment, input=question, capture_output=True, text=True, encoding="utf-8",
            timeout=TIMEOUT,
        )
