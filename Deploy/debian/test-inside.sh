#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What Deploy/debian/test.sh runs inside the clean root, as root and under systemd: the life of the
# package /rouse.deb. Ends with 1 at the first thing that is not as it should be.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

readonly configuration=/etc/rouse/rouse.yaml
readonly base=http://127.0.0.1:8080

step() { printf '\n== %s\n' "$*"; }
fail() {
    echo "FAILED: $*"
    systemctl --no-pager --full status rouse || true
    journalctl --no-pager --lines=40 --unit rouse || true
    exit 1
}
# expect WORDS COMMAND…: the command must succeed.
expect() {
    local words=$1
    shift
    "$@" >/tmp/out 2>&1 || { cat /tmp/out; fail "${words}"; }
    echo "passed: ${words}"
}
# within SECONDS COMMAND…: tries until the command succeeds.
within() {
    local seconds=$1
    shift
    for ((tenth = 0; tenth < seconds * 10; tenth++)); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.1
    done
    return 1
}
is() { [[ $1 == "$2" ]] || { echo "is: $1, not: $2"; return 1; }; }
property() { systemctl show --property "$1" --value rouse; }
main_pid_is_not() { local pid; pid=$(property MainPID); [[ ${pid} != 0 && ${pid} != "$1" ]]; }
answers() { curl --silent --fail --max-time 5 "${base}/healthz"; }
says() { journalctl --no-pager --unit rouse --output cat | grep --quiet --fixed-strings -- "$1"; }
wake() {
    curl --silent --show-error "${base}/v1/wakes" -H "Authorization: Bearer ${key}" \
        -H 'Content-Type: application/json' -d '{"kind":"background","app":"com.example.app",
            "device_token":"00112233445566778899aabbccddeeff00112233445566778899aabbccddee'"$1"'",
            "ttl_seconds":600,"payload":{"aps":{"content-available":1},"version":1}}' \
        | sed -n 's/.*"id":"\([^"]*\)".*/\1/p'
}
# Every relative link of every page in the folder leads to a file or a folder.
links_hold() {
    local page target count=0
    while read -r page; do
        while read -r target; do
            count=$((count + 1))
            [[ -e ${page%/*}/${target} ]] || { echo "${page}: ${target}"; return 1; }
        done < <(grep -oE '\]\([[:alnum:].][^)#: ]*\.?[)#]' "${page}" | sed -E 's/^\]\(|[)#]$//g')
    done < <(find "$1" -name '*.md')
    [[ ${count} -gt 30 ]] || { echo "only ${count} links"; return 1; }
}
is_sent() {
    curl --silent --fail -H "Authorization: Bearer ${key}" "${base}/v1/wakes/$1" \
        | grep --quiet '"state":"sent"'
}

step "Installation"
apt-get update -qq
expect "it installs, with what it depends on" apt-get install -y --no-install-recommends /rouse.deb
expect "the program runs" rouse --version
expect "no library is missing" bash -c '! ldd /usr/bin/rouse | grep "not found"'
expect "no Swift library is needed" bash -c '! ldd /usr/bin/rouse | grep -i swift'
expect "the configuration is root's and the gateway's" \
    is "$(stat --format '%U:%G %a' "${configuration}")" 'root:rouse 640'
expect "so is its folder" is "$(stat --format '%U:%G %a' /etc/rouse)" 'root:rouse 750'
expect "it does not start by itself" is "$(systemctl is-active rouse)" inactive
expect "nor at boot" is "$(systemctl is-enabled rouse)" disabled
expect "the unit is in order" systemd-analyze --man=no verify rouse.service
systemd-analyze --no-pager security rouse.service | tail -n 1

step "The manual"
manual=$(grep -oE '/usr/share/doc/rouse/manual\b' /usr/share/doc/rouse/README.Debian) \
    || fail "README.Debian does not name the manual"
expect "the manual is there" test -s "${manual}/README.md" -a -s "${manual}/pictures/chat-app.svg"
expect "its links hold" links_hold /usr/share/doc/rouse
expect "it has manual pages" test -s /usr/share/man/man1/rouse-serve.1.gz

step "A configuration that cannot be served"
systemctl start rouse && fail "it started without apps"
sleep 3
expect "it ends with 78 and is not tried again" \
    is "$(property ExecMainStatus) $(property NRestarts)" '78 0'
expect "and says what is missing" says 'apps is empty'

step "First start"
rouse apns-simulator --port 2197 --folder /srv/simulator >/dev/null 2>&1 &
stand_in=$!
within 10 test -s /srv/simulator/ca.pem || fail "the simulator did not start"
install -o rouse -g rouse -m 0400 /srv/simulator/AuthKey_LOCALKEY01.p8 /srv/simulator/ca.pem /etc/rouse/
cat >>"${configuration}" <<YAML
apps:
  - bundle-id: com.example.app
    environment: sandbox
    team-id: LOCALTEAM1
    key-file: AuthKey_LOCALKEY01.p8
    server: {host: 127.0.0.1, port: 2197, ca-file: ca.pem}
transport:
  proxy: none
YAML
key=$(runuser -u rouse -- rouse keys create --config "${configuration}" --name test 2>/tmp/out) \
    || { cat /tmp/out; fail "a key for callers is made"; }
mkdir -p /etc/systemd/system/rouse.service.d
printf '[Service]\nWatchdogSec=3s\n' >/etc/systemd/system/rouse.service.d/watchdog.conf
expect "the gateway's user can use it" \
    runuser -u rouse -- rouse doctor --offline --config "${configuration}"
cp /tmp/out /tmp/doctor
expect "and nothing about it is doubtful" grep '0 wrong, 0 warnings' /tmp/doctor
expect "it starts, and systemctl returns when it listens" systemctl enable --now rouse
expect "it answers at once" answers
expect "its status says where" is "$(property StatusText)" 'The gateway listens on 127.0.0.1:8080.'
expect "it runs as its own user" is "$(stat --format %U "/proc/$(property MainPID)")" rouse
id=$(wake 01)
expect "a wake is sent" within 10 is_sent "${id}"
complaints='denied|not permitted|failed to'
if ! grep --quiet '^Max nice priority *24 ' "/proc/$(property MainPID)/limits"; then
    echo "not tried: priorities of threads: this machine does not let systemd raise LimitNICE"
    complaints='denied|not permitted|failed to [^s]'
fi
expect "nothing is complained about" \
    bash -c '! journalctl --unit rouse --output cat | grep -i -E "$1"' bash "${complaints}"
expect "the store is the gateway's alone" is "$(stat --format '%U %a' /var/lib/rouse)" 'rouse 700'
grep -H . "/proc/$(property MainPID)/status" | grep -E 'NoNewPrivs|CapEff|Seccomp:' | sed 's/.*status://'

step "Watchdog and restarts"
sleep 8
expect "it is alive for longer than the watchdog waits" is "$(property NRestarts)" 0
pid=$(property MainPID)
kill -STOP "${pid}"
expect "a gateway that hangs is started anew" within 30 main_pid_is_not "${pid}"
expect "and answers" within 10 answers
expect "because of the watchdog" says 'Watchdog timeout'
pid=$(property MainPID)
kill -KILL "${pid}"
expect "so is one that was killed" within 30 main_pid_is_not "${pid}"
expect "and it answers" within 10 answers
expect "and knows its wakes" is_sent "${id}"

step "Reload"
pid=$(property MainPID)
cp -p "${configuration}" /tmp/good.yaml
echo 'no-such-key: 1' >>"${configuration}"
systemctl reload rouse && fail "a bad configuration was taken over"
expect "a bad configuration is refused, and the gateway goes on" is "$(property MainPID)" "${pid}"
expect "and answers" answers
cp -p /tmp/good.yaml "${configuration}"
expect "a good one is taken over" systemctl reload rouse
sleep 1
expect "without a new process" is "$(property MainPID) $(systemctl is-active rouse)" "${pid} active"
expect "which answers" answers

step "Upgrade"
expect "the same package again" apt-get install -y --reinstall /rouse.deb
expect "starts it anew" main_pid_is_not "${pid}"
expect "and keeps the changed configuration" cmp /tmp/good.yaml "${configuration}"
expect "and its wakes" within 10 is_sent "${id}"

step "Removal"
expect "it stops well" systemctl stop rouse
expect "with 0" is "$(property ExecMainStatus) $(property Result)" '0 success'
expect "it is removed" apt-get remove -y rouse
expect "store and configuration stay" test -s "${configuration}" -a -s /var/lib/rouse/wakes.sqlite
expect "it is purged" apt-get purge -y rouse
rm -r /etc/systemd/system/rouse.service.d
for path in /var/lib/rouse "${configuration}" /usr/bin/rouse /lib/systemd/system/rouse.service \
    /usr/share/doc/rouse /etc/systemd/system/multi-user.target.wants/rouse.service \
    /etc/systemd/system/rouse.service; do
    [[ ! -e ${path} && ! -L ${path} ]] || fail "${path} is still there"
done
expect "keys stay, which dpkg does not know" test -s /etc/rouse/AuthKey_LOCALKEY01.p8
expect "and so does the user" getent passwd rouse
rm -r /etc/rouse
kill "${stand_in}"

step "Again on what is left"
expect "it installs" apt-get install -y --no-install-recommends /rouse.deb
expect "and is purged at once" apt-get purge -y rouse
expect "with its folder" test ! -e /etc/rouse
printf '\nThe package is good.\n'
