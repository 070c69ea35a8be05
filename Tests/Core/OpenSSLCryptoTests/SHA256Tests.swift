// SPDX-License-Identifier: Apache-2.0

import OpenSSLCrypto
import Testing

@Suite("SHA-256")
struct SHA256Tests {
    static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test(
        "the digests are those of FIPS 180-4's examples",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ])
    func digests(message: String, expected: String) {
        #expect(Self.hex(SHA256.digest(of: message.utf8)) == expected)
        // A collection without contiguous storage.
        #expect(Self.hex(SHA256.digest(of: Array(message.utf8).reversed().reversed())) == expected)
    }
}

@Suite("HMAC")
struct HMACKeyTests {
    private static func code(
        _ message: some Collection<UInt8>, _ key: some Collection<UInt8>
    ) -> String {
        SHA256Tests.hex(HMACKey(key).authenticationCode(for: message))
    }

    @Test("the codes are those of RFC 4231, for short keys, long keys and no message")
    func codes() {
        #expect(
            Self.code("Hi There".utf8, [UInt8](repeating: 0x0b, count: 20))
                == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
        #expect(
            Self.code("what do ya want for nothing?".utf8, "Jefe".utf8)
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        #expect(
            Self.code(
                "Test Using Larger Than Block-Size Key - Hash Key First".utf8,
                [UInt8](repeating: 0xaa, count: 131))
                == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
        #expect(
            Self.code([UInt8](), [UInt8]())
                == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
    }

    @Test("keys are equal in every byte, or not, and show nothing")
    func equality() {
        let key = HMACKey([1, 2, 3])
        #expect(key == HMACKey([1, 2, 3]))
        #expect(key != HMACKey([1, 2, 4]) && key != HMACKey([1, 2]) && key != HMACKey([]))
        #expect(HMACKey([]) == HMACKey([]))
        #expect("\(key)" == "HMAC key (secret)")
        #expect(String(reflecting: [key]).contains("HMAC key (secret)"))
    }
}

@Suite("Secrets")
struct SecretsTests {
    @Test("cleansing leaves zeros, and the length")
    func cleansing() {
        var bytes: [UInt8] = [1, 2, 3]
        bytes.cleanse()
        #expect(bytes == [0, 0, 0])
        var none: [UInt8] = []
        none.cleanse()
        #expect(none.isEmpty)
    }

    @Test("arrays are equal in every byte, or not")
    func equality() {
        let digest = SHA256.digest(of: "a".utf8)
        #expect(digest.isEqualInConstantTime(to: SHA256.digest(of: "a".utf8)))
        for place in digest.indices {
            var other = digest
            other[place] ^= 0x80
            #expect(!digest.isEqualInConstantTime(to: other))
        }
        #expect(!digest.isEqualInConstantTime(to: Array(digest.dropLast())))
        #expect([UInt8]().isEqualInConstantTime(to: []))
    }
}
