// SPDX-License-Identifier: Apache-2.0

import OpenSSLCrypto
import Testing

@Suite("ES256 signatures")
struct ES256SignatureTests {
    /// RFC 7515, Appendix A.3: a signature and the key that made it, in another's hand.
    static let signedText =
        "eyJhbGciOiJFUzI1NiJ9."
        + "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFt"
        + "cGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    static let publicKey = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV7
        6e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==
        -----END PUBLIC KEY-----
        """
    static let signature: [UInt8] = [
        14, 209, 33, 83, 121, 99, 108, 72, 60, 47, 127, 21, 88, 7, 212, 2, 163, 178, 40, 3, 58,
        249, 124, 126, 23, 129, 154, 195, 22, 158, 166, 101, 197, 10, 7, 211, 140, 60, 112, 229,
        216, 241, 45, 175, 8, 74, 84, 128, 166, 101, 144, 197, 242, 147, 80, 154, 143, 63, 127,
        138, 131, 163, 84, 213,
    ]

    /// A DER INTEGER of a positive number.
    static func integer(_ number: some Collection<UInt8>) -> [UInt8] {
        var bytes = Array(number.drop { $0 == 0 })
        if bytes.first.map({ $0 >= 0x80 }) ?? true { bytes.insert(0, at: 0) }
        return [2, UInt8(bytes.count)] + bytes
    }

    static func der(_ signature: [UInt8]) -> [UInt8] {
        let content = integer(signature.prefix(32)) + integer(signature.suffix(32))
        return [0x30, UInt8(content.count)] + content
    }

    @Test("the example of RFC 7515 verifies, in both forms, and no other message does")
    func example() throws {
        let key = try P256PublicKey(pem: Self.publicKey.utf8)
        let signature = try #require(ES256Signature(bytes: Self.signature))
        #expect(key.isValid(signature, for: Self.signedText.utf8))
        #expect(ES256Signature(der: Self.der(Self.signature)) == signature)
        #expect(!key.isValid(signature, for: (Self.signedText + "x").utf8))
        #expect(!P256PrivateKey().publicKey.isValid(signature, for: Self.signedText.utf8))
    }

    @Test("numbers of fewer bytes keep their place")
    func shortNumbers() throws {
        let bytes =
            [UInt8](repeating: 0, count: 31) + [1] + [UInt8](repeating: 0, count: 30) + [2, 3]
        let signature = try #require(ES256Signature(bytes: bytes))
        #expect(ES256Signature(der: Self.der(bytes)) == signature)
        #expect(!P256PrivateKey().publicKey.isValid(signature, for: "x".utf8))
    }

    @Test("DER that is cut, longer than it says, too large or not minimal is refused")
    func badDER() {
        let der = Self.der(Self.signature)
        for length in 0..<der.count {
            #expect(ES256Signature(der: Array(der.prefix(length))) == nil)
        }
        #expect(ES256Signature(der: der + [0]) == nil)
        let one = Self.integer([1])
        let large = [2, 33, 1] + [UInt8](repeating: 7, count: 32)
        #expect(ES256Signature(der: [0x30, UInt8(large.count + one.count)] + large + one) == nil)
        #expect(ES256Signature(der: [0x30, 7, 2, 2, 0, 1] + one) == nil, "a needless zero")
        #expect(ES256Signature(der: [0x30, 6, 2, 1, 0xff] + one) == nil, "a negative number")
        #expect(ES256Signature(der: [0x30, 0x80] + one + one + [0, 0]) == nil, "no length")
        #expect(ES256Signature(bytes: Array(Self.signature.dropLast())) == nil)
    }

    @Test("a key signs what its public half verifies, and comes back from its PEM")
    func roundTrip() throws {
        let key = P256PrivateKey()
        let copy = try P256PrivateKey(pem: key.pem.utf8)
        for message in ["", "header.claims"] {
            let signature = copy.signature(for: message.utf8)
            #expect(key.publicKey.isValid(signature, for: message.utf8))
            #expect(try P256PublicKey(pem: key.pem.utf8).isValid(signature, for: message.utf8))
        }
        #expect(copy.publicKey.pem == key.publicKey.pem)
        #expect("\(key)" == "P-256 private key (secret)")
    }

    @Test("a public key signs nothing")
    func publicOnly() throws {
        let pem = P256PrivateKey().publicKey.pem
        #expect(throws: P256KeyError.publicKey) { try P256PrivateKey(pem: pem.utf8) }
        #expect(throws: P256KeyError.notPEM) { try P256PublicKey(pem: [UInt8]()) }
        let cut = pem.replacing("A", with: "")
        #expect(throws: P256KeyError.undecodable) { try P256PublicKey(pem: cut.utf8) }
    }
}
