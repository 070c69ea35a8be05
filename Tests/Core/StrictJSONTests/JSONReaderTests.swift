// SPDX-License-Identifier: Apache-2.0

import JSONTestKit
import SeedKit
import StrictJSON
import Testing

@Suite("JSON reader")
struct JSONReaderTests {
    @Test(
        "cuts out a value, whatever is in it",
        arguments: [
            (#""a\"b" ,"#, #""a\"b""#), (#"{"a":[1,{"b":"}]"}]},x"#, #"{"a":[1,{"b":"}]"}]}"#),
            ("[ ]]", "[ ]"), ("-1.5e3}", "-1.5e3"), ("true]", "true"), ("nonsense ", "nonsense"),
            ("{,}:", "{,}"),
        ])
    func values(text: String, value: String) throws {
        var reader = JSONReader(text: Array(text.utf8))
        let read = try reader.value()
        #expect(String(decoding: read, as: UTF8.self) == value)
        #expect(reader.index == value.utf8.count)
    }

    @Test("names what is missing", arguments: ["", "\"a", "{\"a\":[", ",", "}"])
    func faults(text: String) {
        var reader = JSONReader(text: Array(text.utf8))
        let fault = #expect(throws: JSONFault.self) { try reader.value() }
        #expect(fault?.offset == 0)
        #expect(fault?.problem.isEmpty == false)
    }

    @Test("no depth exhausts the stack")
    func depth() throws {
        let deep = [UInt8](repeating: UInt8(ascii: "["), count: 200_000)
        let text = deep + [UInt8](repeating: UInt8(ascii: "]"), count: deep.count)
        var reader = JSONReader(text: text)
        #expect(try reader.value().count == text.count)
        #expect(reader.isAtEnd)
    }

    @Test("the values of a text that the scanner takes are those of its document", arguments: 1...4)
    func agreesWithTheScanner(seed: UInt64) throws {
        var texts = RandomJSON(seed: seed)
        for index in PropertyRounds.few(500) {
            let text = texts.document()
            let document = try JSONScanner.scan(text)
            var reader = JSONReader(text: text)
            reader.skipSpace()
            #expect(try reader.value() == document.literal(0), "seed \(seed), text \(index)")
            reader.skipSpace()
            #expect(reader.isAtEnd)
        }
    }
}
