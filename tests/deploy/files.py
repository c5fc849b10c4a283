"""The files of deploy/, as the tests read them."""

import functools
import json
import re
from pathlib import Path

import yaml

TOP = Path(__file__).resolve().parents[2]
DEPLOY = TOP / "deploy"
BASE = DEPLOY / "kubernetes/base"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SECCOMP = json.loads((DEPLOY / "seccomp.json").read_text())
UNIT = (DEPLOY / "systemd/agent-spaces.service").read_text()
DROP_IN = (DEPLOY / "systemd/several-hosts.conf").read_text()
CONTAINERFILE = (DEPLOY / "Containerfile").read_text()
HAPROXY = (DEPLOY / "compose/haproxy.cfg").read_text()


@functools.cache
def documents(folder):
    """Every YAML document of a folder."""
    return [document for file in sorted(folder.glob("*.yaml")) for document in yaml.safe_load_all(file.read_text())]


def of_kind(kind):
    """The one document of the Kubernetes base with this kind."""
    (found,) = [document for document in documents(BASE) if document["kind"] == kind]
    return found


def pod():
    """The specification of a host's pod."""
    return of_kind("StatefulSet")["spec"]["template"]["spec"]


def commands():
    """Arguments of `agent-spaces` in all files, by place."""
    found = {f"compose.yaml: {name}": service["command"] for name, service in COMPOSE["services"].items() if "command" in service}
    for container in pod()["initContainers"] + pod()["containers"]:
        found[f"kubernetes: {container['name']}"] = container["args"]
    for place, text in (("service", UNIT), ("drop-in", DROP_IN)):
        for line in re.findall(r"^ExecStart=/usr/local/bin/agent-spaces (.+)$", text, re.MULTILINE):
            found[f"systemd: {place}"] = line.split()
    for number, line in enumerate(re.findall(r"^CMD (\[.+\])$", CONTAINERFILE, re.MULTILINE)):
        found[f"Containerfile: {number}"] = json.loads(line)
    return found


def seconds(text):
    """Seconds of `5s`."""
    return int(re.fullmatch(r"(\d+)s", text)[1])


def allowed():
    """System calls that the profile allows without a condition."""
    rules = [rule for rule in SECCOMP["syscalls"] if rule["action"] == "SCMP_ACT_ALLOW" and "args" not in rule]
    return {name for rule in rules for name in rule["names"]}
