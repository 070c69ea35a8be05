// SPDX-License-Identifier: Apache-2.0

/// Whose code a function is.
enum CodeOwner: Hashable {
    /// One of our targets.
    case room(String)
    /// A library that a room calls.
    case library(String)
    /// What is below everything: Swift's runtime and standard library, libc, the kernel.
    case ground(String)

    var name: String {
        switch self {
        case .room(let name), .library(let name), .ground(let name): name
        }
    }
}

extension CodeOwner {
    static let runtime = CodeOwner.ground("Swift's runtime and standard library")
    static let kernel = CodeOwner.ground("kernel")
    static let unknown = CodeOwner.ground("unknown")
    static let nio = CodeOwner.library("NIO and Hummingbird")
    static let sqlite = CodeOwner.library("SQLite")
    static let grdb = CodeOwner.library("GRDB")
    static let nghttp2 = CodeOwner.library("nghttp2")
    static let openSSL = CodeOwner.library("OpenSSL")

    init(_ frame: StackFrame) {
        if frame.isKernel {
            self = .kernel
        } else if let row = Self.files.first(where: { frame.file.hasPrefix($0.prefix) }) {
            self = row.owner
        } else if let symbol = SwiftSymbol(frame.symbol) {
            self = Self.owner(of: symbol)
        } else {
            let row = Self.functions.first { frame.symbol.hasPrefix($0.prefix) }
            self = row?.owner ?? .unknown
        }
    }

    private static func owner(of symbol: SwiftSymbol) -> CodeOwner {
        if symbol.isEmitted { return runtime }
        if let extender = symbol.extender(among: rooms) { return .room(String(extender)) }
        guard let module = symbol.firstModule else { return runtime }
        if rooms.contains(String(module)) { return .room(String(module)) }
        let row = modules.first { module.hasPrefix($0.prefix) }
        return row?.owner ?? .library(String(module))
    }

    /// Our Swift targets that are part of `rouse serve`. One that is forgotten here appears as a
    /// library, under its name.
    private static let rooms: Set<String> = [
        "APNsClient", "APNsWire", "AdminAPI", "CurlHTTP", "CurlTransport", "Gateway",
        "HTTP2Transport", "LoopKit", "PayloadRules", "PushTransport", "RouseBenchmarks",
        "RouseCommand", "StoreSQLite", "WakeBudget", "WakeModel",
    ]

    private typealias Row = (prefix: String, owner: CodeOwner)

    /// What is in files of its own, by the beginning of the file's name.
    private static let files: [Row] = [
        ("libswift", runtime), ("libdispatch", .ground("libdispatch")),
        ("libBlocksRuntime", .ground("libdispatch")), ("libFoundation", .library("Foundation")),
        ("lib_Foundation", .library("Foundation")), ("libsqlite3", sqlite),
        ("libnghttp2", nghttp2), ("libssl", openSSL), ("libcrypto", openSSL),
        ("libcurl", .library("libcurl")), ("libc.", .ground("libc")), ("libm.", .ground("libc")),
        ("ld-linux", .ground("libc")), ("libgcc_s", .ground("libc")),
        ("libstdc++", .ground("libc")), ("[vdso]", .ground("libc")),
    ]

    /// Modules of others in the program itself.
    private static let modules: [Row] = [
        ("NIO", nio), ("_NIO", nio), ("CNIO", nio), ("Hummingbird", nio), ("HTTPTypes", nio),
        ("ServiceLifecycle", nio), ("AsyncAlgorithms", nio), ("ServiceContext", nio),
        ("Tracing", nio), ("Instrumentation", nio), ("GRDB", grdb),
        ("Crypto", .library("Swift Crypto")), ("CCryptoBoringSSL", .library("Swift Crypto")),
        ("Logging", .library("Logging")), ("CoreMetrics", .library("Metrics")),
        ("Foundation", .library("Foundation")), ("DequeModule", runtime), ("HeapModule", runtime),
        ("Synchronization", runtime),
    ]

    /// What is written in C in the program itself.
    private static let functions: [Row] = [
        ("CHTTP2", .room("CHTTP2Shims")), ("CCrypto_", .room("CCryptoShims")),
        ("CCurl", .room("CCurlShims")), ("nghttp2_", .room("CNghttp2ResetGuard")),
        ("CNIO", nio), ("c_nio_", nio), ("catmc_", nio),
        ("CCryptoBoringSSL", .library("Swift Crypto")), ("swift_", runtime), ("_swift_", runtime),
        ("__swift", runtime),
    ]
}
