// SPDX-License-Identifier: Apache-2.0

import Testing

/// Which module may import which, and what a pure module never says.
@Suite("Modules")
struct ModuleTests {
    /// What each module may import. A module that is not listed here fails the test.
    static let allowedImports: [String: Set<String>] = [
        "WakeModel": [],
        "StrictJSON": [],
        "OpenSSLCrypto": ["CCryptoShims"],
        "ServerTLS": ["CServerTLS", "NIOCore", "NIOTLS"],
        "PushTransport": ["WakeModel"],
        "PayloadRules": ["StrictJSON", "WakeModel"],
        "WakeBudget": ["StrictJSON", "WakeModel"],
        "DeviceModel": ["WakeModel"],
        "WakeSimulation": ["DeviceModel", "WakeBudget", "WakeModel"],
        "APNsWire": ["PushTransport", "StrictJSON", "WakeModel"],
        "PayloadLint": [
            "CLibyaml", "Darwin", "Glibc", "Musl", "PayloadRules", "StrictJSON", "WakeModel",
        ],
        "AppAudit": [
            "FoundationEssentials", "Glibc", "PayloadLint", "PayloadRules",
            "Synchronization",
        ],
        "Gateway": [
            "Glibc", "Logging", "PayloadRules", "ServiceLifecycle",
            "Synchronization", "WakeBudget", "WakeModel",
        ],
        "LoopKit": ["Glibc", "HeapModule", "PushTransport", "Synchronization", "WakeModel"],
        "CurlTransport": [
            "CCurlShims", "DequeModule", "Glibc", "LoopKit", "PushTransport", "Synchronization",
            "WakeModel",
        ],
        "HTTP2Transport": [
            "CHTTP2Shims", "Glibc", "LoopKit", "PushTransport", "Synchronization", "WakeModel",
        ],
        "APNsClient": [
            "APNsWire", "CurlTransport", "Glibc", "HTTP2Transport", "LoopKit", "OpenSSLCrypto",
            "PushTransport", "Synchronization", "WakeModel",
        ],
        "APNsSender": [
            "APNsClient", "APNsWire", "Gateway", "PushTransport", "Synchronization", "WakeModel",
        ],
        "StoreRows": ["Gateway", "PayloadRules", "Synchronization", "WakeBudget", "WakeModel"],
        "StoreSQLite": [
            "CGatheredLog", "CLibsqlite3", "Dispatch", "Gateway", "Glibc", "PayloadRules",
            "StoreRows", "Synchronization", "WakeBudget", "WakeModel",
        ],
        "StorePostgreSQL": [
            "CLibcrypto", "CLibpq", "DequeModule", "Gateway", "Glibc", "PayloadRules",
            "StoreRows", "Synchronization", "WakeBudget", "WakeModel",
        ],
        "CurlHTTP": ["CCurlCalls", "CCurlShims"],
        "AdminAPI": [
            "CDashboard", "CoreMetrics", "DequeModule", "FoundationEssentials", "Gateway", "Glibc",
            "HTTPTypes", "Hummingbird", "HummingbirdCore", "Logging", "NIOCore", "NIOHPACK",
            "NIOHTTP1", "NIOHTTP2", "NIOHTTPTypes", "NIOHTTPTypesHTTP1", "NIOHTTPTypesHTTP2",
            "NIOTLS", "OpenSSLCrypto", "PayloadRules", "ServerTLS", "ServiceLifecycle",
            "StrictJSON", "Synchronization", "WakeBudget", "WakeModel",
        ],
        "APNsSimulator": [
            "DeviceModel", "FoundationEssentials", "HeapModule", "Logging", "NIOCore", "NIOHPACK",
            "NIOHTTP1", "NIOPosix", "NIOTLS", "OpenSSLCrypto", "ServerTLS", "Synchronization",
            "WakeModel",
        ],
        "RouseCommand": [
            "APNsClient", "APNsSender", "APNsSimulator", "APNsWire", "AdminAPI", "AppAudit",
            "ArgumentParser", "CProcess", "CurlHTTP", "CurlTransport", "DeviceModel", "Dispatch",
            "FoundationEssentials", "Gateway", "Glibc", "HTTP2Transport", "Logging",
            "NIOCore", "OpenSSLCrypto", "PayloadLint", "PayloadRules", "PushTransport",
            "ServiceLifecycle", "StorePostgreSQL", "StoreSQLite", "Synchronization", "UnixSignals",
            "WakeBudget", "WakeModel", "WakeSimulation",
        ],
        "rouse": ["Glibc", "RouseCommand"],
    ]

    /// The modules without I/O, clock and chance.
    static let pureModules: Set = [
        "WakeModel", "StrictJSON", "PushTransport", "PayloadRules", "WakeBudget", "DeviceModel",
        "WakeSimulation", "APNsWire",
    ]

    /// What a pure module never says, as words of code.
    static let bannedInPureModules = [
        "Date(", "Task", "sleep", "random", "print(", "FileManager", "ContinuousClock", "Mutex",
    ]

    /// Whether a line of code says a word that is not the tail of a longer one.
    static func says(_ word: String, _ line: String) -> Bool {
        line.ranges(of: word).contains { range in
            guard let before = line[..<range.lowerBound].last else { return true }
            return !(before.isLetter || before.isNumber || before == "_")
        }
    }

    /// Modules that nothing here may import: all of Foundation, whose tables of languages would be
    /// half of the program and a part of each start, and a second user of libcurl's global state.
    static let bannedEverywhere: Set = ["Foundation", "FoundationNetworking"]

    @Test("no module imports what it may not")
    func imports() throws {
        var findings: [String] = []
        for file in try SourceTree.checkout.swiftFiles(below: "Sources") {
            let allowed = Self.allowedImports[file.module]
            if allowed == nil {
                findings.append("\(file.path): the module \(file.module) is not in the table")
            }
            for module in file.imports {
                let isAllowed = allowed?.contains(module) ?? true
                if !isAllowed || Self.bannedEverywhere.contains(module) {
                    findings.append("\(file.path): imports \(module)")
                }
            }
        }
        #expect(findings == [])
    }

    @Test("a pure module has no clock, no chance and no I/O")
    func pureModules() throws {
        var findings: [String] = []
        for module in Self.pureModules.sorted() {
            for file in try SourceTree.checkout.swiftFiles(below: "Sources")
            where file.module == module {
                for (index, line) in file.codeLines.enumerated() {
                    for word in Self.bannedInPureModules where Self.says(word, line) {
                        findings.append(place(file, index, "says \(word)"))
                    }
                }
            }
        }
        #expect(findings == [])
    }

    @Test(
        "a banned word is found as a word, not inside another",
        arguments: [
            ("let now = Date()", true), ("civilDate(days)", false), ("Date(", true),
            ("a.Date(b)", true),
        ])
    func words(line: String, isSaid: Bool) { #expect(Self.says("Date(", line) == isSaid) }

    @Test("every row of the table is a module that exists, with tests in the same folder")
    func tableIsCurrent() throws {
        let tree = SourceTree.checkout
        let folders = try Self.products.map { ($0, try tree.entries(of: "Sources/" + $0)) }
        let modules = Set(folders.flatMap(\.1))
        #expect(Set(Self.allowedImports.keys).subtracting(modules) == [])
        #expect(Self.pureModules.subtracting(modules) == [])
        for (product, names) in folders {
            let suites = try Set(tree.entries(of: "Tests/" + product))
            for name in names where Self.allowedImports[name] != nil && name != "rouse" {
                #expect(suites.contains(name + "Tests"), "\(name) has no test target")
            }
        }
    }

    @Test("A library has every module that the public declarations of its modules name")
    func libraries() throws {
        let tree = SourceTree.checkout
        let files = try Dictionary(grouping: tree.swiftFiles(below: "Sources"), by: \.module)
        let manifest = try tree.text(of: "Package.swift")
        let libraries = manifest.matches(
            of: #/\.library\(\s*name: "([A-Za-z]\w*)",\s*targets: \[([^\]]*)\]/#)
        #expect(libraries.count >= 5)
        for library in libraries {
            let targets = Set(library.2.matches(of: #/"(\w+)"/#).map { String($0.1) })
            for file in targets.flatMap({ files[$0] ?? [] }) {
                let named = Set(file.imports(of: "public")).intersection(Self.allowedImports.keys)
                #expect(named.subtracting(targets) == [], "\(library.1): \(file.path)")
            }
        }
    }

    @Test("Sources holds the products and nothing else, and Tests the same tree")
    func products() throws {
        let tree = SourceTree.checkout
        #expect(try tree.entries(of: "Sources") == Self.products)
        #expect(
            try Set(tree.entries(of: "Tests")).subtracting(Self.products)
                == ["Benchmarks", "Interop", "TidyTests"])
    }

    /// The folders of Sources; the first page of the documentation describes each.
    static let products = ["APNs", "Command", "Core", "Gateway", "Lint", "Simulation"]
}
