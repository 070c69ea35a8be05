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
        .library(
            name: "APNsClient", targets: ["APNsClient", "APNsWire", "PushTransport", "WakeModel"]),
        .library(name: "APNsSimulator", targets: ["APNsSimulator", "WakeModel"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-certificates.git", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-collections.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
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

        // Layer 3: C.
        .systemLibrary(
            name: "CLibcurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(
            name: "CLibcrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CLibnghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .target(
            name: "CCurlShims", dependencies: ["CLibcurl", "CLibcrypto"],
            linkerSettings: [.linkedLibrary("ssl")]),
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
        // A client without the reset guard, in a process of its own; CurlTransportTests and the
        // thread sanitizer run it.
        .executableTarget(
            name: "CurlTransportFixture",
            dependencies: ["CurlTransport", "PushTransport", "WakeModel"],
            path: "Tests/CurlTransportFixture", exclude: ["thread-sanitizer.sh"],
            swiftSettings: roomSettings),
        .testTarget(
            name: "CurlTransportTests",
            dependencies: [
                "APNsSimulator", "CNghttp2ResetGuard", "CurlTransport", "CurlTransportFixture",
                "PushTransport", "WakeModel",
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
