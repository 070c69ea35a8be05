// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// Every module compiles with the same flags. Warnings are errors where `CI` is set, so that a newer
// compiler's new warning never stops somebody who only wants to build.
let isContinuousIntegration = Context.environment["CI"] != nil
let swiftSettings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + (isContinuousIntegration ? [.treatAllWarnings(as: .error)] : [])

/// The products of which the tree consists: a folder in Sources, and one of the same name in Tests.
enum Folder: String {
    case core = "Core"
    case apns = "APNs"
    case gateway = "Gateway"
    case lint = "Lint"
    case simulation = "Simulation"
    case command = "Command"
}

/// A module, and what it may import.
func module(
    _ name: String, in folder: Folder, _ dependencies: [Target.Dependency] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/\(folder.rawValue)/\(name)",
        swiftSettings: swiftSettings)
}

/// A module in C.
func cModule(
    _ name: String, in folder: Folder, _ dependencies: [Target.Dependency] = [],
    exclude: [String] = [], linkerSettings: [LinkerSetting] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/\(folder.rawValue)/C/\(name)",
        exclude: exclude, linkerSettings: linkerSettings)
}

/// The tests of a module, with what they need beside it.
func tests(
    of module: String, in folder: Folder, _ dependencies: [Target.Dependency] = [],
    exclude: [String] = []
) -> Target {
    .testTarget(
        name: module + "Tests", dependencies: [.target(name: module)] + dependencies,
        path: "Tests/\(folder.rawValue)/\(module)Tests", exclude: exclude,
        swiftSettings: swiftSettings)
}

/// What several suites share.
func testSupport(
    _ name: String, in folder: Folder, _ dependencies: [Target.Dependency] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Tests/\(folder.rawValue)/\(name)",
        swiftSettings: swiftSettings)
}

/// The headers of a C library, and the Debian package that holds them.
func systemLibrary(
    _ name: String, _ pkgConfig: String, in folder: Folder, apt package: String
) -> Target {
    .systemLibrary(
        name: name, path: "Sources/\(folder.rawValue)/C/\(name)", pkgConfig: pkgConfig,
        providers: [.apt([package])])
}

typealias Product = Target.Dependency
let argumentParser = Product.product(name: "ArgumentParser", package: "swift-argument-parser")
let coreMetrics = Product.product(name: "CoreMetrics", package: "swift-metrics")
let deque = Product.product(name: "DequeModule", package: "swift-collections")
let heap = Product.product(name: "HeapModule", package: "swift-collections")
let httpTypes = Product.product(name: "HTTPTypes", package: "swift-http-types")
let hummingbird = Product.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Product.product(name: "HummingbirdCore", package: "hummingbird")
let lifecycle = Product.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let logging = Product.product(name: "Logging", package: "swift-log")
let nioCore = Product.product(name: "NIOCore", package: "swift-nio")
let nioEmbedded = Product.product(name: "NIOEmbedded", package: "swift-nio")
let nioHPACK = Product.product(name: "NIOHPACK", package: "swift-nio-http2")
let nioHTTP1 = Product.product(name: "NIOHTTP1", package: "swift-nio")
let nioHTTP2 = Product.product(name: "NIOHTTP2", package: "swift-nio-http2")
let nioHTTPTypes = Product.product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let nioHTTPTypesHTTP1 = Product.product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras")
let nioHTTPTypesHTTP2 = Product.product(name: "NIOHTTPTypesHTTP2", package: "swift-nio-extras")
let nioPosix = Product.product(name: "NIOPosix", package: "swift-nio")
let nioSSL = Product.product(name: "NIOSSL", package: "swift-nio-ssl")
let nioTLS = Product.product(name: "NIOTLS", package: "swift-nio")
let unixSignals = Product.product(name: "UnixSignals", package: "swift-service-lifecycle")

let package = Package(
    name: "rouse",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "rouse", targets: ["rouse"]),
        .library(
            name: "APNsClient", targets: ["APNsClient", "APNsWire", "PushTransport", "WakeModel"]),
        // For programs on Debian 12 that use APNsClient in process; see its header.
        .library(name: "CNghttp2ResetGuard", targets: ["CNghttp2ResetGuard"]),
        .library(
            name: "Gateway",
            targets: [
                "APNsClient", "APNsSender", "APNsWire", "Gateway", "PayloadRules", "PushTransport",
                "StoreSQLite", "WakeBudget", "WakeModel",
            ]),
        .library(name: "APNsSimulator", targets: ["APNsSimulator", "DeviceModel", "WakeModel"]),
        .library(name: "PayloadRules", targets: ["PayloadRules", "WakeModel"]),
        .library(name: "WakeBudget", targets: ["WakeBudget", "WakeModel"]),
        // Every module, for Tests/Benchmarks only. It promises nothing.
        .library(
            name: "_RouseModules", targets: ["CNghttp2ResetGuard", "PayloadLint", "RouseCommand"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
        // Without its default traits: Rouse reads its own configuration.
        .package(
            url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1",
            traits: []),
        .package(
            url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
    ],
    targets: [
        // Chance that repeats itself, for tests of all layers.
        testSupport("SeedKit", in: .core, ["WakeModel"]),

        // Waiting in tests: what must not happen for a time, and time that passes.
        testSupport("WaitKit", in: .core),

        // Programs that tests start.
        testSupport("ProcessKit", in: .core),

        // Layer 0: values.
        module("WakeModel", in: .core),
        tests(of: "WakeModel", in: .core, ["SeedKit"]),

        // OpenSSL's libcrypto, for whoever hashes, signs, verifies or makes a certificate.
        systemLibrary("CLibcrypto", "libcrypto", in: .core, apt: "libssl-dev"),
        cModule("CCryptoShims", in: .core, ["CLibcrypto"]),
        module("OpenSSLCrypto", in: .core, ["CCryptoShims"]),
        tests(of: "OpenSSLCrypto", in: .core),
        systemLibrary("CLibssl", "libssl", in: .core, apt: "libssl-dev"),
        cModule("CServerTLS", in: .core, ["CLibcrypto", "CLibssl"]),
        module("ServerTLS", in: .core, ["CServerTLS", nioCore, nioTLS]),
        // Against the client of another TLS library.
        tests(
            of: "ServerTLS", in: .core,
            ["OpenSSLCrypto", "SeedKit", nioCore, nioEmbedded, nioSSL, nioTLS]),

        // The only reader of JSON, for whoever judges, splits or merges it.
        module("StrictJSON", in: .core),
        tests(of: "StrictJSON", in: .core, ["JSONTestKit", "SeedKit"]),
        testSupport("JSONTestKit", in: .core, ["SeedKit", "StrictJSON"]),

        // Layer 1: pure modules.
        module("PushTransport", in: .apns, ["WakeModel"]),
        module("PayloadRules", in: .lint, ["StrictJSON", "WakeModel"]),
        tests(
            of: "PayloadRules", in: .lint, ["JSONTestKit", "SeedKit", "StrictJSON", "WakeModel"]),
        module("APNsWire", in: .apns, ["PushTransport", "StrictJSON", "WakeModel"]),
        tests(of: "APNsWire", in: .apns, ["PushTransport", "SeedKit", "WakeModel"]),
        module("WakeBudget", in: .gateway, ["StrictJSON", "WakeModel"]),
        tests(of: "WakeBudget", in: .gateway, ["SeedKit", "WakeModel"]),
        module("DeviceModel", in: .simulation, ["WakeModel"]),
        tests(of: "DeviceModel", in: .simulation, ["WakeModel"]),
        module("WakeSimulation", in: .simulation, ["DeviceModel", "WakeBudget", "WakeModel"]),
        tests(of: "WakeSimulation", in: .simulation, ["DeviceModel", "WakeBudget", "WakeModel"]),

        // Readers of files, for `rouse validate` and `rouse audit`.
        systemLibrary("CLibyaml", "yaml-0.1", in: .lint, apt: "libyaml-dev"),
        module("PayloadLint", in: .lint, ["CLibyaml", "PayloadRules", "StrictJSON", "WakeModel"]),
        tests(
            of: "PayloadLint", in: .lint,
            ["PayloadRules", "SeedKit", "StrictJSON", "WakeModel"], exclude: ["Golden"]),
        module("AppAudit", in: .lint, ["PayloadLint", "PayloadRules"]),
        tests(of: "AppAudit", in: .lint, ["PayloadLint", "PayloadRules", "SeedKit"]),

        // Layer 2: the gateway.
        module(
            "Gateway", in: .gateway,
            ["PayloadRules", "WakeBudget", "WakeModel", lifecycle, logging]),
        tests(
            of: "Gateway", in: .gateway,
            ["GatewayTestKit", "PayloadRules", "WaitKit", "WakeBudget", "WakeModel"]),
        testSupport(
            "GatewayTestKit", in: .gateway,
            [
                "Gateway", "PayloadRules", "SeedKit", "WaitKit", "WakeBudget", "WakeModel",
                lifecycle, logging,
            ]),

        // Layer 3: C.
        systemLibrary("CLibcurl", "libcurl", in: .apns, apt: "libcurl4-openssl-dev"),
        systemLibrary("CLibnghttp2", "libnghttp2", in: .apns, apt: "libnghttp2-dev"),
        cModule(
            "CCurlShims", in: .apns, ["CLibcurl", "CLibcrypto"],
            linkerSettings: [.linkedLibrary("ssl")]),
        cModule("CNghttp2ResetGuard", in: .apns, ["CLibnghttp2"]),
        cModule("CHTTP2Shims", in: .apns, ["CLibcrypto", "CLibnghttp2", "CLibssl"]),

        // Layer 3: shells.
        module("LoopKit", in: .apns, ["PushTransport", "WakeModel", heap]),
        tests(
            of: "LoopKit", in: .apns,
            ["PushTransport", "SeedKit", "TransportTestKit", "WaitKit", "WakeModel"]),
        module(
            "CurlTransport", in: .apns,
            ["CCurlShims", "LoopKit", "PushTransport", "WakeModel", deque]),
        module(
            "HTTP2Transport", in: .apns, ["CHTTP2Shims", "LoopKit", "PushTransport", "WakeModel"]),
        // A client without the reset guard, in a process of its own: the transports' tests run it,
        // and the sanitizers do.
        .executableTarget(
            name: "TransportFixture",
            dependencies: [
                "APNsClient", "APNsWire", "CHTTP2Shims", "CurlTransport", "HTTP2Transport",
                "LoopKit", "PushTransport", "SeedKit", "WaitKit", "WakeModel",
            ],
            path: "Tests/APNs/TransportFixture",
            exclude: [
                "Valgrind", "address-sanitizer.sh", "server.sh", "thread-sanitizer.sh",
                "valgrind.sh",
            ],
            swiftSettings: swiftSettings),
        testSupport(
            "TransportTestKit", in: .apns,
            [
                "APNsSimulator", "CLibssl", "CurlTransport", "HTTP2Transport", "ProcessKit",
                "PushTransport", "WakeModel",
            ]),
        // The contract of the port, on both transports.
        tests(
            of: "PushTransport", in: .apns,
            [
                "APNsSimulator", "CNghttp2ResetGuard", "SeedKit", "TransportFixture",
                "TransportTestKit", "WaitKit", "WakeModel",
            ]),
        tests(
            of: "CurlTransport", in: .apns,
            [
                "APNsSimulator", "CNghttp2ResetGuard", "PushTransport", "SeedKit",
                "TransportFixture", "TransportTestKit", "WaitKit", "WakeModel",
            ]),
        tests(
            of: "HTTP2Transport", in: .apns,
            [
                "APNsSimulator", "CHTTP2Shims", "CLibnghttp2", "LoopKit", "PushTransport",
                "SeedKit", "TransportFixture", "TransportTestKit", "WaitKit", "WakeModel",
            ]),
        module(
            "APNsClient", in: .apns,
            [
                "APNsWire", "CurlTransport", "HTTP2Transport", "LoopKit", "OpenSSLCrypto",
                "PushTransport", "WakeModel",
            ]),
        tests(
            of: "APNsClient", in: .apns,
            [
                "APNsSimulator", "APNsWire", "CNghttp2ResetGuard", "PushTransport", "SeedKit",
                "WakeModel",
            ]),
        // How rows stand in columns, for all stores that have some.
        module("StoreRows", in: .gateway, ["Gateway", "WakeBudget", "WakeModel"]),
        tests(
            of: "StoreRows", in: .gateway,
            ["Gateway", "SeedKit", "StoreTestKit", "WakeModel"]),
        systemLibrary("CLibsqlite3", "sqlite3", in: .gateway, apt: "libsqlite3-dev"),
        cModule("CGatheredLog", in: .gateway, ["CLibsqlite3"]),
        module(
            "StoreSQLite", in: .gateway,
            [
                "CGatheredLog", "CLibsqlite3", "Gateway", "PayloadRules", "StoreRows",
                "WakeBudget", "WakeModel",
            ]),
        tests(
            of: "StoreSQLite", in: .gateway,
            [
                "CGatheredLog", "CLibsqlite3", "CSimulatedDisk", "Gateway", "GatewayTestKit",
                "PayloadRules", "SeedKit", "StoreRows", "StoreTestKit", "WaitKit", "WakeBudget",
                "WakeModel",
            ]),
        // A disk that fails, tears and loses, for the simulation of the store.
        .target(
            name: "CSimulatedDisk", path: "Tests/Gateway/CSimulatedDisk",
            linkerSettings: [.linkedLibrary("sqlite3")]),
        systemLibrary("CLibpq", "libpq", in: .gateway, apt: "libpq-dev"),
        module(
            "StorePostgreSQL", in: .gateway,
            [
                "CLibcrypto", "CLibpq", "Gateway", "PayloadRules", "StoreRows", "WakeBudget",
                "WakeModel", deque,
            ]),
        tests(
            of: "StorePostgreSQL", in: .gateway,
            [
                "Gateway", "GatewayTestKit", "PayloadRules", "PostgreSQLTestKit", "SeedKit",
                "StoreTestKit", "WaitKit", "WakeBudget", "WakeModel",
            ]),
        // What the suites of all stores share, and what holds for each of them.
        testSupport(
            "StoreTestKit", in: .gateway,
            [
                "Gateway", "GatewayTestKit", "SeedKit", "WakeBudget", "WakeModel", lifecycle,
                logging,
            ]),
        .testTarget(
            name: "StoreContractTests",
            dependencies: [
                "AdminAPI", "Gateway", "GatewayTestKit", "PayloadRules", "PostgreSQLTestKit",
                "SeedKit", "StorePostgreSQL", "StoreRows",
                "StoreSQLite", "StoreTestKit", "WaitKit", "WakeBudget", "WakeModel",
            ], path: "Tests/Gateway/StoreContractTests", swiftSettings: swiftSettings),
        // A server of Debian's packages, and a proxy that cuts connections.
        testSupport("PostgreSQLTestKit", in: .gateway, ["ProcessKit"]),
        // The dashboard's files, as bytes: see its header.
        cModule("CDashboard", in: .gateway, exclude: ["Page"]),
        cModule("CCurlCalls", in: .gateway, ["CLibcurl", "CLibcrypto"]),
        module("CurlHTTP", in: .gateway, ["CCurlCalls", "CCurlShims"]),
        tests(of: "CurlHTTP", in: .gateway, ["HTTPTestKit"]),
        testSupport("HTTPTestKit", in: .gateway),
        module(
            "AdminAPI", in: .gateway,
            [
                "CDashboard", "Gateway", "OpenSSLCrypto", "PayloadRules", "ServerTLS",
                "StrictJSON", "WakeBudget", "WakeModel", coreMetrics, deque, httpTypes,
                hummingbird, hummingbirdCore, lifecycle, logging, nioCore, nioHPACK, nioHTTP1,
                nioHTTP2, nioHTTPTypes, nioHTTPTypesHTTP1, nioHTTPTypesHTTP2, nioTLS,
            ]),
        tests(
            of: "AdminAPI", in: .gateway,
            [
                "Gateway", "GatewayTestKit", "OpenSSLCrypto", "PayloadRules", "SeedKit",
                "StrictJSON", "WaitKit", "WakeBudget", "WakeModel", coreMetrics, httpTypes,
                hummingbird, lifecycle, logging, nioCore, nioEmbedded, nioHPACK,
            ]),

        // Where the gateway meets the client of APNs.
        module(
            "APNsSender", in: .gateway,
            ["APNsClient", "APNsWire", "Gateway", "PushTransport", "WakeModel"]),
        tests(
            of: "APNsSender", in: .gateway,
            [
                "APNsClient", "APNsSimulator", "APNsWire", "Gateway", "GatewayTestKit",
                "PushTransport",
                "StoreSQLite", "StoreTestKit", "WakeModel", logging,
            ]),

        cModule("CProcess", in: .command),

        // Layer 4: where the modules are wired together.
        module(
            "RouseCommand", in: .command,
            [
                "APNsClient", "APNsSender", "APNsSimulator", "APNsWire", "AdminAPI", "AppAudit",
                "CProcess",
                "CurlHTTP", "CurlTransport", "DeviceModel", "Gateway", "HTTP2Transport",
                "OpenSSLCrypto", "PayloadLint", "PayloadRules", "PushTransport", "StorePostgreSQL",
                "StoreSQLite", "WakeBudget", "WakeModel", "WakeSimulation", argumentParser,
                lifecycle, logging, nioCore, unixSignals,
            ]),
        tests(
            of: "RouseCommand", in: .command,
            [
                "APNsClient", "APNsSender", "APNsSimulator", "APNsWire", "AdminAPI",
                "CurlTransport", "Gateway", "GatewayTestKit", "HTTPTestKit", "PostgreSQLTestKit",
                "ProcessKit", "PushTransport",
                "StoreSQLite", "WaitKit", "WakeBudget", "WakeModel", "rouse", lifecycle, logging,
            ],
            exclude: ["Golden"]),

        // Layer 5: the program. The guard must be linked into the executable itself, because that
        // is where the dynamic linker looks before it looks into libnghttp2.
        .executableTarget(
            name: "rouse", dependencies: ["CNghttp2ResetGuard", "RouseCommand"],
            path: "Sources/Command/rouse", swiftSettings: swiftSettings),

        // The simulator imports no client code, so that it is an independent check.
        module(
            "APNsSimulator", in: .simulation,
            [
                "DeviceModel", "OpenSSLCrypto", "ServerTLS", "WakeModel", heap, logging, nioCore,
                nioHPACK, nioHTTP1, nioPosix, nioTLS,
            ]),
        tests(
            of: "APNsSimulator", in: .simulation,
            [
                "DeviceModel", "OpenSSLCrypto", "WakeModel", nioCore, nioHPACK, nioHTTP1,
                nioHTTP2, nioPosix, nioSSL,
            ]),

        // The rules of the repository.
        .testTarget(name: "TidyTests", swiftSettings: swiftSettings),
    ]
)
