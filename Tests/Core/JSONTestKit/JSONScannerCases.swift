// SPDX-License-Identifier: Apache-2.0

package import StrictJSON
import Testing

/// Texts that the scanner must take, and texts that it must refuse.
package enum JSONScannerCases {
    package struct Accepted: Sendable, CustomTestStringConvertible {
        package let name: String
        package let bytes: [UInt8]
        package let nodeCount: Int

        init(_ name: String, _ text: String, _ nodeCount: Int) {
            self.init(name, Array(text.utf8), nodeCount)
        }

        init(_ name: String, _ bytes: [UInt8], _ nodeCount: Int) {
            self.name = name
            self.bytes = bytes
            self.nodeCount = nodeCount
        }

        package var testDescription: String { name }
    }

    package struct Refused: Sendable, CustomTestStringConvertible {
        package let name: String
        package let bytes: [UInt8]
        package let category: JSONSyntaxError.Category
        package let offset: Int

        init(_ name: String, _ text: String, at offset: Int) {
            self.init(name, Array(text.utf8), .grammar, at: offset)
        }

        init(
            _ name: String, _ bytes: [UInt8], _ category: JSONSyntaxError.Category, at offset: Int
        ) {
            self.name = name
            self.bytes = bytes
            self.category = category
            self.offset = offset
        }

        package var testDescription: String { name }
    }

    /// Name, text, number of nodes.
    package static let accepted: [Accepted] = acceptedTexts + acceptedBytes

    /// Name, text, offset of the fault.
    package static let refused: [Refused] = refusedTexts + refusedBytes

    private static let acceptedTexts: [Accepted] = [
        Accepted("lone integer", #"1"#, 1),
        Accepted("lone string", #""a""#, 1),
        Accepted("lone true", #"true"#, 1),
        Accepted("lone false", #"false"#, 1),
        Accepted("lone null", #"null"#, 1),
        Accepted("empty object", #"{}"#, 1),
        Accepted("empty array", #"[]"#, 1),
        Accepted("empty string", #""""#, 1),
        Accepted("empty key", #"{"":0}"#, 3),
        Accepted("space around", #" {} "#, 1),
        Accepted("space in object", #"{ }"#, 1),
        Accepted("space in array", #"[ ]"#, 1),
        Accepted("space everywhere", #" { "a" : [ 1 , 2 ] } "#, 5),
        Accepted("one member", #"{"a":1}"#, 3),
        Accepted("two members", #"{"a":1,"b":2}"#, 5),
        Accepted("nested objects", #"{"a":{"b":{"c":{}}}}"#, 7),
        Accepted("nested arrays", #"[[[[]]]]"#, 4),
        Accepted("mixed nesting", #"[{"a":[{"b":[]}]}]"#, 7),
        Accepted("all literals", #"[true,false,null]"#, 4),
        Accepted("zero", #"0"#, 1),
        Accepted("minus zero", #"-0"#, 1),
        Accepted("minus one", #"-1"#, 1),
        Accepted("many digits", #"123456789012345678901234567890"#, 1),
        Accepted("fraction", #"0.5"#, 1),
        Accepted("fraction with zeros", #"0.000"#, 1),
        Accepted("minus fraction", #"-0.1"#, 1),
        Accepted("exponent", #"1e5"#, 1),
        Accepted("capital exponent", #"1E5"#, 1),
        Accepted("plus exponent", #"1e+5"#, 1),
        Accepted("minus exponent", #"1e-5"#, 1),
        Accepted("exponent of zero", #"0e0"#, 1),
        Accepted("exponent with zeros", #"1e0005"#, 1),
        Accepted("fraction and exponent", #"12.34e-56"#, 1),
        Accepted("huge exponent", #"1e99999"#, 1),
        Accepted("numbers in array", #"[0,-0,1.5,2e3]"#, 5),
        Accepted("number then space", #"1 "#, 1),
        Accepted("escaped quote", #""\"""#, 1),
        Accepted("escaped backslash", #""\\""#, 1),
        Accepted("escaped slash", #""\/""#, 1),
        Accepted("all short escapes", #""\b\f\n\r\t""#, 1),
        Accepted("backslash at the end", #""a\\""#, 1),
        Accepted("unescaped slash", #""/""#, 1),
        Accepted("unicode escape", #""\u0041""#, 1),
        Accepted("escape in lower case", #""\u00e9""#, 1),
        Accepted("escape in upper case", #""\u00E9""#, 1),
        Accepted("escaped zero", #""\u0000""#, 1),
        Accepted("escaped control", #""\u001f""#, 1),
        Accepted("surrogate pair", #""\ud83d\ude00""#, 1),
        Accepted("surrogate pair in upper case", #""\uD83D\uDE00""#, 1),
        Accepted("lone lead surrogate", #""\ud83d""#, 1),
        Accepted("lone trail surrogate", #""\ude00""#, 1),
        Accepted("swapped surrogates", #""\ude00\ud83d""#, 1),
        Accepted("lead surrogate before text", #""\ud83dx""#, 1),
        Accepted("escaped noncharacter", #""\uffff""#, 1),
        Accepted("escaped key", #"{"\u0061":1}"#, 3),
        Accepted("duplicate keys", #"{"a":1,"a":2}"#, 5),
        Accepted("two-byte characters", #""éß""#, 1),
        Accepted("three-byte characters", #""漢字""#, 1),
        Accepted("four-byte characters", #""😀""#, 1),
        Accepted("characters in a key", #"{"ключ":1}"#, 3),
        Accepted("comment inside a string", #""/* no */""#, 1),
        Accepted("brackets inside a string", #""[{]}""#, 1),
        Accepted("comma inside a string", #""a,b""#, 1),
        Accepted("quote like character", #""“”""#, 1),
        Accepted("apostrophe", #""it's""#, 1),
        Accepted("proto key", #"{"__proto__":1}"#, 3),
        Accepted("content-available", #"{"aps":{"content-available":1}}"#, 5),
        Accepted("array of strings", #"["","a","b"]"#, 4),
        Accepted("array of empties", #"[[],{},""]"#, 4),
        Accepted("long literal run", #"[true,true,false,null,null]"#, 6),
    ]

    private static let acceptedBytes: [Accepted] = [
        Accepted("tab and line breaks as space", Array("\t\r\n{}\r\n".utf8), 1),
        Accepted("line break between members", Array("{\"a\":1,\n\"b\":2}".utf8), 5),
        Accepted("delete character", [0x22, 0x7f, 0x22], 1),
        Accepted("first two-byte character", [0x22, 0xc2, 0x80, 0x22], 1),
        Accepted("last two-byte character", [0x22, 0xdf, 0xbf, 0x22], 1),
        Accepted("first three-byte character", [0x22, 0xe0, 0xa0, 0x80, 0x22], 1),
        Accepted("last before the surrogates", [0x22, 0xed, 0x9f, 0xbf, 0x22], 1),
        Accepted("first after the surrogates", [0x22, 0xee, 0x80, 0x80, 0x22], 1),
        Accepted("last three-byte character", [0x22, 0xef, 0xbf, 0xbf, 0x22], 1),
        Accepted("first four-byte character", [0x22, 0xf0, 0x90, 0x80, 0x80, 0x22], 1),
        Accepted("last character of Unicode", [0x22, 0xf4, 0x8f, 0xbf, 0xbf, 0x22], 1),
        Accepted("mark inside a string", [0x22, 0xef, 0xbb, 0xbf, 0x22], 1),
    ]
}
