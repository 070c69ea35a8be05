#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs what is missing and passes the tests. Whatever follows is passed on to `swift test`, for
# example: Deploy/test.sh --filter PayloadRules
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

Deploy/dependencies.sh build test

step() { printf '\n== %s\n' "$*" >&2; }

step "Format"
swift format lint --strict --recursive --parallel Sources Tests Package.swift

step "Build"
# An import that Package.swift does not declare is an error: the rooms have walls.
build=(--explicit-target-dependency-import-check error)
swift build --build-tests "${build[@]}"

step "Tests"
swift test --skip-build "${build[@]}" "$@"
