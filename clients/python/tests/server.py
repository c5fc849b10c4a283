"""A real server process that can be killed and started again, and a TCP proxy in front of it that cuts event streams."""

import json
import os
import random
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

#: Path of the server's program; tests that need it are skipped without.
BINARY = os.environ.get("AGENT_SPACES_BINARY")
TOKEN = "token-of-the-clients-tests"
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"

# The names that the examples of the documentation use. Handlers beside the tool lists stand for the MCP servers.
CONFIGURATION = {
    "capabilities": {"registry": {"@company/internal-sdk": "./sdk/company-crm.ts"}},
    "mcpServers": {
        "slack": {"command": "slack-mcp", "tools": "./mcp/mcp-slack.json"},
        "github": {"command": "github-mcp", "tools": "./mcp/mcp-github.json"},
    },
    "spaces": {"support": {"capabilities": ["@company/internal-sdk", "mcp:slack", "mcp:github"]}},
}


class Server:
    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="agent-spaces-server-"))
        project = self.folder / "project"
        project.mkdir()
        shutil.copytree(EXAMPLES / "company-crm" / "capabilities", project / "sdk")
        shutil.copytree(EXAMPLES / "slack" / "capabilities", project / "mcp")
        (project / "agent-spaces.config.json").write_text(json.dumps(CONFIGURATION))
        self._spawn()
        self.proxy = Proxy(self)
        self.url = self.proxy.url

    def crash(self):
        """Kill the process as a crash would, and start another one on the same data."""
        self._kill()
        self._spawn()

    def stop(self):
        self._kill()
        self.proxy.stop()
        shutil.rmtree(self.folder)

    def _spawn(self):
        command = [BINARY, "serve", "--space", "support", "--listen", "127.0.0.1:0", "--data", str(self.folder / "data"), "--json"]
        environment = {**os.environ, "AGENT_SPACES_TOKEN": TOKEN}
        with open(self.folder / "stderr", "w") as talk:
            self.process = subprocess.Popen(command, cwd=self.folder / "project", env=environment, stdout=subprocess.PIPE, stderr=talk)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server did not start:\n{(self.folder / 'stderr').read_text()}")
        self.port = urlsplit(json.loads(line)["url"]).port

    def _kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Proxy:
    """Forwards connections to wherever the server listens now. Event streams are cut after some bytes, as long as `cuts` is positive."""

    def __init__(self, server):
        self.server = server
        self.cuts = 0
        self.random = random.Random(42)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self):
        self.listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        try:
            upstream = socket.create_connection(("127.0.0.1", self.server.port))
        except OSError:
            client.close()
            return
        state = {"left": None}  # bytes until the cut
        threading.Thread(target=self._send, args=(client, upstream, state), daemon=True).start()
        self._answer(client, upstream, state)
        close(upstream)
        close(client)

    def _send(self, client, upstream, state):
        try:
            while chunk := client.recv(65536):
                if self.cuts > 0 and b"text/event-stream" in chunk:
                    state["left"] = 100 + self.random.randrange(1800)
                upstream.sendall(chunk)
        except OSError:
            pass
        close(upstream)

    def _answer(self, client, upstream, state):
        try:
            while chunk := upstream.recv(65536):
                left = state["left"]
                if left is not None and len(chunk) >= left and self.cuts > 0:
                    self.cuts -= 1
                    # Both kinds of end: one that a proxy or a shutdown sends, and a reset.
                    client.sendall(chunk[:left])
                    if self.random.random() < 0.5:
                        # The client has read what was sent before it sees the reset.
                        time.sleep(0.005)
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        # Wakes the thread that reads: until then, the socket stays open.
                        client.shutdown(socket.SHUT_RD)
                        client.close()
                    return
                if left is not None:
                    state["left"] = max(0, left - len(chunk))
                client.sendall(chunk)
        except OSError:
            pass


def close(one):
    try:
        one.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    one.close()
