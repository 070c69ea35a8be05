// SPDX-License-Identifier: Apache-2.0

import Foundation
import JSONTestKit
import SeedKit
import StrictJSON
import Testing

/// Python's `json` is a parser that nobody here wrote: on every text it must say what the scanner
/// says. It is set to be strict: no NaN, no control characters, UTF-8 alone.
@Suite(
    "Agreement with Python's json",
    .enabled(if: PythonJSON.isInstalled, "python3 is not installed (Deploy/dependencies.sh test)"))
struct PythonAgreementTests {
    private func expectAgreement(_ texts: [[UInt8]], _ origin: String) throws {
        let answers = try PythonJSON.accepts(texts)
        try #require(answers.count == texts.count)
        for (text, isAccepted) in zip(texts, answers) {
            let isScanned = (try? JSONScanner.scan(text)) != nil
            guard isScanned == isAccepted else {
                Issue.record(
                    """
                    \(origin): python3 \(isAccepted ? "takes" : "refuses") \
                    \(String(decoding: text, as: UTF8.self).debugDescription)
                    """)
                return
            }
        }
    }

    @Test("takes and refuses what the tables say")
    func tables() throws {
        // Python reads nesting by recursion, to a depth of its own.
        let defined = JSONScannerCases.defined.filter { !$0.name.hasPrefix("structure, 5") }
        try expectAgreement(
            JSONScannerCases.accepted.map(\.bytes) + JSONScannerCases.refused.map(\.bytes)
                + defined.map(\.bytes).filter { $0.count < 10_000 }, "tables")
    }

    @Test(
        "takes every text that the grammar can write, and judges mutated ones alike",
        arguments: [UInt64](71...73))
    func randomTexts(seed: UInt64) throws {
        var texts = RandomJSON(seed: seed)
        var all: [[UInt8]] = []
        for index in 0..<4_000 {
            var text = texts.document(depth: 4)
            all.append(text)
            let place = Int.random(in: 0..<text.count, using: &texts.generator)
            if index.isMultiple(of: 2) {
                text[place] = UInt8.random(in: 0...255, using: &texts.generator)
            } else {
                text.remove(at: place)
            }
            all.append(text)
        }
        try expectAgreement(all, "seed \(seed)")
    }

    @Test("the disagreement that a wrong parser would show is seen")
    func canFail() throws {
        #expect(try PythonJSON.accepts([Array("[1,]".utf8), Array("[1]".utf8)]) == [false, true])
    }
}

/// Python's parser, as a process that reads one hexadecimal text a line.
enum PythonJSON {
    static let isInstalled = (try? run(["-c", "pass"])) != nil

    private static let script = """
        import json, sys
        sys.set_int_max_str_digits(0)
        def refuse(name):
            raise ValueError(name)
        with open(sys.argv[1]) as texts, open(sys.argv[2], "w") as answers:
            for line in texts:
                try:
                    text = bytes.fromhex(line.strip()).decode("utf-8", "strict")
                    json.loads(text, parse_constant=refuse)
                    answers.write("1")
                except ValueError:
                    answers.write("0")
        """

    /// Whether Python takes each of the texts.
    static func accepts(_ texts: [[UInt8]]) throws -> [Bool] {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let question = folder.appending(path: "texts")
        let answer = folder.appending(path: "answers")
        let digits = Array("0123456789abcdef".utf8)
        var lines: [UInt8] = []
        for text in texts {
            for byte in text { lines += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
            lines.append(UInt8(ascii: "\n"))
        }
        try Data(lines).write(to: question)
        try run(["-c", script, question.path, answer.path])
        return try Data(contentsOf: answer).map { $0 == UInt8(ascii: "1") }
    }

    private struct Failure: Error {
        let status: Int32
    }

    private static func run(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(status: process.terminationStatus)
        }
    }
}
