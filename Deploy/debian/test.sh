#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tries a Debian package for real: installs, runs, reloads, upgrades, removes and purges it in a
# clean Debian root under a systemd of its own. As root:
#
#   debootstrap --variant=minbase --include=systemd-sysv,ca-certificates,curl bookworm ROOT
#   Deploy/debian/test.sh PACKAGE ROOT
#
# ROOT is not changed: everything happens in an overlay over it. It needs systemd-nspawn
# (systemd-container) and the network, for what the package depends on. The network is this
# machine's, so nothing else may listen on 127.0.0.1:8080 and 2197 meanwhile.
set -euo pipefail

package=$(realpath "${1:?Name the package}")
root=$(realpath "${2:?Name a clean Debian root}")
for port in 8080 2197; do
    if (exec 3<>"/dev/tcp/127.0.0.1/${port}") 2>/dev/null; then
        echo "Something listens on 127.0.0.1:${port}, where the test wants to. Stop it first." >&2
        exit 69
    fi
done
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
finish() {
    umount "${work}/root" "${work}/layer" 2>/dev/null || true
    rm -rf "${work}"
}
trap finish EXIT

# An overlay cannot have its upper layer on another overlay, so it gets a file system of its own.
mkdir "${work}/layer" "${work}/root"
mount -t tmpfs -o size=2g tmpfs "${work}/layer"
mkdir "${work}/layer/upper" "${work}/layer/work"
mount -t overlay overlay "${work}/root" \
    -o "lowerdir=${root},upperdir=${work}/layer/upper,workdir=${work}/layer/work"

cp "${package}" "${work}/root/rouse.deb"
install -m 0755 "${here}/test-inside.sh" "${work}/root/try-package"
cat >"${work}/root/etc/systemd/system/try-package.service" <<'UNIT'
# Runs the test once the system is up, and ends the system with the test.
[Unit]
After=basic.target
SuccessAction=exit
FailureAction=exit-force

[Service]
Type=oneshot
ExecStart=/try-package
StandardOutput=append:/try-package.log
StandardError=append:/try-package.log
TimeoutStartSec=600

[Install]
WantedBy=multi-user.target
UNIT
wants=${work}/root/etc/systemd/system/multi-user.target.wants
mkdir -p "${wants}"
ln -s ../try-package.service "${wants}"

status=0
timeout 900 systemd-nspawn --quiet --boot --register=no --keep-unit --directory "${work}/root" \
    --resolv-conf=replace-host --console=pipe --link-journal=no \
    </dev/null >"${work}/console" 2>&1 || status=$?
cat "${work}/root/try-package.log" 2>/dev/null || cat "${work}/console"
grep -qx 'The package is good.' "${work}/root/try-package.log" || status=1
exit "${status}"
