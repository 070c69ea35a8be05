// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// Every room compiles with the same flags. Warnings are errors where `CI` is set, so that a newer
// compiler's new warning never stops somebody who only wants to build.
let isContinuousIntegration = Context.environment["CI"] != nil
let roomSettings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + (isContinuousIntegration ? [.treatAllWarnings(as: .error)] : [])

let package = Package(
    name: "rouse",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "PayloadRules", targets: ["PayloadRules", "WakeModel"])
    ],
    dependencies: [],
    targets: [
        // Layer 0: nouns.
        .target(name: "WakeModel", swiftSettings: roomSettings),
        .testTarget(
            name: "WakeModelTests", dependencies: ["WakeModel"], swiftSettings: roomSettings),

        // Layer 1: pure rooms.
        .target(name: "PayloadRules", dependencies: ["WakeModel"], swiftSettings: roomSettings),
        .testTarget(
            name: "PayloadRulesTests", dependencies: ["PayloadRules", "WakeModel"],
            swiftSettings: roomSettings),
    ]
)
