"""The examples of docs/clients.md and of the README run, in their order."""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

import server
from fake import TOKEN, Fake

PYTHON = Path(__file__).resolve().parents[1]


class Examples(unittest.TestCase):
    def setUp(self):
        self.fake = Fake()
        self.addCleanup(self.fake.stop)

    def run_examples(self, path, url=None, token=TOKEN):
        blocks = re.findall(r"^```python\n(.*?)^```$", path.read_text(), flags=re.S | re.M)
        self.assertTrue(blocks)
        text = "\n".join(blocks).replace("http://127.0.0.1:8080", url or self.fake.url)
        environment = {**os.environ, "AGENT_SPACES_TOKEN": token, "PYTHONPATH": str(PYTHON / "src"), "PYTHONIOENCODING": "utf-8"}
        done = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("hello Ada", done.stdout)
        return done.stdout

    def test_docs(self):
        printed = self.run_examples(PYTHON.parents[1] / "docs" / "clients.md")
        for part in ("log hello", "Create a ticket?", "data/report.csv 12", "script.error", "404 not_found"):
            self.assertIn(part, printed)

    def test_readme(self):
        self.run_examples(PYTHON / "README.md")

    @unittest.skipUnless(server.BINARY, "AGENT_SPACES_BINARY does not name a server")
    def test_a_real_server(self):
        real = server.Server()
        self.addCleanup(real.stop)
        self.run_examples(PYTHON / "README.md", real.url, server.TOKEN)
        printed = self.run_examples(PYTHON.parents[1] / "docs" / "clients.md", real.url, server.TOKEN)
        for part in ("hello Grace", "Create high ticket", "data/report.csv 12", "script.error", "404 not_found"):
            self.assertIn(part, printed)


if __name__ == "__main__":
    unittest.main()
