// SPDX-License-Identifier: Apache-2.0

import JSONTestKit
import StrictJSON
import Testing

@Suite("JSON scanner")
struct JSONScannerTests {
    @Test("takes every form of RFC 8259", arguments: JSONScannerCases.accepted)
    func accepts(text: JSONScannerCases.Accepted) throws {
        let document = try JSONScanner.scan(text.bytes)
        #expect(document.nodes.count == text.nodeCount)
    }

    @Test("refuses everything else, and says where", arguments: JSONScannerCases.refused)
    func refuses(text: JSONScannerCases.Refused) {
        let error = #expect(throws: JSONSyntaxError.self) { try JSONScanner.scan(text.bytes) }
        #expect(error?.category == text.category)
        #expect(error?.offset == text.offset)
        #expect(error?.found.isEmpty == false)
        #expect(error?.expected.isEmpty == false)
    }

    @Test("decides what the standard leaves open", arguments: JSONScannerCases.defined)
    func decides(text: JSONScannerCases.Defined) {
        #expect(((try? JSONScanner.scan(text.bytes)) != nil) == text.isAccepted)
    }

    @Test("the tables are as large as they claim to be")
    func tablesAreLarge() {
        #expect(JSONScannerCases.accepted.count >= 70)
        #expect(JSONScannerCases.refused.count >= 100)
    }

    @Test(
        "an error says what was found, what was expected, and what was meant",
        arguments: [
            (#"{"a":1,}"#, "`}`", "a key in double quotes", "Remove the comma before the brace."),
            (#"{"a":1 "b":2}"#, "`\"`", "`,` or `}`", "A comma is missing."),
            (#"{a:1}"#, "`a`", "a key in double quotes or `}`", "Put the key in double quotes."),
            (#"{"a":'x'}"#, "`'`", "a value", "JSON takes double quotes only."),
            (#"{"a":True}"#, "`T`", "a value", "lower case"),
            (#"{"a":+1}"#, "`+`", "a value", "no plus sign"),
            (#"{"a":.5}"#, "`.`", "a value", "Write a digit before"),
            (#"{"a":01}"#, "`1`", "the end of the number", "no leading zeros"),
            (#"{"a":1"#, "the end of the text", "`,` or `}`", "probably cut"),
            (#"{"a":"x"#, "the end of the text", "the closing quote", "not closed"),
            ("{\"a\":\"x\ny\"}", "a line break", "the closing quote", "as escapes"),
            (#"{"a":"\x"}"#, "`x`", "after a backslash", "as two"),
            (#"{"a" 1}"#, "`1`", "`:` after the key", ""),
            (#"{"a":1}}"#, "`}`", "the end of the text", "one closing bracket too many"),
            (#"{"a":1}{}"#, "`{`", "the end of the text", "one push for each"),
            ("{\u{201c}a\u{201d}:1}", "U+201C", "a key in double quotes", "straight"),
            (#"{"a":NaN}"#, "NaN or Infinity", "a number", "leave the key out"),
            (#"{"a":1 // one"#, "`/`", "`,` or `}`", "no comments"),
        ])
    func errorsExplain(text: String, found: String, expected: String, hint: String) {
        let error = #expect(throws: JSONSyntaxError.self) { try JSONScanner.scan(Array(text.utf8)) }
        #expect(error?.found.contains(found) == true)
        #expect(error?.expected.contains(expected) == true)
        let given = error?.hint ?? ""
        #expect(given.contains(hint))
    }

    @Test(
        "an error has the pointer of the place that was being read",
        arguments: [
            (#"{"a":{"b":[1,{"c":x}]}}"#, "/a/b/1/c"),
            (#"{"a":{"b":[1,2 3]}}"#, "/a/b"),
            (#"{"a":{"b":1 2}}"#, "/a"),
            (#"[[],[{}],[0,tru]]"#, "/2"),
            (#"{"x/y~z":?"#, "/x~1y~0z"),
            (#"?"#, ""),
        ])
    func errorsHavePointers(text: String, pointer: String) {
        let error = #expect(throws: JSONSyntaxError.self) { try JSONScanner.scan(Array(text.utf8)) }
        #expect(error?.pointer == pointer)
    }

    @Test("512 containers inside each other are read, 513 are not")
    func depthIsLimited() throws {
        let deepest = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        #expect(try JSONScanner.scan(Array(deepest.utf8)).summary.deepest == 512)
        let error = #expect(throws: JSONSyntaxError.self) {
            try JSONScanner.scan(Array("[\(deepest)]".utf8))
        }
        #expect(error?.category == .depth)
        #expect(error?.offset == 512)
    }

    @Test("a text over 16 MiB is not read")
    func sizeIsLimited() throws {
        let blank = [UInt8](repeating: 0x20, count: JSONScanner.maximumByteCount + 1)
        let error = #expect(throws: JSONSyntaxError.self) { try JSONScanner.scan(blank) }
        #expect(error?.category == .size)
    }

    @Test("a member's key and value, and the way over a subtree, stand on the tape")
    func tape() throws {
        let document = try JSONScanner.scan(Array(#" {"a":[1,{"b":2}],"c":null}"#.utf8))
        #expect(
            document.nodes.map(\.kind) == [
                .object, .key, .array, .number, .object, .key, .number, .key, .null,
            ])
        #expect(document.nodes.map(\.next) == [9, 2, 7, 4, 7, 6, 7, 8, 9])
        #expect(document.members(of: 0).map(\.key) == [1, 7])
        #expect(document.members(of: 0).map(\.value) == [2, 8])
        #expect(document.childCount(of: 0) == 2)
        #expect(document.childCount(of: 2) == 2)
        #expect(String(decoding: document.literal(4), as: UTF8.self) == #"{"b":2}"#)
        #expect(document.pointer(to: 6) == "/a/1/b")
        #expect(document.pointer(to: 5) == "/a/1/b")
        #expect(document.pointer(to: 3) == "/a/0")
        #expect(document.pointer(to: 8) == "/c")
        #expect(document.pointer(to: 0) == "")
    }

    @Test("numbers keep their text: 1 is not 1.0, nor true")
    func numbersAreExact() throws {
        let document = try JSONScanner.scan(Array(#"[1,1.0,1e0,true,"1",-0,10]"#.utf8))
        #expect((1...7).filter { document.isNumber($0, "1") } == [1])
        #expect((1...7).filter { document.double($0) == 1 } == [1, 2, 3])
    }

    @Test(
        "numbers that doubles cannot hold are marked",
        arguments: [
            ("9007199254740991", false), ("-9007199254740991", false),
            ("9007199254740992", true), ("-9007199254740992", true),
            ("1000000000000000", false), ("99999999999999999", true), ("0.5", false),
            ("1e308", true), ("1e307", false), ("1e400", true), ("1e-400", false),
            ("1e999999999999999999999", true), ("0", false),
        ])
    func extremeNumbers(text: String, isExtreme: Bool) throws {
        let document = try JSONScanner.scan(Array(text.utf8))
        #expect(document.summary.traits.contains(.extremeNumber) == isExtreme)
    }

    @Test(
        "text has its escapes resolved",
        arguments: [
            (#""""#, ""), (#""abc""#, "abc"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"),
            (#""\u0041\u00e9\u6f22\uD83D\uDE00""#, "Aé漢😀"), (#""é漢😀""#, "é漢😀"),
            (#""\u0000""#, "\0"), (#""x\uFFFFy""#, "x\u{ffff}y"),
        ])
    func escapes(literal: String, text: String) throws {
        let document = try JSONScanner.scan(Array(literal.utf8))
        #expect(String(decoding: document.text(0), as: UTF8.self) == text)
    }

    @Test(
        "a lone surrogate is marked, a pair is not",
        arguments: [
            (#""\ud83d""#, true), (#""\ude00""#, true), (#""\ud83d\ud83d\ude00""#, true),
            (#""\ud83dx""#, true), (#""\ud83d\n""#, true), (#""\ude00\ud83d""#, true),
            (#""\ud83d\u0041""#, true), (#""\ud83d\ude00""#, false), (#""\uDBFF\uDFFF""#, false),
        ])
    func loneSurrogates(literal: String, isLone: Bool) throws {
        let document = try JSONScanner.scan(Array(literal.utf8))
        #expect(document.summary.traits.contains(.loneSurrogate) == isLone)
    }

    @Test(
        "duplicate keys are seen with escapes resolved, in their own object only",
        arguments: [
            (#"{"a":1,"b":2}"#, []), (#"{"a":1,"a":2}"#, ["/a"]),
            (#"{"a":1,"\u0061":2}"#, ["/a"]), (#"{"a":{"a":{"a":1}}}"#, []),
            (#"{"\u0061":1,"b":0,"a":2}"#, ["/a"]),
            (#"{"a":1,"b":{"c":1,"c":2},"a":3}"#, ["/b/c", "/a"]),
            (#"{"":1,"":2}"#, ["/"]), (#"{"a":1,"a":2,"a":3}"#, ["/a", "/a"]),
            (#"{"a":1,"A":2}"#, []), (#"{"\ud83d":1,"\ude00":2}"#, []),
            (#"{"\ud83d":1,"\uD83D":2}"#, ["/\u{fffd}\u{fffd}\u{fffd}"]),
            (#"[{"a":1},{"a":2}]"#, []),
        ])
    func duplicateKeys(text: String, pointers: [String]) throws {
        let document = try JSONScanner.scan(Array(text.utf8))
        #expect(document.duplicateKeys.map(document.pointer) == pointers)
    }

    @Test("duplicates are found in objects of every size", arguments: [2, 15, 16, 17, 18, 40, 300])
    func duplicatesInLargeObjects(memberCount: Int) throws {
        let names = (1..<memberCount).map { "\"k\($0)\":{\"x\":0,\"x\":1}" }
        let text = "{\(names.joined(separator: ",")),\"k\(memberCount / 2)\":2}"
        let document = try JSONScanner.scan(Array(text.utf8))
        #expect(document.duplicateKeys.count == memberCount)
    }

    @Test("depth is counted, and the first container beyond a depth is found")
    func depth() throws {
        let document = try JSONScanner.scan(Array(#"{"a":[],"b":[[1],[[2]]]}"#.utf8))
        #expect(document.summary.deepest == 4)
        #expect(document.firstContainer(deeperThan: 3).map(document.pointer) == "/b/1/0")
        #expect(document.firstContainer(deeperThan: 1).map(document.pointer) == "/a")
        #expect(document.firstContainer(deeperThan: 4) == nil)
    }

    @Test(
        "lines and columns count characters, and every kind of line end",
        arguments: [
            ("abc", 0, 1, 1), ("abc", 2, 1, 3), ("abc", 3, 1, 4), ("a\nbc", 3, 2, 2),
            ("a\r\nbc", 4, 2, 2), ("a\rbc", 3, 2, 2), ("é漢😀x", 9, 1, 4), ("\n\n\n", 3, 4, 1),
            ("", 0, 1, 1),
        ])
    func positions(text: String, offset: Int, line: Int, column: Int) {
        let position = TextPosition(offset: offset, in: Array(text.utf8))
        #expect(position.line == line)
        #expect(position.column == column)
    }
}
