// SPDX-License-Identifier: Apache-2.0

import StrictJSON
import Testing

@Suite("JSON text")
struct JSONTextTests {
    @Test(
        "decodes strings",
        arguments: [
            (#""""#, ""), (#""aé漢👍""#, "aé漢👍"),
            (#""a\/b\"c\\d\b\f\n\r\t""#, "a/b\"c\\d\u{8}\u{c}\n\r\t"),
            (#""\u0041\u00e9\ud83d\ude00""#, "Aé😀"), (#""\u0000""#, "\0"),
        ])
    func strings(text: String, decoded: String) {
        #expect(JSONText.decode(Array(text.utf8)[...]) == decoded)
    }

    @Test(
        "takes nothing that is not a JSON string",
        arguments: [
            "", "\"", "a", "5", "null", "[]", "\"a", "a\"", "\"a\nb\"", #""\x""#, #""\u12""#,
            #""\ud83d""#, #""\ude00""#, #""a"b""#, #""a" "#, #" "a""#, #""a\""#,
        ])
    func others(text: String) {
        #expect(JSONText.decode(Array(text.utf8)[...]) == nil)
    }

    @Test(
        "nor one that is not UTF-8", arguments: [[0xff], [0xc3], [0xed, 0xa0, 0x80]] as [[UInt8]])
    func encodings(bytes: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        #expect(JSONText.decode([quote] + bytes + [quote]) == nil)
        #expect(JSONText.decode([quote] + bytes + Array("\\n".utf8) + [quote]) == nil)
    }
}
