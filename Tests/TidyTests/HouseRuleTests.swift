// SPDX-License-Identifier: Apache-2.0

import Testing

/// The house rules that a scan can hold.
@Suite("House rules")
struct HouseRuleTests {
    static let maximumColumns = 100
    static let maximumLines = 500
    static let topLevel: Set = [
        "Package.swift", "Sources", "Tests", "Deploy", "README.md", "LICENSE",
    ]
    /// Where a proof must stand: in a comment at most this many lines above.
    static let proofDistance = 12

    static let sources = Result { try SourceTree.checkout.swiftFiles(below: "Sources") }
    static let tests = Result { try SourceTree.checkout.swiftFiles(below: "Tests") }

    @Test("the top level holds what it should and nothing else")
    func topLevel() throws {
        let entries = try SourceTree.checkout.entries(of: "")
        let visible = entries.filter { !$0.hasPrefix(".") && $0 != "Package.resolved" }
        #expect(Set(visible).subtracting(Self.topLevel) == [])
    }

    @Test("every file begins with its licence, and keeps to the page")
    func pages() throws {
        var findings: [String] = []
        for file in try Self.sources.get() + Self.tests.get() {
            // A manifest begins with the version of its tools.
            let first = file.lines.first { !$0.hasPrefix("// swift-tools-version") }
            if first != "// SPDX-License-Identifier: Apache-2.0" {
                findings.append("\(file.path): has no licence line")
            }
            if file.lines.count > Self.maximumLines + 1 {
                findings.append("\(file.path): has \(file.lines.count - 1) lines; split it")
            }
            for (index, line) in file.lines.enumerated() where line.count > Self.maximumColumns {
                findings.append(place(file, index, "has \(line.count) columns"))
            }
        }
        #expect(findings == [])
    }

    @Test("nothing in Sources traps on an error, is unfinished, or names a machine's paths")
    func banned() throws {
        var findings: [String] = []
        for file in try Self.sources.get() {
            for (index, code) in file.codeLines.enumerated() {
                for word in ["try!", "as!", "fatalError("] where code.contains(word) {
                    findings.append(place(file, index, "says \(word)"))
                }
            }
            for (index, line) in file.lines.enumerated() {
                for word in ["TODO", "FIXME", "XXX:", "/root/", "/home/"] where line.contains(word)
                {
                    findings.append(place(file, index, "says \(word)"))
                }
            }
        }
        #expect(findings == [])
    }

    /// Generic code keeps a closure in a form of its own. A lock's body that looks at it takes it
    /// out and puts it back, wrapped once more each way: the closure grows for ever, and each call
    /// goes through all of it.
    @Test("no lock holds a closure by itself")
    func closuresInLocks() throws {
        var findings: [String] = []
        for file in try Self.sources.get() {
            for (index, code) in file.codeLines.enumerated() {
                for word in ["Mutex<(", "Mutex<@", "StateLock<(", "StateLock<@"]
                where code.contains(word) {
                    findings.append(place(file, index, "says \(word); put it into a struct"))
                }
            }
        }
        #expect(findings == [])
    }

    @Test("an unsafe line carries its proof")
    func proofs() throws {
        var findings: [String] = []
        for file in try Self.sources.get() {
            for (index, code) in file.codeLines.enumerated() {
                for (word, mark) in Self.unsafeWords where code.contains(word) {
                    let above = file.lines[max(0, index - Self.proofDistance)...index]
                    if !above.contains(where: { $0.contains("//") && $0.contains(mark) }) {
                        findings.append(place(file, index, "\(word) without \(mark)"))
                    }
                }
            }
        }
        #expect(findings == [])
    }

    /// Unsafe constructs, and the mark that their proof carries in a comment.
    static let unsafeWords = [
        ("@unchecked Sendable", "`@unchecked"),
        ("nonisolated(unsafe)", "`nonisolated(unsafe)"),
        ("unsafeBitCast", "SAFETY"),
        ("Unmanaged", "SAFETY"),
        ("withUnsafe", "SAFETY"),
        ("unsafeUninitializedCapacity", "SAFETY"),
        ("assumingMemoryBound", "SAFETY"),
        ("UnsafeBufferPointer(start", "SAFETY"),
        (".allocate(", "SAFETY"),
    ]
}
