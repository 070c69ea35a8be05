// SPDX-License-Identifier: Apache-2.0

import Foundation
import PayloadRules
import SeedKit
import Testing

@testable import AppAudit

@Suite("Property lists")
struct PropertyListTests {
    private static func read(_ text: String) throws(ReadingFailure) -> AppProperty {
        try PropertyList.read(Array(text.utf8), file: "f")
    }

    @Test(
        "XML: values and what stands between them",
        arguments: [
            ("<string>a &amp; b &#65;&#x42;&lt;</string>", AppProperty.Value.string("a & b AB<")),
            ("<string><![CDATA[<a> & ]] b]]></string>", .string("<a> & ]] b")),
            ("<string>a<!-- b -->c</string>", .string("ac")), ("<string/>", .string("")),
            ("<string>\n two\r\n lines </string>", .string("\n two\r\n lines ")),
            ("<integer> -12 </integer>", .integer(-12)), ("<integer>0x1F</integer>", .integer(31)),
            ("<real>1.5</real>", .real(1.5)), ("<true/>", .boolean(true)),
            ("<false></false>", .boolean(false)), ("<data>AAEC</data>", .opaque),
            ("<date>2026-01-01T00:00:00Z</date>", .opaque), ("<array/>", .array([])),
            ("<dict></dict>", .dictionary([:])), ("<!-- c --><?pi x?><true />", .boolean(true)),
        ])
    func xmlValues(text: String, value: AppProperty.Value) throws {
        #expect(try Self.read(XML.document(text)).value == value)
    }

    @Test("XML: every value knows its place and the way to it")
    func xmlPlaces() throws {
        let text = """
            <plist>
            <dict>
            \t<key>é/~</key>
            \t<array>
            \t\t<string>x</string> <true/>
            \t</array>
            </dict></plist>
            """
        let list = try PropertyList.readProperties(Array(text.utf8), file: "f")
        guard case .array(let elements)? = list["é/~"]?.value else {
            Issue.record("no array")
            return
        }
        #expect(list.place.line == 2 && list.place.column == 1)
        #expect(list["é/~"]?.place.pointer == "/é~1~0")
        #expect(elements[1].place.pointer == "/é~1~0/1")
        #expect(elements[1].place.line == 5 && elements[1].place.column == 22)
    }

    @Test(
        "XML: what is no property list is refused at its place",
        arguments: [
            ("<plist><dict><key>a</key></dict></plist>", "has no value", 14),
            ("<plist><dict><key>a</key><key>b</key></dict></plist>", "has no value", 26),
            ("<plist><dict><string>a</string></dict></plist>", "`<key>` was expected", 14),
            ("<plist><string>a</plist>", "`</string>` was expected", 17),
            ("<plist><string>a &b; c</string></plist>", "not known", 18),
            ("<plist><string>a & c</string></plist>", "`&amp;`", 18),
            ("<plist><string>a</string>", "ends early", 26),
            ("<plist><strong>a</strong></plist>", "no value", 8),
            ("<plist><integer>1.5</integer></plist>", "no integer", 8),
            ("<plist><true/><true/></plist>", "closing tag", 15),
            ("<plist></plist>", "holds nothing", 16), ("<plist/>", "holds nothing", 1),
            ("<plist><true/></plist>x", "follows", 23),
            ("<!DOCTYPE plist [<!ENTITY a \"b\">]><plist><true/></plist>", "declarations", 17),
            ("<?xml version=\"1.0\" encoding=\"UTF-16\"?><plist><true/></plist>", "UTF-8", 1),
            ("<plist><string a=b>c</string></plist>", "quoted", 18), ("<plist", "ends early", 7),
            ("hello", "no property list", 1), ("", "no property list", 1),
        ])
    func xmlRefusals(text: String, words: String, column: Int) {
        let failure = #expect(throws: ReadingFailure.self) { try Self.read(text) }
        #expect(failure?.message.contains(words) == true, "\(failure?.message ?? "")")
        #expect(failure?.place.column == column)
    }

    @Test("bytes that are not UTF-8 are refused")
    func encoding() {
        for text in ["<plist><string>\u{1}</string></plist>", "{ a = \"\u{1}\"; }"] {
            let bytes = Array(text.utf8).map { $0 == 1 ? 0xff : $0 }
            #expect(throws: ReadingFailure.self) { try PropertyList.read(bytes, file: "f") }
        }
    }

    @Test(
        "OpenStep: texts, containers and comments",
        arguments: [
            ("{}", AppProperty.Value.dictionary([:])), ("()", .array([])),
            ("// !$*UTF8*$!\n( /* a */ )", .array([])),
        ])
    func openStepValues(text: String, value: AppProperty.Value) throws {
        #expect(try Self.read(text).value == value)
    }

    @Test(
        "OpenStep: a text with and without quotes",
        arguments: [
            ("abc", "abc"), ("a.b/c-d_$1:2", "a.b/c-d_$1:2"), ("\"a b\"", "a b"),
            ("'a\"b'", "a\"b"),
            (#""a\n\t\"\\""#, "a\n\t\"\\"), (#""\U00e9\Ud83d\Ude00""#, "é😀"), (#""\101""#, "A"),
            ("\"é\"", "é"),
        ])
    func openStepTexts(text: String, value: String) throws {
        let list = try PropertyList.readProperties(Array("{ k = \(text); }".utf8), file: "f")
        #expect(list["k"]?.string == value)
        #expect(list["k"]?.place.column == 7)
    }

    @Test(
        "OpenStep: what is broken is refused",
        arguments: [
            "{ a = b }", "{ a b; }", "{ a = ; }", "{ a = b;", "( a b )", "( a", "{} x",
            "{ a = \"b; }", "/* a", "{ a = <00; }", #"{ a = "\Ud83d"; }"#, #"{ a = "\U12"; }"#,
        ])
    func openStepRefusals(text: String) {
        #expect(throws: ReadingFailure.self) { try Self.read(text) }
    }

    @Test("too much nesting is refused in every form", arguments: [100, 100_000])
    func nesting(depth: Int) {
        let xml =
            "<plist>" + String(repeating: "<array>", count: depth)
            + String(repeating: "</array>", count: depth) + "</plist>"
        let step = String(repeating: "(", count: depth) + String(repeating: ")", count: depth)
        for text in [xml, step] {
            let failure = #expect(throws: ReadingFailure.self) { try Self.read(text) }
            #expect(failure?.message == "containers are nested too deeply")
        }
    }

    // MARK: Beside Foundation

    /// What Foundation makes of a value, to compare with.
    private static func same(_ property: AppProperty, _ object: Any) -> Bool {
        switch (property.value, object) {
        case (.string(let text), let other as String): text == other
        case (.boolean(let flag), let other as NSNumber): other.boolValue == flag
        case (.integer(let number), let other as NSNumber): other.int64Value == number
        case (.real(let number), let other as NSNumber): other.doubleValue == number
        case (.array(let elements), let other as [Any]):
            elements.count == other.count && zip(elements, other).allSatisfy(same)
        case (.dictionary(let members), let other as [String: Any]):
            members.count == other.count
                && members.allSatisfy { key, value in other[key].map { same(value, $0) } ?? false }
        case (.opaque, is Data), (.opaque, is Date): true
        default: false
        }
    }

    private static func randomValue(_ random: inout SeededGenerator, depth: Int = 0) -> Any {
        switch Int.random(in: 0..<(depth < 4 ? 9 : 6), using: &random) {
        case 0: return randomText(&random)
        case 1: return Bool.random(using: &random)
        case 2: return Int(Int16.random(in: .min ... .max, using: &random))
        case 3: return Int.random(in: -(1 << 53)...(1 << 53), using: &random)
        case 4: return Double(Int.random(in: 0...1_000_000, using: &random)) / 8 + 0.125
        case 5: return Data([1, 2, 3])
        case 6:
            return (0..<Int.random(in: 0..<20, using: &random)).map { _ in
                randomValue(&random, depth: depth + 1)
            }
        default:
            var members: [String: Any] = [:]
            for _ in 0..<Int.random(in: 0..<20, using: &random) {
                members[randomText(&random)] = randomValue(&random, depth: depth + 1)
            }
            return members
        }
    }

    private static func randomText(_ random: inout SeededGenerator) -> String {
        let alphabet = ["a", "Z", "é", "😀", "&", "<", "]]>", " ", "/", "~", "\"", "0"]
        return (0..<Int.random(in: 0..<24, using: &random)).map { _ in random.pick(alphabet) }
            .joined()
    }

    @Test("what Foundation writes is read as Foundation meant it", arguments: 0..<60)
    func foundation(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let value = ["root": Self.randomValue(&random)]
        for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
            let data = try PropertyListSerialization.data(
                fromPropertyList: value, format: format, options: 0)
            let property = try PropertyList.read(Array(data), file: "f")
            #expect(Self.same(property, value), "seed \(seed)")
        }
    }

    // MARK: Binary

    /// A binary list of these objects, of which the first is the outermost.
    private static func binary(_ objects: [[UInt8]], top: UInt8 = 0) -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets.append(UInt8(bytes.count))
            bytes += object
        }
        let table = UInt8(bytes.count)
        bytes += offsets
        bytes += [0, 0, 0, 0, 0, 0, 1, 1]
        for number in [UInt8(objects.count), top, table] { bytes += [0, 0, 0, 0, 0, 0, 0, number] }
        return bytes
    }

    @Test("a list in UTF-16 is read, in either order of bytes", arguments: [false, true])
    func wideText(isBig: Bool) throws {
        let text = "\u{feff}// !$*UTF8*$!\n{ a = \"é\"; }\n"
        let bytes = text.utf16.flatMap { unit in
            let halves = [UInt8(unit & 0xff), UInt8(unit >> 8)]
            return isBig ? halves.reversed() : halves
        }
        let list = try PropertyList.readProperties(bytes, file: "f")
        #expect(list["a"]?.string == "é")
        #expect(list["a"]?.place.line == 2)
    }

    @Test("binary: a value that holds itself is refused")
    func cycle() {
        let failure = #expect(throws: ReadingFailure.self) {
            try PropertyList.read(Self.binary([[0xa1, 1], [0xa1, 0]]), file: "f")
        }
        #expect(failure?.message == "a value holds itself")
    }

    @Test("binary: a small file that unfolds to a huge list is refused")
    func bomb() {
        var objects: [[UInt8]] = (1..<20).map { next in
            [0xa8] + [UInt8](repeating: UInt8(next), count: 8)
        }
        objects.append([0x09])
        let failure = #expect(throws: ReadingFailure.self) {
            try PropertyList.read(Self.binary(objects), file: "f")
        }
        #expect(failure?.message == "the list has too many values")
    }

    @Test(
        "binary: what lies outside of the file is refused",
        arguments: [
            binary([[0xa1, 9]]), binary([[0x09]], top: 5), binary([[0x5f, 0x10, 200]]),
            binary([[0x13, 0, 0]]), binary([[0xd1, 1, 1], [0x09]]), binary([[0xf0]]),
            binary([[0x61, 0xd8, 0x00]]), Array("bplist00".utf8), Array("bplist01".utf8),
            Array("bplist00".utf8) + [UInt8](repeating: 0xff, count: 32),
        ])
    func binaryRefusals(bytes: [UInt8]) {
        #expect(throws: ReadingFailure.self) { try PropertyList.read(bytes, file: "f") }
    }

    @Test("a dictionary is asked for")
    func notADictionary() {
        #expect(throws: ReadingFailure.self) {
            try PropertyList.readProperties(Array("( a )".utf8), file: "f")
        }
    }
}
