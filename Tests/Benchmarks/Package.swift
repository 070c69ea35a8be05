// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

// A package of its own, so that only those who measure compile it, linked as Rouse's package is:
//
//     swift run -c release --static-swift-stdlib --package-path Tests/Benchmarks \
//         RouseBenchmarks --help

import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "rouse-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "rouse", path: "../.."),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
    ],
    targets: [
        .target(name: "CBenchmarkProcess"),
        .target(name: "CCurlBaseline", linkerSettings: [.linkedLibrary("curl")]),
        .target(
            name: "CNghttp2Baseline",
            linkerSettings: [
                .linkedLibrary("crypto"), .linkedLibrary("nghttp2"), .linkedLibrary("ssl"),
            ]),
        .target(name: "CStoreBaseline", linkerSettings: [.linkedLibrary("sqlite3")]),
        .executableTarget(
            name: "RouseBenchmarks",
            dependencies: [
                "CBenchmarkProcess", "CCurlBaseline", "CNghttp2Baseline", "CStoreBaseline",
                .product(name: "_RouseModules", package: "rouse"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: swiftSettings),
    ]
)
