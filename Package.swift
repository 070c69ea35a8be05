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

let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let lifecycle = Target.Dependency.product(
    name: "ServiceLifecycle", package: "swift-service-lifecycle")
let sqlite = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")

let package = Package(
    name: "rouse",
    platforms: [.macOS(.v15)],
    products: [],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(
            url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
        // Without its default traits: Rouse reads its own configuration.
        .package(
            url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1",
            traits: []),
    ],
    targets: [
        // Layer 0: nouns.
        .target(name: "WakeModel", swiftSettings: roomSettings),
        .testTarget(
            name: "WakeModelTests", dependencies: ["WakeModel"], swiftSettings: roomSettings),

        // Layer 1: pure rooms.
        .target(
            name: "PayloadRules", dependencies: ["WakeModel"], swiftSettings: roomSettings),

        // Layer 2: the hall.
        .target(
            name: "Gateway", dependencies: ["WakeModel", "PayloadRules", logging, lifecycle],
            swiftSettings: roomSettings),

        // Layer 3: shells.
        .target(
            name: "StoreSQLite", dependencies: ["WakeModel", "PayloadRules", "Gateway", sqlite],
            swiftSettings: roomSettings),
        .target(
            name: "AdminAPI",
            dependencies: [
                "WakeModel", "PayloadRules", "Gateway", hummingbird, hummingbirdCore, nioCore,
                httpTypes,
                logging, lifecycle,
            ],
            swiftSettings: roomSettings),

        // Tests.
        .target(
            name: "GatewayTestKit",
            dependencies: ["WakeModel", "PayloadRules", "Gateway", logging, lifecycle],
            path: "Tests/GatewayTestKit", swiftSettings: roomSettings),
        .testTarget(
            name: "GatewayTests",
            dependencies: ["WakeModel", "PayloadRules", "Gateway", "GatewayTestKit"],
            swiftSettings: roomSettings),
        .testTarget(
            name: "StoreSQLiteTests",
            dependencies: [
                "WakeModel", "PayloadRules", "Gateway", "GatewayTestKit", "StoreSQLite",
            ],
            swiftSettings: roomSettings),
        .testTarget(
            name: "AdminAPITests",
            dependencies: [
                "WakeModel", "PayloadRules", "Gateway", "GatewayTestKit", "AdminAPI", lifecycle,
            ],
            swiftSettings: roomSettings),
    ]
)
