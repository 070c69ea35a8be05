# SPDX-License-Identifier: Apache-2.0
"""What NetworkPolicies let through, as https://kubernetes.io/docs/reference/networking/ defines it.

A pod that no policy of a direction selects is open in that direction. One that some select gets
what at least one rule of one of them allows.
"""

import dataclasses
import ipaddress


@dataclasses.dataclass(frozen=True)
class Pod:
    """One end of a connection that runs in the cluster."""

    namespace: str
    labels: dict
    # Its named ports: a name, and the number and the protocol that it stands for.
    ports: dict = dataclasses.field(default_factory=dict)

    @property
    def namespace_labels(self):
        # Kubernetes puts this label on every namespace.
        return {"kubernetes.io/metadata.name": self.namespace}


@dataclasses.dataclass(frozen=True)
class Outside:
    """One end of a connection that is no pod: a host of the internet, or of a node's network."""

    address: str


def selects(selector, labels):
    """Returns whether a label selector selects labels. An empty one selects everything."""
    for key, value in (selector.get("matchLabels") or {}).items():
        if labels.get(key) != value:
            return False
    for requirement in selector.get("matchExpressions") or []:
        key, operator = requirement["key"], requirement["operator"]
        values = requirement.get("values") or []
        holds = {
            "In": labels.get(key) in values,
            "NotIn": labels.get(key) not in values,
            "Exists": key in labels,
            "DoesNotExist": key not in labels,
        }[operator]
        if not holds:
            return False
    return True


def is_peer(rule_peer, namespace, other):
    """Returns whether an entry of `from` or `to`, in a policy of this namespace, means the other end."""
    if "ipBlock" in rule_peer:
        if not isinstance(other, Outside):
            return False
        address, block = ipaddress.ip_address(other.address), rule_peer["ipBlock"]
        inside = address in ipaddress.ip_network(block["cidr"])
        return inside and not any(
            address in ipaddress.ip_network(part) for part in block.get("except") or [])
    if not isinstance(other, Pod):
        return False
    # Both selectors of one entry have to hold. Without one for the namespace it is the policy's own.
    if "namespaceSelector" in rule_peer:
        if not selects(rule_peer["namespaceSelector"], other.namespace_labels):
            return False
    elif other.namespace != namespace:
        return False
    return selects(rule_peer.get("podSelector") or {}, other.labels)


def is_port(rule_port, receiver, port, protocol):
    """Returns whether an entry of `ports` means this port of the receiving end."""
    if rule_port.get("protocol", "TCP") != protocol:
        return False
    named = rule_port.get("port")
    if named is None:
        return True
    if isinstance(named, str):
        ports = receiver.ports if isinstance(receiver, Pod) else {}
        return ports.get(named) == (port, protocol)
    return named <= port <= rule_port.get("endPort", named)


def allows(policies, direction, pod, other, port, protocol="TCP"):
    """Returns whether the policies let a connection through.

    `direction` is "Ingress" for one from the other end to the pod, "Egress" for one from the pod.
    """
    mine = [
        policy for policy in policies
        if policy["metadata"].get("namespace", pod.namespace) == pod.namespace
        and direction in policy["spec"]["policyTypes"]
        and selects(policy["spec"]["podSelector"], pod.labels)
    ]
    if not mine:
        return True
    peers, receiver = ("from", pod) if direction == "Ingress" else ("to", other)
    for policy in mine:
        for rule in policy["spec"].get(direction.lower()) or []:
            by_peer = not rule.get(peers) or any(
                is_peer(peer, pod.namespace, other) for peer in rule[peers])
            by_port = not rule.get("ports") or any(
                is_port(entry, receiver, port, protocol) for entry in rule["ports"])
            if by_peer and by_port:
                return True
    return False
