#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the Debian package of Rouse: a program with the Swift runtime inside, a systemd unit, the
# configuration, the manual, manual pages and completions.
#
#   Deploy/package.sh                        builds a release and packs it into .build/debian
#   Deploy/package.sh --program FILE         packs a program that was built already
#   Deploy/package.sh --output FOLDER        puts the package there
#
# SOURCE_DATE_EPOCH, by default the last commit's time, makes two packages of one program equal.
# DEBFULLNAME and DEBEMAIL say who maintains the package; without them nobody on this machine does.
# Beyond what building needs it wants dpkg-dev, which brings Perl for the manual pages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

program=
output=.build/debian
while [[ $# -gt 0 ]]; do
    case $1 in
        --program) program=${2:?--program needs a file}; shift 2 ;;
        --output) output=${2:?--output needs a folder}; shift 2 ;;
        *) sed -n '4,13s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
    esac
done

# The libraries that the program may need. Anything else slipped in unseen: a Swift library means
# that it was not linked with --static-swift-stdlib.
readonly allowed='libc.so.6 libm.so.6 libgcc_s.so.1 libstdc++.so.6 libcrypto.so.3 libcurl.so.4
    libnghttp2.so.14 libpq.so.5 libsqlite3.so.0 libssl.so.3 libyaml-0.so.2'

for tool in dpkg-shlibdeps dpkg-deb dpkg-gencontrol; do
    if ! command -v "${tool}" >/dev/null; then
        echo "${tool} is missing. Install it with: apt-get install dpkg-dev" >&2
        exit 69
    fi
done

if [[ -z ${program} ]]; then
    Deploy/dependencies.sh build
    # Every library is found where Debian puts it, and bound before the program begins, so that the
    # table of functions is read-only from then on. Names that no library asks the program for are
    # left out (3 MB), and so are functions that nothing calls, each of which has a section of its
    # own (1.8 MB). The relocations are packed (2 MB), which Swift's own linker can, and the C library
    # has understood since Debian 12.
    build=(swift build --configuration release --product rouse --static-swift-stdlib
        --disable-local-rpath -Xswiftc -Xfrontend -Xswiftc -function-sections
        -Xswiftc -use-ld=lld -Xlinker -z -Xlinker now
        -Xlinker --no-export-dynamic -Xlinker -z -Xlinker pack-relative-relocs)
    "${build[@]}" >&2
    program=$("${build[@]}" --show-bin-path)/rouse
fi

version=$("${program}" --version)
maintainer="${DEBFULLNAME:-Rouse} <${DEBEMAIL:-rouse@localhost}>"
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2>/dev/null || date +%s)}"
export SOURCE_DATE_EPOCH
date=$(date --utc --date="@${SOURCE_DATE_EPOCH}" +%Y-%m-%d)
work=$(mktemp -d)
trap 'rm -rf "${work}"' EXIT
umask 022
tree=${work}/tree
mkdir -p "${work}/debian" "${tree}/DEBIAN" "${output}"
output=$(realpath "${output}")

put() { install -D --mode="$1" "$2" "${tree}/$3"; }

check_libraries() {
    local library
    while read -r library; do
        if [[ ${library} != ld-linux* && " ${allowed//[[:space:]]/ } " != *" ${library} "* ]]; then
            echo "${program} needs ${library}, which the package may not depend on." >&2
            exit 70
        fi
    done < <(readelf --dynamic --wide "${program}" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
}

install_program() {
    put 0755 "${program}" usr/bin/rouse
    strip --remove-section=.comment --remove-section=.note "${tree}/usr/bin/rouse"
}

install_configuration() {
    put 0640 Deploy/rouse.yaml etc/rouse/rouse.yaml
    chmod 0750 "${tree}/etc/rouse"
    put 0644 Deploy/debian/rouse.service lib/systemd/system/rouse.service
    echo /etc/rouse/rouse.yaml >"${tree}/DEBIAN/conffiles"
}

install_manual_pages() {
    local folder=${work}/man page
    mkdir "${folder}"
    "${program}" --experimental-dump-help \
        | perl Deploy/man.pl "${version}" "${date}" Deploy/rouse.yaml "${folder}"
    for page in "${folder}"/*; do
        gzip --best --no-name "${page}"
        put 0644 "${page}.gz" "usr/share/man/man${page##*.}/${page##*/}.gz"
    done
}

install_completions() {
    local shell path
    local -A paths=(
        [bash]=bash-completion/completions/rouse
        [zsh]=zsh/vendor-completions/_rouse
        [fish]=fish/vendor_completions.d/rouse.fish
    )
    for shell in "${!paths[@]}"; do
        path=${work}/completion
        # It is read by a shell, never run, so it needs no interpreter's line.
        "${program}" --generate-completion-script "${shell}" | sed '1{/^#!/d}' >"${path}"
        put 0644 "${path}" "usr/share/${paths[${shell}]}"
    done
}

# The manual for reading without a network. What is in Deploy here is in one folder there, so that
# links between its pages hold. Two kinds of links lead out of Deploy: those to pages of modules,
# which come along in modules/, and those to the README, which is overview.md there.
install_manual() {
    local folder=usr/share/doc/rouse file
    while read -r file; do
        put_page "${file}" "${folder}/${file#Deploy/}"
    done < <(find Deploy/{README.md,ci/README.md,ci/github/simulator.yml,ci/gitlab/simulator.yml} \
        Deploy/{dependencies.txt,docker/Dockerfile,examples,helm/values.yaml,manual,rouse.yaml} \
        Deploy/scenarios -type f ! -name 'test.*')
    put_page README.md "${folder}/overview.md"
    while read -r file; do
        put_page "${file}" "${folder}/modules/${file#Sources/}"
    done < <(grep -ohE 'Sources/[[:alnum:]/.]+\.md' README.md Deploy/manual/*.md | sort -u)
}

# put_page FILE PATH: installs a file; links of a Markdown page lead where their goals are then.
put_page() {
    put 0644 "$1" "$2"
    if [[ $1 == *.md ]]; then
        sed -i -E -e 's|\]\(\.\./\.\./README\.md|](../overview.md|g' \
            -e 's|\]\(((\.\./)*)\.\./Sources/|](\1modules/|g' \
            -e 's|\]\(Sources/|](modules/|g' -e 's|\]\(Deploy/|](|g' "${tree}/$2"
    fi
}

install_documents() {
    local folder=usr/share/doc/rouse file
    put 0644 Deploy/debian/copyright "${folder}/copyright"
    put 0644 Deploy/debian/README.Debian "${folder}/README.Debian"
    put 0644 Deploy/debian/override.conf "${folder}/examples/override.conf"
    for file in Deploy/prometheus/{alerts.yaml,prometheus.yaml} Deploy/grafana/*.json; do
        put 0644 "${file}" "${folder}/examples/${file##*/}"
    done
    put 0644 Deploy/debian/lintian-overrides usr/share/lintian/overrides/rouse
    changelog | gzip --best --no-name >"${tree}/${folder}/changelog.gz"
}

# One entry, for the version that is packed; the history is git's.
changelog() {
    printf 'rouse (%s) unstable; urgency=medium\n\n  * Release %s.\n\n -- %s  %s\n' \
        "${version}" "${version}" "${maintainer}" \
        "$(date --utc --date="@${SOURCE_DATE_EPOCH}" --rfc-email)"
}

# dpkg's tools look for debian/control and debian/changelog where they are started.
write_control() {
    sed "s/@MAINTAINER@/${maintainer}/" Deploy/debian/control >"${work}/debian/control"
    changelog >"${work}/debian/changelog"
    (
        cd "${work}"
        dpkg-shlibdeps -O -e"${tree}/usr/bin/rouse" >debian/substvars
        # No symbol shows that packed relocations need this version.
        if readelf --dynamic --wide "${tree}/usr/bin/rouse" | grep '(RELR)' >/dev/null; then
            echo 'rouse:Depends=libc6 (>= 2.36)' >>debian/substvars
        fi
        dpkg-gencontrol -prouse -Tdebian/substvars -P"${tree}" -fdebian/files
    )
    for script in postinst prerm postrm; do
        put 0755 "Deploy/debian/${script}" "DEBIAN/${script}"
    done
    (cd "${tree}" && find . -type f -not -path './DEBIAN/*' -printf '%P\0' | LC_ALL=C sort -z \
        | xargs -0 md5sum >DEBIAN/md5sums)
}

check_libraries
install_program
install_configuration
install_manual_pages
install_completions
install_manual
install_documents
write_control
find "${tree}" -newermt "@${SOURCE_DATE_EPOCH}" -exec \
    touch --no-dereference --date="@${SOURCE_DATE_EPOCH}" {} +
dpkg-deb --root-owner-group --build "${tree}" "${output}" >&2
echo "${output}/rouse_${version}_$(dpkg --print-architecture).deb"
