#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Type-checks the app's files of the manual, in Swift 6 mode with warnings as errors, against the
# stubs beside this script: as an app's target is usually set up, and with "Default Actor
# Isolation: MainActor", which new projects of Xcode 26 have.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

modules=$(mktemp -d)
trap 'rm -rf "${modules}"' EXIT
for name in UIKit PushKit CallKit; do
    swiftc -swift-version 6 -parse-as-library -emit-module -module-name "${name}" \
        -emit-module-path "${modules}/${name}.swiftmodule" "${name}.swift"
done
for isolation in nonisolated MainActor; do
    for flags in "" "-D DEBUG"; do
        # The flags are words of their own, or none.
        # shellcheck disable=SC2086
        swiftc -swift-version 6 -typecheck -warnings-as-errors -default-isolation "${isolation}" \
            -enable-upcoming-feature ExistentialAny -enable-upcoming-feature MemberImportVisibility \
            ${flags} -I "${modules}" -module-name App ../app/*.swift
    done
done
echo "The app's files type-check." >&2
