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

let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let lifecycle = Target.Dependency.product(
    name: "ServiceLifecycle", package: "swift-service-lifecycle")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let sqlite = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let unixSignals = Target.Dependency.product(
    name: "UnixSignals", package: "swift-service-lifecycle")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")

let package = Package(
    name: "rouse",
    platforms: [.macOS(.v15)],
    products: [
        .library(
            name: "APNsClient", targets: ["APNsClient", "APNsWire", "PushTransport", "WakeModel"]),
        .library(name: "APNsSimulator", targets: ["APNsSimulator", "WakeModel"]),
        .executable(name: "rouse", targets: ["rouse"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-certificates.git", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-collections.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
        // Without its default traits: Rouse reads its own configuration.
        .package(
            url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1",
            traits: []),
        .package(url: "https://github.com/jpsim/Yams.git", from: "6.2.2"),
        .package(
            url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
    ],
    targets: [
        // Layer 0: nouns.
        .target(name: "WakeModel", swiftSettings: roomSettings),
        .testTarget(
            name: "WakeModelTests", dependencies: ["WakeModel"], swiftSettings: roomSettings),

        // Layer 1: pure rooms.
        .target(name: "PushTransport", dependencies: ["WakeModel"], swiftSettings: roomSettings),
        .target(
            name: "APNsWire", dependencies: ["PushTransport", "WakeModel"],
            swiftSettings: roomSettings),
        .testTarget(
            name: "APNsWireTests", dependencies: ["APNsWire", "PushTransport", "WakeModel"],
            swiftSettings: roomSettings),

        .target(
            name: "PayloadRules", dependencies: ["WakeModel"], swiftSettings: roomSettings),

        // Layer 2: the hall.
        .target(
            name: "Gateway", dependencies: ["WakeModel", "PayloadRules", logging, lifecycle],
            swiftSettings: roomSettings),

        // Layer 3: C.
        .systemLibrary(
            name: "CLibcurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(
            name: "CLibcrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CLibnghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .target(name: "CCurlShims", dependencies: ["CLibcurl", "CLibcrypto"]),
        .target(name: "CCryptoShims", dependencies: ["CLibcrypto"]),
        .target(name: "CNghttp2ResetGuard", dependencies: ["CLibnghttp2"]),

        // Layer 3: shells.
        .target(
            name: "CurlTransport",
            dependencies: [
                "CCurlShims", "PushTransport", "WakeModel",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            swiftSettings: roomSettings),
        .testTarget(
            name: "CurlTransportTests",
            dependencies: [
                "APNsSimulator", "CNghttp2ResetGuard", "CurlTransport", "PushTransport",
                "WakeModel",
            ],
            swiftSettings: roomSettings),
        .target(
            name: "APNsClient",
            dependencies: [
                "APNsWire", "CCryptoShims", "CurlTransport", "PushTransport", "WakeModel",
            ],
            swiftSettings: roomSettings),
        .testTarget(
            name: "APNsClientTests",
            dependencies: [
                "APNsClient", "APNsSimulator", "APNsWire", "CNghttp2ResetGuard", "PushTransport",
                "WakeModel",
            ],
            swiftSettings: roomSettings),
        .target(
            name: "StoreSQLite", dependencies: ["WakeModel", "PayloadRules", "Gateway", sqlite],
            swiftSettings: roomSettings),
        .target(
            name: "AdminAPI",
            dependencies: [
                "WakeModel", "PayloadRules", "Gateway", hummingbird, hummingbirdCore, nioCore,
                httpTypes, logging, lifecycle,
            ],
            swiftSettings: roomSettings),

        // Layer 4: where rooms are wired together.
        .target(
            name: "RouseCommand",
            dependencies: [
                "APNsClient", "APNsSimulator", "APNsWire", "AdminAPI", "CurlTransport", "Gateway",
                "PayloadRules", "PushTransport", "StoreSQLite", "WakeModel", argumentParser,
                lifecycle, logging, unixSignals, yams,
            ],
            swiftSettings: roomSettings),
        .testTarget(
            name: "RouseCommandTests",
            dependencies: [
                "APNsClient", "APNsSimulator", "APNsWire", "PushTransport", "RouseCommand",
                "WakeModel", "rouse", logging,
            ],
            exclude: ["Golden"], swiftSettings: roomSettings),

        // Layer 5: the program. The guard must be linked into the executable itself, because that
        // is where the dynamic linker looks before it looks into libnghttp2.
        .executableTarget(
            name: "rouse", dependencies: ["CNghttp2ResetGuard", "RouseCommand"],
            swiftSettings: roomSettings),

        // The fake: it imports no client code, so that it is an independent check.
        .target(
            name: "APNsSimulator",
            dependencies: [
                "WakeModel",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            swiftSettings: roomSettings),
    ]
)
