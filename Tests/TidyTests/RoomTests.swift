// SPDX-License-Identifier: Apache-2.0

import Testing

/// The walls between the rooms: who may import what, and what a pure room never says.
@Suite("Rooms")
struct RoomTests {
    /// The modules that each room may import. A room that is not listed here fails the test.
    static let allowedImports: [String: Set<String>] = [
        "WakeModel": [],
        "PushTransport": ["WakeModel"],
        "PayloadRules": ["WakeModel"],
        "WakeBudget": ["WakeModel"],
        "DeviceModel": ["WakeModel"],
        "WakeSimulation": ["DeviceModel", "WakeBudget", "WakeModel"],
        "APNsWire": ["PushTransport", "WakeModel"],
        "PayloadLint": ["Darwin", "Glibc", "Musl", "PayloadRules", "WakeModel", "Yams"],
        "AppAudit": ["FoundationEssentials", "Glibc", "PayloadRules"],
        "Gateway": [
            "Darwin", "Glibc", "Logging", "Musl", "PayloadRules", "ServiceLifecycle",
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
            "APNsWire", "CCacheHints", "CCryptoShims", "CurlTransport", "DequeModule", "Glibc",
            "HTTP2Transport", "LoopKit", "PushTransport", "Synchronization", "WakeModel",
        ],
        "StoreSQLite": [
            "CGatheredLog", "Darwin", "Dispatch", "GRDB", "GRDBSQLite", "Gateway", "Glibc", "Musl",
            "PayloadRules", "Synchronization", "WakeBudget", "WakeModel",
        ],
        "CurlHTTP": ["CCurlCalls", "CCurlShims"],
        "AdminAPI": [
            "CDashboard", "CoreMetrics", "Crypto", "Darwin", "Foundation", "Gateway", "Glibc",
            "HTTPTypes",
            "Hummingbird", "HummingbirdCore", "Logging", "Musl", "NIOCore", "NIOHTTP1",
            "NIOHTTPTypes",
            "NIOHTTPTypesHTTP1", "NIOSSL", "PayloadRules", "ServiceLifecycle", "Synchronization",
            "WakeBudget", "WakeModel",
        ],
        "APNsSimulator": [
            "Crypto", "DeviceModel", "FoundationEssentials", "HeapModule", "Logging", "NIOCore",
            "NIOHPACK", "NIOHTTP1", "NIOPosix", "NIOSSL", "NIOTLS", "SwiftASN1", "Synchronization",
            "WakeModel", "X509",
        ],
        "RouseCommand": [
            "APNsClient", "APNsSimulator", "APNsWire", "AdminAPI", "AppAudit", "ArgumentParser",
            "CProcess", "CurlHTTP", "CurlTransport", "DeviceModel", "Foundation", "Gateway",
            "Glibc", "HTTP2Transport", "Logging", "PayloadLint", "PayloadRules", "PushTransport",
            "ServiceLifecycle",
            "StoreSQLite", "Synchronization", "UnixSignals", "WakeBudget", "WakeModel",
            "WakeSimulation", "Yams",
        ],
        "rouse": ["Glibc", "RouseCommand"],
        "RouseBenchmarks": [
            "APNsClient", "APNsSimulator", "APNsWire", "AdminAPI", "ArgumentParser",
            "CBenchmarkProcess", "CCurlBaseline", "CNghttp2Baseline", "CurlTransport",
            "DeviceModel", "Foundation", "FoundationEssentials", "Gateway", "Glibc",
            "HTTP2Transport", "Logging", "PayloadLint", "PayloadRules", "PushTransport",
            "RouseCommand", "StoreSQLite", "Synchronization", "WakeBudget", "WakeModel",
            "WakeSimulation",
        ],
    ]

    /// The rooms without I/O, clock and chance.
    static let pureRooms: Set = [
        "WakeModel", "PushTransport", "PayloadRules", "WakeBudget", "DeviceModel", "WakeSimulation",
        "APNsWire",
    ]

    /// What a pure room never says, as words of code.
    static let bannedInPureRooms = [
        "Date(", "Task", "sleep", "random", "print(", "FileManager", "ContinuousClock", "Mutex",
    ]

    /// Whether a line of code says a word that is not the tail of a longer one.
    static func says(_ word: String, _ line: String) -> Bool {
        line.ranges(of: word).contains { range in
            guard let before = line[..<range.lowerBound].last else { return true }
            return !(before.isLetter || before.isNumber || before == "_")
        }
    }

    /// Modules that nothing here may import: a second user of libcurl's global state.
    static let bannedEverywhere: Set = ["FoundationNetworking"]

    @Test("no room imports what it may not")
    func imports() throws {
        var findings: [String] = []
        for file in try SourceTree.checkout.swiftFiles(below: "Sources") {
            let allowed = Self.allowedImports[file.room]
            if allowed == nil {
                findings.append("\(file.path): the room \(file.room) is not in the table")
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

    @Test("a pure room has no clock, no chance and no I/O")
    func pureRooms() throws {
        var findings: [String] = []
        for room in Self.pureRooms.sorted() {
            for file in try SourceTree.checkout.swiftFiles(below: "Sources/" + room) {
                for (index, line) in file.codeLines.enumerated() {
                    for word in Self.bannedInPureRooms where Self.says(word, line) {
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

    @Test("every table row is a room that exists, and every room with a test target has its tests")
    func tableIsCurrent() throws {
        let rooms = try Set(SourceTree.checkout.entries(of: "Sources"))
        #expect(Set(Self.allowedImports.keys).subtracting(rooms) == [])
        #expect(Self.pureRooms.subtracting(rooms) == [])
        let suites = try Set(SourceTree.checkout.entries(of: "Tests"))
        for room in Self.allowedImports.keys.sorted() where !Self.untestedRooms.contains(room) {
            #expect(suites.contains(room + "Tests"), "\(room) has no test target")
        }
    }

    /// A main of ten lines, and what measures instead of being measured.
    static let untestedRooms: Set = ["RouseBenchmarks", "rouse"]
}
