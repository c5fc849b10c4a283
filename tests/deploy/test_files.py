"""Deployment files agree with each other and with the sources, and tools that are installed accept them."""

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from files import BASE, COMPOSE, CONTAINERFILE, DEPLOY, DROP_IN, HAPROXY, TOP, UNIT, allowed, documents, of_kind, pod, seconds

DRAIN = "AGENT_SPACES_DRAIN_DELAY"
# Time that a server takes to stop after its drain delay: docs/operations.md.
STOP = 30


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)


class Containers(unittest.TestCase):
    def test_each_stage_that_ships_has_a_numeric_user_and_no_shell(self):
        stages = re.split(r"^FROM ", CONTAINERFILE, flags=re.MULTILINE)[1:]
        shipped = {stage.split()[2]: stage for stage in stages if "ENTRYPOINT" in stage}
        self.assertEqual(set(shipped), {"static", "glibc"})
        for stage in shipped.values():
            self.assertIn("\nUSER 10001:10001\n", stage)
            self.assertNotIn("\nRUN ", stage)
        # They differ in their base alone.
        ends = {stage[stage.index("ENV ") :].split("\n\n")[0].strip() for stage in shipped.values()}
        self.assertEqual(len(ends), 1)

    def test_the_build_has_the_toolchain_and_the_profile_of_the_workspace(self):
        (channel,) = re.findall(r'channel = "(.+)"', (TOP / "rust-toolchain.toml").read_text())
        self.assertIn(f"ARG RUST={channel}\n", CONTAINERFILE)
        self.assertIn("[profile.dist]", (TOP / "Cargo.toml").read_text())
        self.assertEqual(CONTAINERFILE.count("--profile dist"), 2)

    def test_the_profile_allows_nothing_that_confinement_denies(self):
        source = (TOP / "host/confine/src/denied_syscalls.rs").read_text()
        denied = set(re.findall(r"libc::SYS_(\w+)", source))
        self.assertGreater(len(denied), 40)
        self.assertEqual(denied & allowed(), set())
        # A confined server adds its own rules.
        self.assertLessEqual({"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "seccomp"}, allowed())


class Compose(unittest.TestCase):
    def test_hosts_are_locked_down_and_have_time_to_stop(self):
        for name in ("host-1", "host-2", "trust"):
            service = COMPOSE["services"][name]
            self.assertTrue(service["read_only"], name)
            self.assertEqual((service["user"], service["cap_drop"]), ("10001:10001", ["ALL"]), name)
            self.assertIn("seccomp:./seccomp.json", service["security_opt"], name)
        host = COMPOSE["services"]["host-1"]
        self.assertGreaterEqual(seconds(host["stop_grace_period"]), seconds(host["environment"][DRAIN]) + STOP)

    def test_the_load_balancer_notices_within_the_drain_delay(self):
        interval, fall = re.search(r"inter (\d+)s fall (\d+)", HAPROXY).groups()
        delay = seconds(COMPOSE["services"]["host-1"]["environment"][DRAIN])
        self.assertLess(int(interval) * int(fall), delay)
        for host in re.findall(r"^    server (\S+) (\S+):7878$", HAPROXY, re.MULTILINE):
            self.assertIn(host[1], COMPOSE["services"])

    def test_no_password_is_written_down(self):
        for service in COMPOSE["services"].values():
            for name, value in service.get("environment", {}).items():
                if re.search("PASSWORD|STORE|KEY|TOKEN", name):
                    self.assertRegex(value, r"^(file:)?/run/secrets/")
        # Postgres is reached by hosts alone.
        self.assertNotIn("ports", COMPOSE["services"]["postgres"])
        self.assertTrue(COMPOSE["networks"]["hosts"]["internal"])

    def test_secrets_are_made_once(self):
        with tempfile.TemporaryDirectory() as folder:
            hosts, database = Path(folder) / "hosts", Path(folder) / "database"
            hosts.mkdir(), database.mkdir()
            user = str(hosts.stat().st_uid)
            for _ in range(2):
                made = run("sh", DEPLOY / "compose/make-secrets.sh", hosts, database, user, user)
                self.assertEqual(made.returncode, 0, made.stderr)
                contents = {file.name: file.read_text() for file in [*hosts.iterdir(), *database.iterdir()]}
                self.assertEqual({file.stat().st_mode & 0o777 for file in hosts.iterdir()}, {0o400})
                before = contents if _ == 0 else before
            self.assertEqual(before, contents)
            self.assertIn(contents["agents-password"], contents["store"])
            self.assertEqual(len(set(contents.values())), len(contents))

    @unittest.skipUnless(shutil.which("haproxy"), "haproxy is not installed")
    def test_the_configuration_of_the_load_balancer_is_valid(self):
        checked = run("haproxy", "-c", "-f", DEPLOY / "compose/haproxy.cfg")
        self.assertEqual(checked.returncode, 0, checked.stderr)


class Kubernetes(unittest.TestCase):
    def test_pods_meet_the_restricted_standard(self):
        security = pod()["securityContext"]
        self.assertTrue(security["runAsNonRoot"] and security["runAsUser"] == 10001)
        self.assertEqual(security["seccompProfile"]["type"], "RuntimeDefault")
        for container in pod()["initContainers"] + pod()["containers"]:
            security = container["securityContext"]
            self.assertEqual(security["capabilities"], {"drop": ["ALL"]})
            self.assertTrue(security["readOnlyRootFilesystem"] and not security["allowPrivilegeEscalation"])
            self.assertIn("memory", container["resources"]["limits"])
        self.assertFalse(pod()["automountServiceAccountToken"])

    def test_hosts_have_time_to_stop(self):
        variables = {entry["name"]: entry.get("value") for entry in pod()["containers"][0]["env"]}
        self.assertGreaterEqual(pod()["terminationGracePeriodSeconds"], seconds(variables[DRAIN]) + STOP)
        probe = pod()["containers"][0]["readinessProbe"]
        self.assertLess(probe["periodSeconds"] * probe["failureThreshold"], seconds(variables[DRAIN]))

    def test_selectors_find_the_hosts(self):
        labels = of_kind("StatefulSet")["spec"]["template"]["metadata"]["labels"]
        services = [document["spec"]["selector"] for document in documents(BASE) if document["kind"] == "Service"]
        others = [of_kind(kind)["spec"]["selector"]["matchLabels"] for kind in ("StatefulSet", "PodDisruptionBudget")]
        policy = of_kind("NetworkPolicy")["spec"]["podSelector"]["matchLabels"]
        self.assertEqual([*services, *others, policy], [labels] * 5)
        self.assertEqual(of_kind("HorizontalPodAutoscaler")["spec"]["scaleTargetRef"]["name"], of_kind("StatefulSet")["metadata"]["name"])

    @unittest.skipUnless(shutil.which("kubectl"), "kubectl is not installed")
    def test_the_example_can_be_built_with_all_components(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copytree(DEPLOY / "kubernetes", Path(folder) / "kubernetes")
            example = copy / "example/kustomization.yaml"
            example.write_text(example.read_text().replace("# components:", "components:"))
            (copy / "example/secrets").mkdir(exist_ok=True)
            for name in ("operator-token", "store", "host-key"):
                (copy / "example/secrets" / name).write_text("x")
            built = run("kubectl", "kustomize", copy / "example")
            self.assertEqual(built.returncode, 0, built.stderr)
            # Clients of the network policy do not need the label of the hosts.
            self.assertIn('        matchLabels:\n          agent-spaces/client: "true"\n    ports:', built.stdout)
            self.assertIn("localhostProfile: agent-spaces.json", built.stdout)


class Systemd(unittest.TestCase):
    def test_the_unit_has_time_to_stop_and_lets_the_engine_map_code(self):
        (stop,) = re.findall(r"^TimeoutStopSec=(\d+)$", UNIT, re.MULTILINE)
        (delay,) = re.findall(rf"{DRAIN}=(\d+)s", DROP_IN)
        self.assertGreaterEqual(int(stop), int(delay) + STOP)
        self.assertNotIn("\nMemoryDenyWriteExecute=", UNIT)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not installed")
    def test_systemd_accepts_the_unit(self):
        with tempfile.TemporaryDirectory() as folder:
            drop_ins = Path(folder) / "agent-spaces.service.d"
            drop_ins.mkdir()
            installed = lambda text: text.replace("/usr/local/bin/agent-spaces", "/bin/true")
            (drop_ins / "several-hosts.conf").write_text(installed(DROP_IN))
            unit = Path(folder) / "agent-spaces.service"
            unit.write_text(installed(UNIT))
            verified = run("systemd-analyze", "verify", "--man=no", unit)
            self.assertEqual((verified.returncode, verified.stderr), (0, ""))
            exposure = run("systemd-analyze", "security", "--offline=true", "--threshold=19", unit)
            self.assertEqual(exposure.returncode, 0, exposure.stdout[-400:])


if __name__ == "__main__":
    unittest.main()
