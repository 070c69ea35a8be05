// SPDX-License-Identifier: Apache-2.0

import Foundation
import PayloadRules
import SeedKit
import Testing

@testable import PayloadLint

@Suite("YAML")
struct YAMLTests {
    private static func read(_ text: String) -> PushDocument {
        DocumentReader(assumptions: PushAssumptions(), forcedKind: nil)
            .read(Array(text.utf8), name: "a.yaml")
    }

    private static func payload(_ text: String) -> String? {
        read(text).item.map { String(decoding: $0.draft.payload, as: UTF8.self) }
    }

    @Test(
        "a plain scalar is what YAML 1.2 says, and a number keeps its digits",
        arguments: [
            ("1", "1"), ("1.0", "1.0"), ("+1", "1"), ("-0", "-0"), ("007", "7"), (".5", "0.5"),
            ("5.", "5.0"), ("1e3", "1e3"), ("-1.5E-3", "-1.5E-3"), ("0x1f", "31"), ("0o17", "15"),
            ("true", "true"), ("False", "false"), ("~", "null"), ("", "null"), ("null", "null"),
            (".nan", "NaN"), ("-.inf", "-Infinity"),
            ("12345678901234567890123", "12345678901234567890123"),
            ("yes", "\"yes\""), ("off", "\"off\""), ("1:30", "\"1:30\""), ("1_000", "\"1_000\""),
            (".", "\".\""), ("-", "\"-\""), ("1.2.3", "\"1.2.3\""), ("e3", "\"e3\""),
        ])
    func scalars(text: String, literal: String) {
        #expect(String(YAMLScalar(plain: text).literal) == literal)
    }

    /// Nine values, nine times nine, and so on: a few lines that stand for a billion values.
    private static let bomb: String = {
        var text = "a: &a [x, x, x, x, x, x, x, x, x]\n"
        for (before, name) in zip("abcdefghi", "bcdefghij") {
            let aliases = Array(repeating: "*\(before)", count: 9).joined(separator: ", ")
            text += "\(name): &\(name) [\(aliases)]\n"
        }
        return text
    }()

    @Test(
        "aliases in keys that stand for a billion values are refused, and not compared",
        .timeLimit(.minutes(10)),
        arguments: [
            "*j : 1\n", "? *j\n: 1\n", "? [*j]\n", "k: {*j : 1}\n", "k: {*j}\n", "[*j]: 1\n",
            "k: {*j : 1, *j : 2}\n",
        ])
    func endlessKeys(key: String) throws {
        let text = Self.bomb + key + "aps: {}\n"
        #expect(Self.read(text).faults.count == 1)
        #expect(throws: LintProblem.self) { try LintConfiguration(yaml: text, file: "a") }
    }

    @Test("the values that aliases stand for are counted")
    func countedAliases() throws {
        var text = "base: &base {a: 1}\n"
        for number in 0..<200 { text += "k\(number): {<<: *base, b: *base, ? c : d}\n" }
        let node = try #require(try YAMLNode.parse(text))
        #expect(!YAMLAliases.areTooMany(in: node))
        let many = try #require(try YAMLNode.parse(Self.bomb))
        #expect(YAMLAliases.areTooMany(in: many))
    }

    @Test(
        "a number of a configuration file is what YAML 1.2 says, with or without grouped digits",
        arguments: [
            ("8", 8), ("010", 10), ("1_000", 1_000), ("+1", 1), ("-1", -1), ("0x1f", 31),
            ("1.0", nil), ("1:30", nil), ("yes", nil), ("", nil), ("_", nil),
        ] as [(String, Int?)])
    func integers(text: String, number: Int?) throws {
        #expect(YAMLNode(text).integer == number)
        #expect(YAMLNode(text).number.flatMap { Int(exactly: $0) } == (text == "1.0" ? 1 : number))
        #expect(try YAMLNode.parse("'\(text)'")?.integer == nil)
    }

    @Test("a key in quotes is the same key")
    func quotedKeys() {
        #expect(
            Self.read("aps: 1\n\"aps\": 2\n").faults.map(\.place) == [.position(line: 1, column: 1)]
        )
    }

    @Test("texts of any bytes are read or refused", arguments: 1...200 as ClosedRange<UInt64>)
    func noise(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let parts = [
            "a: ", "- ", "[", "]", "{", "}", "&a ", "*a", "? ", ": ", "\n", "  ", "'", "\"", "|\n",
            "!!str ", "---\n", "...\n", "#", "%YAML 1.1\n", "é", "\u{0}", "\\u12", "<<: ", ",",
        ]
        for _ in 0..<200 {
            let text = (0..<Int.random(in: 1...30, using: &random)).map { _ in
                parts[Int.random(in: parts.indices, using: &random)]
            }.joined()
            let document = Self.read(text)
            if let node = try? YAMLNode.parse(text), YAMLAliases.areTooMany(in: node) {
                #expect(document.item == nil)
            }
            #expect(
                document.item != nil || document.isForeign || !document.faults.isEmpty, "\(text)")
        }
    }

    @Test("quotes and tags make texts")
    func texts() {
        let yaml = "aps: {a: '1', b: \"true\", c: !!str 1, d: |-\n  x\n  }\n"
        let block = "aps:\n  a: '1'\n  b: \"tr\\u0075e\"\n  c: !!str 1\n  d: |\n    x\"y\n"
        #expect(Self.payload(block) == #"{"aps":{"a":"1","b":"true","c":"1","d":"x\"y\n"}}"#)
        #expect(Self.read(yaml).faults.count == 1)
    }

    @Test("positions are those in the YAML text")
    func positions() throws {
        let text = """
            # A request.
            headers:
              apns-push-type: background
              apns-priority: 10
            payload:
              aps:
                content-available: "1"
              é: [1, {badge: 0}]
            """
        let document = Self.read(text)
        #expect(document.kind == .request)
        let item = try #require(document.item)
        #expect(
            item.places.headers.map(\.place) == [
                .position(line: 3, column: 19), .position(line: 4, column: 18),
            ])
        let payload = String(decoding: item.draft.payload, as: UTF8.self)
        #expect(payload == #"{"aps":{"content-available":"1"},"é":[1,{"badge":0}]}"#)
        func place(_ part: String) throws -> FilePlace {
            let range = try #require(payload.range(of: part))
            let offset = payload.utf8.distance(from: payload.startIndex, to: range.lowerBound)
            return item.places.place(ofOffset: offset)
        }
        #expect(try place("\"content-available\"") == .position(line: 7, column: 5))
        #expect(try place("\"1\"") == .position(line: 7, column: 24))
        #expect(try place("\"badge\"") == .position(line: 8, column: 11))
        #expect(try place("0}") == .position(line: 8, column: 18))
        #expect(try place("{\"aps\"") == .position(line: 6, column: 3))
    }

    @Test("aliases are written out")
    func aliases() {
        #expect(Self.payload("x: &a {b: 1}\naps: *a\n") == #"{"x":{"b":1},"aps":{"b":1}}"#)
    }

    @Test(
        "what is no YAML, or no request, is a fault with its place",
        arguments: [
            ("headers: {\npayload: [\n", 0), ("a: 1\na: 2\naps: 1\n", 1), ("aps: *nothing\n", 1),
            ("aps:\n  ? [a]\n  : 1\n", 2), ("", 1),
            ("headers: 1\npayload: {}\n", 1), ("a: 1\n---\nb: 1\n", 2),
        ])
    func faults(text: String, line: Int) {
        let document = Self.read(text)
        if text.isEmpty {
            // Nothing at all is an empty payload.
            #expect(document.item?.draft.payload == [] || document.faults.count == 1)
            return
        }
        #expect(document.item == nil)
        #expect(document.faults.count == 1)
        guard line > 0, case .position(let found, _)? = document.faults.first?.place else { return }
        #expect(found == line)
    }

    @Test("a request of a service that is not known is none with faults")
    func service() {
        let text = "action: notify.phone\ndata:\n  message: Smoke\n  data: {push: {sound: x}}\n"
        let document = DocumentReader(assumptions: PushAssumptions(), forcedKind: nil)
            .read(Array(text.utf8), name: "a.yaml")
        #expect(document.faults.isEmpty && document.items.isEmpty && document.isForeign)
    }

    @Test("a message for Firebase in YAML is judged, with the places of the YAML")
    func firebase() {
        let text = """
            message:
              notification: {title: T}
              apns:
                headers:
                  apns-push-type: background
                payload:
                  aps: {content-available: 1, badge: "1"}
            """
        let document = Self.read(text)
        let item = document.items.first
        #expect(document.items.count == 1 && !document.isForeign)
        #expect(item?.places.headers.first?.place == .position(line: 5, column: 23))
        guard let payload = item?.draft.payload,
            let badge = payload.indices.first(where: { payload[$0...].starts(with: #""1""#.utf8) })
        else {
            Issue.record("no badge")
            return
        }
        #expect(item?.places.place(ofOffset: badge) == .position(line: 7, column: 42))
    }

    @Test("YAML about other things is foreign")
    func foreign() {
        #expect(Self.read("services: {web: {image: x}}\n").isForeign)
        #expect(Self.read("- 1\n").isForeign)
        #expect(!Self.read("headers: {apns-id: a}\npayload: {}\n").isForeign)
    }

    @Test("aliases of aliases, and deep nesting, are refused and do not exhaust anything")
    func hostile() {
        var laughs = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
        for level in 1...9 {
            let aliases = [String](repeating: "*a\(level - 1)", count: 10).joined(separator: ",")
            laughs += "a\(level): &a\(level) [\(aliases)]\n"
        }
        let expanded = Self.read(laughs + "aps: *a9\n")
        #expect(expanded.item == nil)
        #expect(expanded.faults.count == 1)
        let chain = (1...300).map { "b\($0): &b\($0) [*b\($0 - 1)]\n" }.joined()
        #expect(Self.read("b0: &b0 1\n" + chain + "aps: 1\n").item == nil)
        let deep = "aps: " + String(repeating: "[", count: 100_000)
        #expect(Self.read(deep).item == nil)
        // Aliases that nest what is nested already.
        let level = String(repeating: "[", count: 200) + "*a" + String(repeating: "]", count: 200)
        let nested = "x:\n- &a [1]\n" + String(repeating: "- &a \(level)\n", count: 90)
        #expect(throws: YAMLFailure.self) { try YAMLNode.parse(nested) }
        #expect(Self.read(nested + "aps: {content-available: 1}\n").item == nil)
    }
}
