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

/// A room: one target in Sources, and what it may import.
func room(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: roomSettings)
}

/// The tests of a room, with what they need beside it.
func tests(
    of room: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []
) -> Target {
    .testTarget(
        name: room + "Tests", dependencies: [.target(name: room)] + dependencies,
        exclude: exclude, swiftSettings: roomSettings)
}

/// The headers of a C library, and the Debian package that holds them.
func systemLibrary(_ name: String, _ pkgConfig: String, apt package: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([package])])
}

typealias Product = Target.Dependency
let argumentParser = Product.product(name: "ArgumentParser", package: "swift-argument-parser")
let asn1 = Product.product(name: "SwiftASN1", package: "swift-asn1")
let coreMetrics = Product.product(name: "CoreMetrics", package: "swift-metrics")
let crypto = Product.product(name: "Crypto", package: "swift-crypto")
let deque = Product.product(name: "DequeModule", package: "swift-collections")
let heap = Product.product(name: "HeapModule", package: "swift-collections")
let httpTypes = Product.product(name: "HTTPTypes", package: "swift-http-types")
let hummingbird = Product.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Product.product(name: "HummingbirdCore", package: "hummingbird")
let lifecycle = Product.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let logging = Product.product(name: "Logging", package: "swift-log")
let nioCore = Product.product(name: "NIOCore", package: "swift-nio")
let nioHPACK = Product.product(name: "NIOHPACK", package: "swift-nio-http2")
let nioHTTP1 = Product.product(name: "NIOHTTP1", package: "swift-nio")
let nioHTTP2 = Product.product(name: "NIOHTTP2", package: "swift-nio-http2")
let nioHTTPTypes = Product.product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let nioHTTPTypesHTTP1 = Product.product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras")
let nioPosix = Product.product(name: "NIOPosix", package: "swift-nio")
let nioSSL = Product.product(name: "NIOSSL", package: "swift-nio-ssl")
let nioTLS = Product.product(name: "NIOTLS", package: "swift-nio")
let sqlite = Product.product(name: "GRDB", package: "GRDB.swift")
let sqliteC = Product.product(name: "GRDBSQLite", package: "GRDB.swift")
let unixSignals = Product.product(name: "UnixSignals", package: "swift-service-lifecycle")
let x509 = Product.product(name: "X509", package: "swift-certificates")
let yams = Product.product(name: "Yams", package: "Yams")

let package = Package(
    name: "rouse",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "rouse", targets: ["rouse"]),
        .library(
            name: "APNsClient", targets: ["APNsClient", "APNsWire", "PushTransport", "WakeModel"]),
        // For programs on Debian 12 that use APNsClient in process; see its header.
        .library(name: "CNghttp2ResetGuard", targets: ["CNghttp2ResetGuard"]),
        .library(name: "APNsSimulator", targets: ["APNsSimulator", "WakeModel"]),
        .library(name: "PayloadRules", targets: ["PayloadRules", "WakeModel"]),
        .library(name: "WakeBudget", targets: ["WakeBudget", "WakeModel"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1.git", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates.git", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-collections.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.35.2"),
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
        // Chance that repeats itself, for tests of all layers.
        .target(name: "SeedKit", path: "Tests/SeedKit", swiftSettings: roomSettings),

        // Layer 0: nouns.
        room("WakeModel"),
        tests(of: "WakeModel", ["SeedKit"]),

        // Layer 1: pure rooms.
        room("PushTransport", ["WakeModel"]),
        room("PayloadRules", ["WakeModel"]),
        tests(of: "PayloadRules", ["SeedKit", "WakeModel"]),
        room("APNsWire", ["PushTransport", "WakeModel"]),
        tests(of: "APNsWire", ["PushTransport", "SeedKit", "WakeModel"]),
        room("WakeBudget", ["WakeModel"]),
        tests(of: "WakeBudget", ["SeedKit", "WakeModel"]),
        room("DeviceModel", ["WakeModel"]),
        tests(of: "DeviceModel", ["WakeModel"]),
        room("WakeSimulation", ["DeviceModel", "WakeBudget", "WakeModel"]),
        tests(of: "WakeSimulation", ["DeviceModel", "WakeBudget", "WakeModel"]),

        // Readers of files, for `rouse validate` and `rouse audit`.
        room("PayloadLint", ["PayloadRules", "WakeModel", yams]),
        tests(of: "PayloadLint", ["PayloadRules", "SeedKit", "WakeModel"], exclude: ["Golden"]),
        room("AppAudit", ["PayloadRules"]),
        tests(of: "AppAudit", ["PayloadRules", "SeedKit"]),

        // Layer 2: the hall.
        room("Gateway", ["PayloadRules", "WakeBudget", "WakeModel", lifecycle, logging]),
        tests(of: "Gateway", ["GatewayTestKit", "PayloadRules", "WakeBudget", "WakeModel"]),
        .target(
            name: "GatewayTestKit",
            dependencies: [
                "Gateway", "PayloadRules", "SeedKit", "WakeBudget", "WakeModel", lifecycle, logging,
            ],
            path: "Tests/GatewayTestKit", swiftSettings: roomSettings),

        // Layer 3: C.
        systemLibrary("CLibcurl", "libcurl", apt: "libcurl4-openssl-dev"),
        systemLibrary("CLibcrypto", "libcrypto", apt: "libssl-dev"),
        systemLibrary("CLibssl", "libssl", apt: "libssl-dev"),
        systemLibrary("CLibnghttp2", "libnghttp2", apt: "libnghttp2-dev"),
        .target(
            name: "CCurlShims", dependencies: ["CLibcurl", "CLibcrypto"],
            linkerSettings: [.linkedLibrary("ssl")]),
        .target(name: "CCryptoShims", dependencies: ["CLibcrypto"]),
        .target(name: "CCacheHints"),
        .target(name: "CNghttp2ResetGuard", dependencies: ["CLibnghttp2"]),
        .target(name: "CHTTP2Shims", dependencies: ["CLibcrypto", "CLibnghttp2", "CLibssl"]),

        // Layer 3: shells.
        room("LoopKit", ["PushTransport", "WakeModel", heap]),
        tests(of: "LoopKit", ["PushTransport", "SeedKit", "TransportTestKit", "WakeModel"]),
        room("CurlTransport", ["CCurlShims", "LoopKit", "PushTransport", "WakeModel", deque]),
        room("HTTP2Transport", ["CHTTP2Shims", "LoopKit", "PushTransport", "WakeModel"]),
        // A client without the reset guard, in a process of its own: the transports' tests run it,
        // and the sanitizers do.
        .executableTarget(
            name: "TransportFixture",
            dependencies: [
                "APNsClient", "APNsWire", "CHTTP2Shims", "CurlTransport", "HTTP2Transport",
                "LoopKit", "PushTransport", "SeedKit", "WakeModel",
            ],
            path: "Tests/TransportFixture",
            exclude: [
                "Valgrind", "address-sanitizer.sh", "server.sh", "thread-sanitizer.sh",
                "valgrind.sh",
            ],
            swiftSettings: roomSettings),
        .target(
            name: "TransportTestKit",
            dependencies: [
                "APNsSimulator", "CLibssl", "CurlTransport", "HTTP2Transport", "PushTransport",
                "WakeModel",
            ],
            path: "Tests/TransportTestKit", swiftSettings: roomSettings),
        // The contract of the port, on both transports.
        tests(
            of: "PushTransport",
            [
                "APNsSimulator", "CNghttp2ResetGuard", "SeedKit", "TransportFixture",
                "TransportTestKit", "WakeModel",
            ]),
        tests(
            of: "CurlTransport",
            [
                "APNsSimulator", "CNghttp2ResetGuard", "PushTransport", "SeedKit",
                "TransportFixture", "TransportTestKit", "WakeModel",
            ]),
        tests(
            of: "HTTP2Transport",
            [
                "APNsSimulator", "CHTTP2Shims", "CLibnghttp2", "LoopKit", "PushTransport",
                "SeedKit", "TransportFixture", "TransportTestKit", "WakeModel",
            ]),
        room(
            "APNsClient",
            [
                "APNsWire", "CCacheHints", "CCryptoShims", "CurlTransport", "HTTP2Transport",
                "LoopKit", "PushTransport", "WakeModel", deque,
            ]),
        tests(
            of: "APNsClient",
            [
                "APNsSimulator", "APNsWire", "CNghttp2ResetGuard", "PushTransport", "SeedKit",
                "WakeModel",
            ]),
        .target(name: "CGatheredLog", linkerSettings: [.linkedLibrary("sqlite3")]),
        room(
            "StoreSQLite",
            [
                "CGatheredLog", "Gateway", "PayloadRules", "WakeBudget", "WakeModel", sqlite,
                sqliteC,
            ]),
        tests(
            of: "StoreSQLite",
            [
                "CGatheredLog", "Gateway", "GatewayTestKit", "PayloadRules", "SeedKit",
                "WakeBudget", "WakeModel", sqlite, sqliteC,
            ]),
        // The dashboard's files, as bytes: see its header.
        .target(name: "CDashboard", exclude: ["Page"]),
        .target(name: "CCurlCalls", dependencies: ["CLibcurl", "CLibcrypto"]),
        room("CurlHTTP", ["CCurlCalls", "CCurlShims"]),
        tests(of: "CurlHTTP", ["HTTPTestKit"]),
        .target(
            name: "HTTPTestKit", path: "Tests/HTTPTestKit", swiftSettings: roomSettings),
        room(
            "AdminAPI",
            [
                "CDashboard", "Gateway", "PayloadRules", "WakeBudget", "WakeModel", coreMetrics,
                crypto,
                httpTypes, hummingbird, hummingbirdCore, lifecycle, logging, nioCore, nioHTTP1,
                nioHTTPTypes, nioHTTPTypesHTTP1, nioSSL,
            ]),
        tests(
            of: "AdminAPI",
            [
                "Gateway", "GatewayTestKit", "PayloadRules", "SeedKit", "WakeBudget", "WakeModel",
                coreMetrics, crypto, httpTypes, lifecycle, logging,
            ]),

        .target(name: "CProcess"),

        // Layer 4: where rooms are wired together.
        room(
            "RouseCommand",
            [
                "APNsClient", "APNsSimulator", "APNsWire", "AdminAPI", "AppAudit", "CProcess",
                "CurlHTTP", "CurlTransport", "DeviceModel", "Gateway", "HTTP2Transport",
                "PayloadLint",
                "PayloadRules", "PushTransport", "StoreSQLite", "WakeBudget", "WakeModel",
                "WakeSimulation", argumentParser, lifecycle, logging, unixSignals, yams,
            ]),
        tests(
            of: "RouseCommand",
            [
                "APNsClient", "APNsSimulator", "APNsWire", "AdminAPI", "Gateway", "GatewayTestKit",
                "HTTPTestKit", "PushTransport", "StoreSQLite", "WakeBudget", "WakeModel", "rouse",
                lifecycle, logging,
            ],
            exclude: ["Golden"]),

        // Layer 5: the program. The guard must be linked into the executable itself, because that
        // is where the dynamic linker looks before it looks into libnghttp2.
        .executableTarget(
            name: "rouse", dependencies: ["CNghttp2ResetGuard", "RouseCommand"],
            swiftSettings: roomSettings),

        // Measurements. Not a product: nothing ships them.
        .target(name: "CBenchmarkProcess"),
        .target(name: "CCurlBaseline", dependencies: ["CLibcurl"]),
        .target(name: "CNghttp2Baseline", dependencies: ["CLibnghttp2", "CLibssl"]),
        .executableTarget(
            name: "RouseBenchmarks",
            dependencies: [
                "APNsClient", "APNsSimulator", "APNsWire", "AdminAPI", "CBenchmarkProcess",
                "CCurlBaseline", "CNghttp2Baseline", "CNghttp2ResetGuard", "CurlTransport",
                "DeviceModel", "Gateway", "HTTP2Transport", "PayloadLint", "PayloadRules",
                "PushTransport", "RouseCommand", "StoreSQLite", "WakeBudget", "WakeModel",
                "WakeSimulation", argumentParser, logging,
            ],
            swiftSettings: roomSettings),

        // The fake: it imports no client code, so that it is an independent check.
        room(
            "APNsSimulator",
            [
                "DeviceModel", "WakeModel", asn1, crypto, heap, logging, nioCore, nioHPACK,
                nioHTTP1, nioPosix, nioSSL, nioTLS, x509,
            ]),
        tests(
            of: "APNsSimulator",
            [
                "DeviceModel", "WakeModel", asn1, crypto, nioCore, nioHPACK, nioHTTP1, nioHTTP2,
                nioPosix, nioSSL, x509,
            ]),

        // The house rules.
        .testTarget(name: "TidyTests", swiftSettings: roomSettings),
    ]
)
