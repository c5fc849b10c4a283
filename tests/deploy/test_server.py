"""The command does what deployment files ask of it: options, variables, probes, metrics, and the seccomp profile.

Needs AGENT_SPACES_BINARY, the path of the command.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

from files import COMPOSE, DEPLOY, DROP_IN, HAPROXY, TOP, UNIT, commands, documents, pod
from seccomp_filter import library

BINARY = os.environ.get("AGENT_SPACES_BINARY", "")
TOKEN = "0123456789abcdef" * 4


def get(url, token=None, body=None):
    """Status and body of an answer."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    request = urllib.request.Request(url, data=json.dumps(body).encode() if body else None, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


class Server:
    """`agent-spaces serve` with a copy of the project of deploy/, under the profile if it can be loaded."""

    def __init__(self, folder):
        project = shutil.copytree(DEPLOY / "project", folder / "project")
        (folder / "token").write_text(TOKEN)
        (folder / "app-token").write_text(TOKEN[::-1])
        for file in ("token", "app-token"):
            (folder / file).chmod(0o600)
        config = project / "agent-spaces.config.json"
        config.write_text(config.read_text().replace("/run/secrets/app-token", str(folder / "app-token")))
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("AGENT_SPACES_")}
        self.environment |= {"AGENT_SPACES_DATA": str(folder / "data"), "XDG_CACHE_HOME": str(folder / "cache")}
        under = [sys.executable, Path(__file__).with_name("seccomp_filter.py")] if library() else []
        options = {"cwd": project, "env": self.environment}
        subprocess.run([*under, BINARY, "trust", config], check=True, capture_output=True, **options)
        command = [*under, BINARY, "serve", "--listen", "127.0.0.1:0", "--token-file", folder / "token", "--json"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **options)
        self.url = json.loads(self.process.stdout.readline())["url"].rstrip("/")

    def close(self):
        self.process.terminate()
        self.process.stdout.close()
        return self.process.wait(timeout=30)


@unittest.skipUnless(BINARY, "AGENT_SPACES_BINARY is not set")
class Command(unittest.TestCase):
    def test_every_option_exists(self):
        found = commands()
        self.assertGreaterEqual(len(found), 8)
        for place, (command, *arguments) in found.items():
            help_text = subprocess.run([BINARY, command, "--help"], check=True, capture_output=True, text=True).stdout
            known = set(re.findall(r"--[a-z0-9-]+", help_text))
            self.assertLessEqual({word for word in arguments if word.startswith("--")}, known, place)

    def test_every_variable_is_read_by_the_command(self):
        texts = [UNIT, DROP_IN, (DEPLOY / "Containerfile").read_text(), json.dumps(COMPOSE), json.dumps(pod())]
        used = {name for text in texts for name in re.findall(r"AGENT_SPACES_[A-Z_]+[A-Z]", text)}
        self.assertGreater(len(used), 4)
        sources = "".join(file.read_text() for file in (TOP / "host/cli/src").rglob("*.rs"))
        self.assertEqual({name for name in used if f'"{name}"' not in sources}, set())


@unittest.skipUnless(BINARY, "AGENT_SPACES_BINARY is not set")
class Serving(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.server = Server(Path(cls.folder.name))

    @classmethod
    def tearDownClass(cls):
        cls.server.close()
        cls.folder.cleanup()

    def test_probes_answer(self):
        container = pod()["containers"][0]
        paths = {container[probe]["httpGet"]["path"] for probe in ("startupProbe", "readinessProbe", "livenessProbe")}
        paths |= set(re.findall(r"http-check send meth GET uri (\S+)", HAPROXY))
        self.assertEqual(paths, {"/health", "/ready"})
        for path in paths:
            self.assertEqual(get(self.server.url + path)[0], 200, path)

    def test_metrics_of_the_autoscaler_exist(self):
        folder = DEPLOY / "kubernetes/autoscale-by-runs"
        texts = [(folder / file).read_text() for file in ("metrics.yaml", "adapter-values.yaml")]
        names = [set(re.findall(r"agent_spaces_\w+", text)) for text in texts]
        self.assertEqual(names[0], names[1])
        (monitor,) = [document for document in documents(folder) if isinstance(document, dict) and document.get("kind") == "PodMonitor"]
        path = monitor["spec"]["podMetricsEndpoints"][0]["path"]
        # Gauges appear when they were read for the first time.
        for _ in range(50):
            status, text = get(self.server.url + path, TOKEN)
            if all(f"\n{name} " in text for name in names[0]):
                break
            time.sleep(0.2)
        else:
            self.fail(f"{status}: {names[0]} are not all in {text}")
        self.assertEqual(get(self.server.url + path)[0], 401)

    def test_a_caller_of_the_project_runs_a_program(self):
        token = TOKEN[::-1]
        _, space = get(f"{self.server.url}/v1/spaces", token, {"name": "x"})
        body = {"source": "let a = []; for (let i = 0; i < 100000; i++) a.push({ i }); export default a.length"}
        _, run = get(f"{self.server.url}/v1/spaces/{json.loads(space)['id']}/runs?wait=30", token, body)
        self.assertEqual((json.loads(run)["status"], json.loads(run)["value"]), ("finished", 100000))

    @unittest.skipUnless(library(), "libseccomp is not installed")
    def test_the_server_is_under_the_profile(self):
        status = Path(f"/proc/{self.server.process.pid}/status").read_text()
        self.assertRegex(status, r"\nSeccomp:\t2\n")
        self.assertRegex(status, r"\nNoNewPrivs:\t1\n")


@unittest.skipUnless(library(), "libseccomp is not installed")
class Profile(unittest.TestCase):
    def test_what_the_profile_refuses_fails(self):
        probe = (
            "import ctypes, errno\nlibc = ctypes.CDLL(None, use_errno=True)\n"
            "for name, arguments in (('unshare', [0x10000000]), ('setns', [-1, 0]), ('chroot', [b'/'])):\n"
            "    print(errno.errorcode[ctypes.get_errno()] if getattr(libc, name)(*arguments) else 'allowed')\n"
            "import socket\n"
            "for family in (socket.AF_INET, socket.AF_VSOCK):\n"
            "    try: print('allowed', socket.socket(family, socket.SOCK_STREAM).close())\n"
            "    except OSError as error: print(errno.errorcode[error.errno])\n"
        )
        command = [sys.executable, Path(__file__).with_name("seccomp_filter.py"), sys.executable, "-c", probe]
        result = subprocess.run(command, capture_output=True, text=True, check=True)
        self.assertEqual(result.stdout.split("\n")[:5], ["EPERM", "EPERM", "EPERM", "allowed None", "ENOSYS"])


if __name__ == "__main__":
    unittest.main()
