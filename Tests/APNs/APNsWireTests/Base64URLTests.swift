// SPDX-License-Identifier: Apache-2.0

import APNsWire
import Testing

@Suite("Base64 for URLs")
struct Base64URLTests {
    /// RFC 4648 §10, without padding, and two values that need the URL alphabet.
    static let vectors: [(bytes: [UInt8], text: String)] = [
        ([], ""), (Array("f".utf8), "Zg"), (Array("fo".utf8), "Zm8"), (Array("foo".utf8), "Zm9v"),
        (Array("foob".utf8), "Zm9vYg"), (Array("fooba".utf8), "Zm9vYmE"),
        (Array("foobar".utf8), "Zm9vYmFy"), ([0xfb, 0xff], "-_8"), ([0xff, 0xef, 0xbf], "_--_"),
    ]

    @Test("known values encode and decode", arguments: vectors)
    func knownValues(bytes: [UInt8], text: String) {
        #expect(Base64URL.encode(bytes) == text)
        #expect(Base64URL.decode(text) == bytes)
    }

    @Test("what is not Base64 for URLs is refused", arguments: ["Z", "Zg==", "Zm9+", "Zm 9", "Zh"])
    func refused(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }
}
