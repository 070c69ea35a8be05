# SPDX-License-Identifier: Apache-2.0
"""The rendered manifests: their schemas, what refers to what, and what their policies let through.

Run by test.sh.
"""

import os
import pathlib
import subprocess
import tempfile
import unittest

import kubernetes_validate
import yaml

from policy import Outside, Pod, allows

HERE = pathlib.Path(__file__).parent
CHART = HERE.parent / "helm"
ROUSE = os.environ.get("ROUSE")
# The first that has every field that is used, one in between, and the last that is known.
VERSIONS = ["1.30", "1.33", "1.37"]

APPLE = ["17.188.143.34", "17.57.144.20", "2620:149:a44:204::1a", "2a01:b740:a42::5"]
NODE_LOCAL_RESOLVER = Outside("169.254.20.10")


def run(*command, stdin=None):
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def kustomized(folder):
    return list(yaml.safe_load_all(run("kubectl", "kustomize", str(folder))))


def overlaid(text):
    """The base under an overlay with these lines."""
    with tempfile.TemporaryDirectory() as folder:
        base = os.path.relpath(HERE, os.path.realpath(folder))
        pathlib.Path(folder, "kustomization.yaml").write_text(
            f"resources: [{base}]\n{text}", encoding="utf-8")
        return kustomized(folder)


def charted(values, release="rouse"):
    """The Helm chart with these values, or what Helm says against them."""
    return list(yaml.safe_load_all(run(
        "helm", "template", release, str(CHART), "--namespace", "push", "--values", "-",
        stdin=yaml.safe_dump(values))))


class Manifests:
    """What one way to render gave."""

    def __init__(self, documents, namespace="push"):
        self.all = [document for document in documents if document]
        self.namespace = self.all[0]["metadata"].get("namespace", namespace)

    def of(self, kind):
        return [document for document in self.all if document["kind"] == kind]

    def one(self, kind):
        found = self.of(kind)
        assert len(found) == 1, f"{len(found)} of {kind}"
        return found[0]

    @property
    def template(self):
        return self.one("StatefulSet")["spec"]["template"]

    @property
    def gateway(self):
        """The gateway as one end of a connection."""
        ports = {
            port["name"]: (port["containerPort"], port.get("protocol", "TCP"))
            for container in self.template["spec"]["containers"] for port in container["ports"]}
        return Pod(self.namespace, self.template["metadata"]["labels"], ports)

    def lets_in(self, other, port=8080, protocol="TCP"):
        return allows(
            self.of("NetworkPolicy"), "Ingress", self.gateway, other, port, protocol)

    def lets_out(self, other, port, protocol="TCP"):
        return allows(
            self.of("NetworkPolicy"), "Egress", self.gateway, other, port, protocol)


class Checks:
    """What holds for the manifests, however they were rendered."""

    def test_every_object_fits_its_schema(self):
        for document in self.manifests.all:
            if document["apiVersion"].startswith("monitoring.coreos.com/"):
                continue  # Not of Kubernetes itself; see test_prometheus_finds_the_gateway.
            for version in VERSIONS:
                with self.subTest(document["kind"], version=version):
                    kubernetes_validate.validate(document, version, strict=True)

    def test_selectors_find_the_gateway(self):
        labels = self.manifests.gateway.labels
        selectors = {
            "StatefulSet": self.manifests.one("StatefulSet")["spec"]["selector"]["matchLabels"],
            "Service": self.manifests.one("Service")["spec"]["selector"],
        }
        for budget in self.manifests.of("PodDisruptionBudget"):
            selectors["PodDisruptionBudget"] = budget["spec"]["selector"]["matchLabels"]
        for kind, selector in selectors.items():
            self.assertTrue(selector, f"{kind}: an empty selector selects every pod")
            self.assertLessEqual(selector.items(), labels.items(), kind)

    def test_what_is_named_is_there(self):
        spec = self.manifests.template["spec"]
        claims = self.manifests.one("StatefulSet")["spec"].get("volumeClaimTemplates", [])
        volumes = {volume["name"]: volume for volume in spec["volumes"]}
        names = set(volumes) | {claim["metadata"]["name"] for claim in claims}
        for container in spec["containers"]:
            self.assertEqual({mount["name"] for mount in container["volumeMounts"]}, names)
            ports = {port["name"] for port in container["ports"]}
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                self.assertIn(container[probe]["httpGet"]["port"], ports)
        for port in self.manifests.one("Service")["spec"]["ports"]:
            self.assertIn(port["targetPort"], ports)
        self.assertEqual(
            volumes["config"]["configMap"]["name"],
            self.manifests.one("ConfigMap")["metadata"]["name"])
        self.assertEqual(
            spec["serviceAccountName"], self.manifests.one("ServiceAccount")["metadata"]["name"])
        self.assertEqual(
            self.manifests.one("StatefulSet")["spec"]["serviceName"],
            self.manifests.one("Service")["metadata"]["name"])

    def test_the_configuration_is_read(self):
        text = self.manifests.one("ConfigMap")["data"]["rouse.yaml"]
        self.assertTrue(yaml.safe_load(text)["apps"])
        if not ROUSE:
            self.skipTest("no rouse was named")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "rouse.yaml")
            path.write_text(text, encoding="utf-8")
            # The keys are missing here; whether the file is read is what counts.
            done = subprocess.run(
                [ROUSE, "doctor", "--offline", "--config", str(path)],
                capture_output=True, text=True, check=False)
        self.assertIn("configuration: Readable", done.stdout, done.stdout + done.stderr)


class PolicyChecks:
    """What the network policies let through."""

    def test_only_the_gateway_is_selected(self):
        neighbour = Pod(self.manifests.namespace, {"app.kubernetes.io/name": "shop"})
        for direction in ("Ingress", "Egress"):
            self.assertTrue(allows(
                self.manifests.of("NetworkPolicy"), direction, neighbour,
                Outside("203.0.113.7"), 443))

    def test_callers_with_the_label_come_in(self):
        here = self.manifests.namespace
        self.assertTrue(self.manifests.lets_in(Pod(here, {"rouse-client": "true"})))
        self.assertTrue(
            self.manifests.lets_in(Pod(here, {"rouse-client": "true", "app": "backend"})))

    def test_nobody_else_comes_in(self):
        here = self.manifests.namespace
        for other in (
                Pod(here, {}), Pod(here, {"rouse-client": "false"}), Pod(here, {"app": "backend"}),
                Pod("elsewhere", {"rouse-client": "true"}), Outside("203.0.113.7"),
                Outside("10.0.0.1"), Pod("kube-system", {"k8s-app": "kube-dns"})):
            self.assertFalse(self.manifests.lets_in(other), other)
        self.assertFalse(self.manifests.lets_in(Pod(here, {"rouse-client": "true"}), 22))
        self.assertFalse(
            self.manifests.lets_in(Pod(here, {"rouse-client": "true"}), 8080, "UDP"))

    def test_prometheus_comes_in(self):
        for namespace in ("monitoring", self.manifests.namespace):
            prometheus = Pod(namespace, {"app.kubernetes.io/name": "prometheus", "more": "labels"})
            self.assertTrue(self.manifests.lets_in(prometheus))
            self.assertFalse(self.manifests.lets_in(prometheus, 9090))
        self.assertFalse(
            self.manifests.lets_in(Pod("monitoring", {"app.kubernetes.io/name": "grafana"})))

    def test_the_resolver_is_reached(self):
        resolver = Pod("kube-system", {"k8s-app": "kube-dns"})
        for end in (resolver, NODE_LOCAL_RESOLVER):
            for protocol in ("UDP", "TCP"):
                self.assertTrue(self.manifests.lets_out(end, 53, protocol), end)
            self.assertFalse(self.manifests.lets_out(end, 443))
        self.assertFalse(
            self.manifests.lets_out(Pod("elsewhere", {"k8s-app": "kube-dns"}), 53, "UDP"))

    def test_apns_is_reached(self):
        for address in APPLE:
            for port in (443, 2197, 2195, 2196):
                self.assertTrue(self.manifests.lets_out(Outside(address), port), address)
            for port in (80, 22, 5223):
                self.assertFalse(self.manifests.lets_out(Outside(address), port), address)
            self.assertFalse(self.manifests.lets_out(Outside(address), 443, "UDP"))

    def test_nothing_else_is_reached(self):
        here = self.manifests.namespace
        for address in ("203.0.113.7", "10.96.0.1", "169.254.169.254", "2001:db8::1"):
            for port in (53, 80, 443, 2197, 2195, 2196):
                self.assertFalse(self.manifests.lets_out(Outside(address), port), address)
        for other in (
                Pod(here, {"rouse-client": "true"}), Pod(here, {}),
                Pod("monitoring", {"app.kubernetes.io/name": "prometheus"})):
            for port in (53, 443, 8080):
                self.assertFalse(self.manifests.lets_out(other, port), other)


class TheBase(Checks, PolicyChecks, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.manifests = Manifests(kustomized(HERE))


class TheBaseUnderAnOverlay(Checks, PolicyChecks, unittest.TestCase):
    """Labels in selectors reach the rules of network policies too, where they name other pods.

    https://github.com/kubernetes-sigs/kustomize/issues/5912
    """

    @classmethod
    def setUpClass(cls):
        cls.manifests = Manifests(overlaid(
            "namespace: wakes\nnamePrefix: team-\n"
            "labels: [{includeSelectors: true, pairs: {example.com/team: mobile}}]\n"))

    def test_the_overlay_changes_what_it_should(self):
        self.assertEqual(self.manifests.namespace, "wakes")
        self.assertEqual(self.manifests.gateway.labels["example.com/team"], "mobile")


class TheSharedOverlay(unittest.TestCase):
    """Three gateways on one database."""

    @classmethod
    def setUpClass(cls):
        cls.manifests = Manifests(kustomized(HERE.parent / "kubernetes-shared"))
        cls.deployment = cls.manifests.one("Deployment")
        cls.spec = cls.deployment["spec"]["template"]["spec"]

    def pod(self, kind, name):
        found = next(document for document in self.manifests.of(kind)
                     if document["metadata"]["name"] == name)
        template = found["spec"]["template"]
        ports = {
            port["name"]: (port["containerPort"], port.get("protocol", "TCP"))
            for container in template["spec"]["containers"] for port in container["ports"]}
        return Pod(self.manifests.namespace, template["metadata"]["labels"], ports)

    def test_every_object_fits_its_schema(self):
        for document in self.manifests.all:
            for version in VERSIONS:
                with self.subTest(document["kind"], version=version):
                    kubernetes_validate.validate(document, version, strict=True)

    def test_the_gateways_are_no_stateful_set(self):
        names = [document["metadata"]["name"] for document in self.manifests.of("StatefulSet")]
        self.assertEqual(names, ["rouse-postgresql"])
        self.assertEqual(self.deployment["spec"]["replicas"], 3)

    def test_selectors_find_the_gateways_and_not_the_database(self):
        gateway = self.pod("Deployment", "rouse").labels
        database = self.pod("StatefulSet", "rouse-postgresql").labels
        service = next(document for document in self.manifests.of("Service")
                       if document["metadata"]["name"] == "rouse")
        for selector in (
                self.deployment["spec"]["selector"]["matchLabels"], service["spec"]["selector"],
                self.manifests.one("PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
                self.manifests.one("NetworkPolicy")["spec"]["podSelector"]["matchLabels"]):
            self.assertLessEqual(selector.items(), gateway.items())
            self.assertFalse(selector.items() <= database.items())

    def test_one_gateway_at_a_time_may_go(self):
        budget = self.manifests.one("PodDisruptionBudget")["spec"]
        self.assertEqual(budget["maxUnavailable"], 1)
        self.assertEqual(
            self.deployment["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"], 1)

    def test_the_autoscaler_scales_the_gateways_by_the_queues_age(self):
        scaler = self.manifests.one("HorizontalPodAutoscaler")["spec"]
        self.assertEqual(scaler["scaleTargetRef"]["kind"], "Deployment")
        self.assertEqual(
            scaler["scaleTargetRef"]["name"], self.deployment["metadata"]["name"])
        names = [metric["external"]["metric"]["name"] for metric in scaler["metrics"]
                 if metric["type"] == "External"]
        metrics = (HERE.parent / "prometheus" / "metrics.txt").read_text(encoding="utf-8")
        self.assertEqual(names, ["rouse_queue_oldest_due_age_seconds"])
        self.assertIn(names[0], metrics)
        # Two writers each, of 64; one more while a restart is under way.
        self.assertLessEqual(2 * (scaler["maxReplicas"] + 1), 64)

    def test_what_is_named_is_there(self):
        volumes = {volume["name"]: volume for volume in self.spec["volumes"]}
        for container in self.spec["containers"] + self.spec["initContainers"]:
            self.assertEqual(
                {mount["name"] for mount in container["volumeMounts"]}, set(volumes))
        self.assertEqual(
            volumes["config"]["configMap"]["name"],
            self.manifests.one("ConfigMap")["metadata"]["name"])
        configuration = yaml.safe_load(self.manifests.one("ConfigMap")["data"]["rouse.yaml"])
        mounts = {
            mount["name"]: mount["mountPath"]
            for mount in self.spec["containers"][0]["volumeMounts"]}
        self.assertEqual(
            configuration["store-password-file"], mounts["database"] + "/password")
        self.assertIn("@rouse-postgresql/", configuration["store"])

    def test_the_database_is_reached_and_nothing_else_is(self):
        gateway = self.pod("Deployment", "rouse")
        database = self.pod("StatefulSet", "rouse-postgresql")
        policies = self.manifests.of("NetworkPolicy")
        self.assertTrue(allows(policies, "Egress", gateway, database, 5432, "TCP"))
        self.assertFalse(allows(policies, "Egress", gateway, database, 22, "TCP"))
        for address in APPLE:
            self.assertTrue(allows(policies, "Egress", gateway, Outside(address), 443, "TCP"))
        self.assertFalse(
            allows(policies, "Egress", gateway, Outside("203.0.113.7"), 5432, "TCP"))

    test_the_configuration_is_read = Checks.test_the_configuration_is_read


APPS = [{
    "bundle-id": "com.example.app", "environment": "production", "team-id": "TEAM123456",
    "key-file": "/run/rouse/keys/AuthKey_ABCDE12345.p8"}]


class TheChart(Checks, PolicyChecks, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.manifests = Manifests(charted({"apps": APPS}))

    def test_it_is_the_base(self):
        """What the chart makes by itself and the base differ in labels and in nothing else."""
        base = Manifests(kustomized(HERE))
        kinds = sorted(document["kind"] for document in base.all)
        self.assertEqual(sorted(document["kind"] for document in self.manifests.all), kinds)
        self.assertIn("NetworkPolicy", kinds)
        for kind in kinds:
            if kind == "ConfigMap":
                continue  # Settings of the user's; test_the_configuration_is_read reads them.
            with self.subTest(kind):
                self.assertEqual(self.comparable(base, kind), self.comparable(self.manifests, kind))

    @staticmethod
    def comparable(manifests, kind):
        """An object without its metadata, and with one way to write labels, selectors and names."""
        def plain(value):
            if isinstance(value, list):
                return [plain(item) for item in value]
            if not isinstance(value, dict):
                return value
            own = {"app.kubernetes.io/instance", "app.kubernetes.io/version",
                   "app.kubernetes.io/managed-by", "helm.sh/chart", "checksum/config"}
            value = {key: plain(item) for key, item in value.items() if key not in own}
            for requirement in value.pop("matchExpressions", []):
                value.setdefault("matchLabels", {})[requirement["key"]] = requirement["values"][0]
            return value
        document = plain(manifests.one(kind))
        if kind == "StatefulSet":
            volumes = document["spec"]["template"]["spec"]["volumes"]
            next(volume for volume in volumes if volume["name"] == "config").pop("configMap")
        document.pop("metadata")
        return document

    def test_helm_finds_nothing_to_complain_of(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as values:
            yaml.safe_dump({"apps": APPS}, values)
            values.flush()
            run("helm", "lint", "--strict", str(CHART), "--values", values.name)

    def test_its_version_is_that_of_rouse(self):
        chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
        base = yaml.safe_load((HERE / "kustomization.yaml").read_text(encoding="utf-8"))
        self.assertEqual(chart["appVersion"], base["images"][0]["newTag"])


class TheChartWithEverything(Checks, PolicyChecks, unittest.TestCase):
    values = {
        "apps": APPS + [{
            "bundle-id": "com.example.other", "environment": "sandbox", "team-id": "1234567890",
            "key-file": "/run/rouse/keys/AuthKey_ABCDE12345.p8"}],
        "apiKeys": [{"name": "prometheus", "sha256": "0" * 64, "scopes": ["read"]}],
        "config": {"retention-days": 14, "budget": {"unused-after-seconds": 1209600}},
        "keys": {"secretName": "signing-keys"},
        "store": {"size": "20Gi", "storageClassName": "local-ssd", "durability": "system"},
        "image": {"repository": "registry.example/rouse", "tag": "1.2.3"},
        "imagePullSecrets": [{"name": "registry"}],
        "service": {"port": 80, "annotations": {"example.com/team": "mobile"}},
        "podAnnotations": {"example.com/a": "b"}, "podLabels": {"example.com/c": "d"},
        "nodeSelector": {"disk": "ssd"}, "priorityClassName": "high",
        "tolerations": [{"key": "dedicated", "operator": "Exists"}],
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}}},
        "podDisruptionBudget": {"maxUnavailable": 0},
        "serviceMonitor": {
            "enabled": True, "interval": "30s", "labels": {"release": "prometheus"},
            "apiKey": {"secretName": "rouse-prometheus", "key": "token"}},
        "networkPolicy": {"extraEgress": [{
            "to": [{"ipBlock": {"cidr": "198.51.100.7/32"}}], "ports": [{"port": 443}]}]},
    }

    @classmethod
    def setUpClass(cls):
        cls.manifests = Manifests(charted(cls.values, release="wakes"))

    def test_every_value_arrives(self):
        spec = self.manifests.template["spec"]
        claim = self.manifests.one("StatefulSet")["spec"]["volumeClaimTemplates"][0]["spec"]
        self.assertEqual(claim["resources"]["requests"]["storage"], "20Gi")
        self.assertEqual(claim["storageClassName"], "local-ssd")
        self.assertEqual(spec["containers"][0]["image"], "registry.example/rouse:1.2.3")
        keys = next(volume for volume in spec["volumes"] if volume["name"] == "keys")
        self.assertEqual(keys["secret"]["secretName"], "signing-keys")
        self.assertEqual(self.manifests.one("PodDisruptionBudget")["spec"]["maxUnavailable"], 0)
        self.assertEqual(self.manifests.one("Service")["spec"]["ports"][0]["port"], 80)
        self.assertEqual(self.manifests.gateway.labels["example.com/c"], "d")
        configuration = yaml.safe_load(self.manifests.one("ConfigMap")["data"]["rouse.yaml"])
        self.assertEqual(configuration["store-durability"], "system")
        self.assertEqual(configuration["retention-days"], 14)
        self.assertEqual(configuration["budget"], {"unused-after-seconds": 1209600})
        self.assertEqual(configuration["api-keys"], self.values["apiKeys"])
        self.assertEqual(configuration["apps"], self.values["apps"])

    def test_prometheus_finds_the_gateway(self):
        monitor = self.manifests.one("ServiceMonitor")
        service = self.manifests.one("Service")
        self.assertEqual(monitor["metadata"]["labels"]["release"], "prometheus")
        self.assertLessEqual(
            monitor["spec"]["selector"]["matchLabels"].items(),
            service["metadata"]["labels"].items())
        # The alert rules know the gateway by job="rouse".
        self.assertEqual(service["metadata"]["labels"][monitor["spec"]["jobLabel"]], "rouse")
        self.assertEqual(monitor["spec"]["endpoints"], [{
            "port": service["spec"]["ports"][0]["name"], "path": "/metrics", "interval": "30s",
            "authorization": {
                "type": "Bearer",
                "credentials": {"name": "rouse-prometheus", "key": "token"}}}])

    def test_webhooks_go_where_a_rule_says(self):
        self.assertTrue(self.manifests.lets_out(Outside("198.51.100.7"), 443))
        self.assertFalse(self.manifests.lets_out(Outside("198.51.100.7"), 80))
        self.assertFalse(self.manifests.lets_out(Outside("198.51.100.8"), 443))


class TheChartsSwitches(unittest.TestCase):
    def rendered(self, **values):
        return Manifests(charted({"apps": APPS, **values}))

    def test_what_is_switched_off_is_not_there(self):
        manifests = self.rendered(
            networkPolicy={"enabled": False}, podDisruptionBudget={"enabled": False})
        kinds = {document["kind"] for document in manifests.all}
        self.assertEqual(
            kinds, {"ServiceAccount", "ConfigMap", "Service", "StatefulSet"})

    def test_an_empty_list_of_peers_lets_nobody_through(self):
        manifests = self.rendered(networkPolicy={
            "callers": [], "prometheus": [], "apns": [], "resolver": {"peers": []}})
        self.assertFalse(manifests.lets_in(Pod("push", {"rouse-client": "true"})))
        self.assertFalse(
            manifests.lets_in(Pod("monitoring", {"app.kubernetes.io/name": "prometheus"})))
        self.assertFalse(manifests.lets_out(Outside(APPLE[0]), 443))
        self.assertFalse(
            manifests.lets_out(Pod("kube-system", {"k8s-app": "kube-dns"}), 53, "UDP"))

    def test_a_changed_setting_starts_the_gateway_anew(self):
        def checksum(**values):
            annotations = self.rendered(**values).template["metadata"]["annotations"]
            return annotations["checksum/config"]
        self.assertEqual(checksum(), checksum(service={"port": 80}))
        self.assertNotEqual(checksum(), checksum(config={"retention-days": 3}))

    def test_what_cannot_be_is_refused_with_the_field(self):
        for values, words in (
                ({"apps": []}, "apps is empty: name at least one app"),
                ({"config": {"store": "/elsewhere"}}, "config.store is set by the chart"),
                ({"store": {"durability": "none"}}, "durability"),
                ({"store": {"sise": "1Gi"}}, "sise"),
                ({"apps": [{**APPS[0], "team-id": 1234567890}]}, "team-id"),
                ({"apiKeys": [{"name": "backend", "sha256": "secret"}]}, "sha256")):
            with self.subTest(words), self.assertRaisesRegex(AssertionError, words):
                self.rendered(**values)


class TheEvaluation(unittest.TestCase):
    """The reading of policies itself, by what Kubernetes' documentation says of its examples."""

    pod = Pod("default", {"role": "db"}, {"db": (6379, "TCP")})

    def allows(self, direction, rules, other, port, protocol="TCP"):
        return allows(
            [{"metadata": {"name": "example"},
              "spec": {"podSelector": {}, "policyTypes": [direction], direction.lower(): rules}}],
            direction, self.pod, other, port, protocol)

    def test_one_entry_with_both_selectors_needs_both(self):
        both = [{"from": [{"namespaceSelector": {"matchLabels": {
            "kubernetes.io/metadata.name": "a"}}, "podSelector": {"matchLabels": {"r": "c"}}}]}]
        self.assertTrue(self.allows("Ingress", both, Pod("a", {"r": "c"}), 1))
        self.assertFalse(self.allows("Ingress", both, Pod("a", {}), 1))
        self.assertFalse(self.allows("Ingress", both, Pod("b", {"r": "c"}), 1))

    def test_two_entries_need_one(self):
        either = [{"from": [
            {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "a"}}},
            {"podSelector": {"matchLabels": {"r": "c"}}}]}]
        self.assertTrue(self.allows("Ingress", either, Pod("a", {}), 1))
        self.assertTrue(self.allows("Ingress", either, Pod("default", {"r": "c"}), 1))
        self.assertFalse(self.allows("Ingress", either, Pod("b", {"r": "c"}), 1))

    def test_blocks_exceptions_and_ranges_of_ports(self):
        rules = [{
            "to": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}],
            "ports": [{"port": 32000, "endPort": 32768}]}]
        self.assertTrue(self.allows("Egress", rules, Outside("10.2.0.1"), 32001))
        self.assertFalse(self.allows("Egress", rules, Outside("10.1.0.1"), 32001))
        self.assertFalse(self.allows("Egress", rules, Outside("10.2.0.1"), 32769))

    def test_no_rule_is_nothing_and_an_empty_one_everything(self):
        self.assertFalse(self.allows("Ingress", [], Outside("10.0.0.1"), 1))
        self.assertTrue(self.allows("Ingress", [{}], Outside("10.0.0.1"), 1))
        self.assertTrue(
            allows([], "Ingress", self.pod, Outside("10.0.0.1"), 1), "no policy: open")

    def test_a_port_by_its_name(self):
        rules = [{"ports": [{"port": "db"}]}]
        self.assertTrue(self.allows("Ingress", rules, Pod("default", {}), 6379))
        self.assertFalse(self.allows("Ingress", rules, Pod("default", {}), 6380))


if __name__ == "__main__":
    unittest.main()
