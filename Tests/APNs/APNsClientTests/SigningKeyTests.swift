// SPDX-License-Identifier: Apache-2.0

import APNsClient
import Foundation
import Testing
import WakeModel

@Suite("Signing key")
struct SigningKeyTests {
    @Test("a signature is 64 bytes, and this key's alone")
    func signatureVerifies() {
        let key = SigningKey.generate()
        let message = Array("header.claims".utf8)
        let signature = key.signature(for: message)
        #expect(signature.count == 64)
        #expect(key.isValid(signature: signature, for: message))
        #expect(!key.isValid(signature: signature, for: message + [0]))
        #expect(!key.isValid(signature: Array(signature.dropLast()), for: message))
        #expect(!key.isValid(signature: Array(repeating: 0, count: 64), for: message))
        #expect(!SigningKey.generate().isValid(signature: signature, for: message))
    }

    @Test("an empty message can be signed, too")
    func emptyMessage() {
        let key = SigningKey.generate()
        #expect(key.isValid(signature: key.signature(for: [UInt8]()), for: [UInt8]()))
    }

    @Test("a generated key comes back from its own PEM")
    func roundTrip() throws {
        let key = SigningKey.generate()
        let copy = try SigningKey(pem: key.privateKeyPEM.utf8)
        #expect(copy.publicKeyPEM == key.publicKeyPEM)
        #expect(key.isValid(signature: copy.signature(for: "x".utf8), for: "x".utf8))
        #expect(key.privateKeyPEM.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        #expect(key.publicKeyPEM.hasPrefix("-----BEGIN PUBLIC KEY-----\n"))
    }

    // MARK: Files that are keys

    @Test("a PKCS#8 file is read, whatever surrounds the PEM block and however its lines end")
    func accepted() throws {
        let workshop = try Workshop()
        try workshop.makeKey("key.p8")
        try workshop.openssl("pkey", "-in", "key.p8", "-pubout", "-out", "public.pem")
        let expected = try workshop.text("public.pem")
        let text = try workshop.text("key.p8")
        #expect(try SigningKey(path: workshop.path("key.p8")).publicKeyPEM == expected)
        let variants = [
            text.replacing("\n", with: "\r\n"), "\u{feff}" + text, "AuthKey of the team\n\n" + text,
            text + "\n\n", String(text.dropLast()),
        ]
        for variant in variants {
            #expect(try SigningKey(pem: variant.utf8).publicKeyPEM == expected)
        }
    }

    @Test("the same key in the older form EC PRIVATE KEY is read, with and without its parameters")
    func sec1() throws {
        let workshop = try Workshop()
        try workshop.makeKey("key.p8")
        try workshop.openssl("ec", "-in", "key.p8", "-out", "sec1.pem")
        try #require(workshop.text("sec1.pem").contains("BEGIN EC PRIVATE KEY"))
        #expect(
            try SigningKey(path: workshop.path("sec1.pem")).publicKeyPEM
                == SigningKey(path: workshop.path("key.p8")).publicKeyPEM)
        try workshop.openssl(
            "ecparam", "-name", "prime256v1", "-genkey", "-out", "parameters.pem")
        try #require(workshop.text("parameters.pem").contains("BEGIN EC PARAMETERS"))
        _ = try SigningKey(path: workshop.path("parameters.pem"))
    }

    // MARK: Files that are none

    /// A file that is no usable key, made by `openssl` where it can be.
    enum BadFile: String, CaseIterable, Sendable {
        case p384, secp256k1, rsa, ed25519, encrypted, encryptedTraditional, certificate,
            certificateRequest, publicKey, parametersAlone, cut, headerAlone, changed, empty,
            binary, text, missing, directory, unreadable, overlong

        func make(in workshop: Workshop) throws {
            switch self {
            case .p384: try workshop.makeKey("file", curve: "P-384")
            case .secp256k1: try workshop.makeKey("file", curve: "secp256k1")
            case .rsa:
                try workshop.openssl(
                    "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out",
                    "file")
            case .ed25519: try workshop.openssl("genpkey", "-algorithm", "ED25519", "-out", "file")
            case .encrypted:
                try workshop.openssl(
                    "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256",
                    "-aes256", "-pass", "pass:right", "-out", "file")
            case .encryptedTraditional:
                try workshop.makeKey("key.p8")
                try workshop.openssl(
                    "ec", "-in", "key.p8", "-aes128", "-passout", "pass:right", "-out", "file")
            case .certificate:
                try workshop.makeClientCertificate()
                try workshop.write(workshop.bytes("client.pem"), to: "file")
            case .certificateRequest:
                try workshop.makeClientCertificate()
                try workshop.write(workshop.bytes("client.csr"), to: "file")
            case .publicKey:
                try workshop.makeKey("key.p8")
                try workshop.openssl("pkey", "-in", "key.p8", "-pubout", "-out", "file")
            case .parametersAlone:
                try workshop.openssl("ecparam", "-name", "prime256v1", "-out", "file")
            case .cut, .headerAlone, .changed:
                try workshop.makeKey("key.p8")
                try workshop.write(damaged(try workshop.bytes("key.p8")), to: "file")
            case .empty: try workshop.write([], to: "file")
            case .binary: try workshop.write(0...255, to: "file")
            case .text: try workshop.write(Array("ABCDE12345\n".utf8), to: "file")
            case .missing: break
            case .directory:
                try FileManager.default.createDirectory(
                    atPath: workshop.path("file"), withIntermediateDirectories: false)
            case .unreadable:
                try workshop.makeKey("file")
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0], ofItemAtPath: workshop.path("file"))
            case .overlong: try workshop.write(Array(repeating: 0x2d, count: 65_537), to: "file")
            }
        }

        private func damaged(_ key: [UInt8]) throws -> [UInt8] {
            switch self {
            case .cut: return Array(key.prefix(key.count / 2))
            case .headerAlone: return Array("-----BEGIN PRIVATE KEY-----\n".utf8)
            default:
                // One bit of the private number, which stands at bytes 36 to 67 of the DER form:
                // the file decodes, but the key no longer belongs to its public half.
                let lines = String(decoding: key, as: UTF8.self).split(separator: "\n")
                var der = Array(
                    try #require(Data(base64Encoded: lines.dropFirst().dropLast().joined())))
                der[50] ^= 1
                let body = Data(der).base64EncodedString(options: .lineLength64Characters)
                return Array(
                    "-----BEGIN PRIVATE KEY-----\n\(body)\n-----END PRIVATE KEY-----\n".utf8)
            }
        }

        var problem: String {
            switch self {
            case .p384, .secp256k1: "another curve than P-256"
            case .rsa, .ed25519: "another algorithm than elliptic curves"
            case .encrypted, .encryptedTraditional: "holds an encrypted key"
            case .certificate, .certificateRequest: "holds a certificate, not a private key"
            case .publicKey: "holds a public key, not a private one"
            case .parametersAlone, .cut, .headerAlone, .changed: "cut or changed"
            case .empty, .binary, .text: "holds no PEM text"
            case .missing: "No such file or directory"
            case .directory: "Is a directory"
            case .unreadable: "Permission denied"
            case .overlong: "larger than 65536 bytes"
            }
        }

        var remedy: String {
            switch self {
            case .encrypted, .encryptedTraditional: "openssl pkcs8"
            case .certificate, .certificateRequest: "certificate setting"
            case .missing, .directory, .unreadable: "path and its permissions"
            case .overlong: "Name the key"
            default: ".p8 file as it was downloaded"
            }
        }
    }

    @Test(
        "each file that is no key is refused with its own problem and its fix",
        arguments: BadFile.allCases)
    func refused(file: BadFile) throws {
        if file == .unreadable, getuid() == 0 { return }  // root reads everything
        let workshop = try Workshop()
        try file.make(in: workshop)
        let path = workshop.path("file")
        let error = #expect(throws: InvalidField.self) { try SigningKey(path: path) }
        #expect(error?.field == "key file")
        #expect(error?.problem.contains(file.problem) == true, "\(error?.problem ?? "")")
        #expect(error?.remedy.contains(file.remedy) == true, "\(error?.remedy ?? "")")
        let content = (try? workshop.text("file")) ?? ""
        let said = error.map { "\($0)" } ?? ""
        for line in content.split(separator: "\n")
        where line.utf8.count >= 16 && !line.hasPrefix("--") {
            #expect(!said.contains(line.prefix(16)), "the error quotes the file")
        }
    }

    // MARK: Signatures and other programs

    @Test("openssl verifies what this key signs")
    func opensslVerifies() throws {
        let workshop = try Workshop()
        try workshop.makeKey("key.p8")
        try workshop.openssl("pkey", "-in", "key.p8", "-pubout", "-out", "public.pem")
        let key = try SigningKey(path: workshop.path("key.p8"))
        let message = Array("header.claims".utf8)
        try workshop.write(message, to: "message")
        try workshop.write(DER.encode(key.signature(for: message)), to: "signature")
        let verify = ["dgst", "-sha256", "-verify", "public.pem", "-signature", "signature"]
        let said = try workshop.openssl(
            verify[0], verify[1], verify[2], verify[3], verify[4],
            verify[5], "message")
        #expect(said.contains("Verified OK"))
        try workshop.write(message + [0], to: "message")
        #expect(throws: Workshop.Failure.self) {
            try workshop.openssl(
                verify[0], verify[1], verify[2], verify[3], verify[4], verify[5],
                "message")
        }
    }

    @Test("this key verifies what openssl signs with it")
    func opensslSigns() throws {
        let workshop = try Workshop()
        try workshop.makeKey("key.p8")
        let key = try SigningKey(path: workshop.path("key.p8"))
        try workshop.write(Array("message".utf8), to: "message")
        try workshop.openssl(
            "dgst", "-sha256", "-sign", "key.p8", "-out", "signature", "message")
        let raw = try #require(DER.decode(try workshop.bytes("signature")))
        #expect(key.isValid(signature: raw, for: "message".utf8))
    }

    @Test("a signature whose r or s begins with zero bytes still has 64, in their places")
    func leadingZeros() throws {
        let workshop = try Workshop()
        let key = SigningKey.generate()
        try workshop.write(key.publicKeyPEM.utf8, to: "public.pem")
        var (short, rest) = (Set<Int>(), 20_000)
        while short.count < 2, rest > 0 {
            rest -= 1
            let message = Array("message \(rest)".utf8)
            let signature = key.signature(for: message)
            #expect(signature.count == 64)
            for start in [0, 32] where signature[start] == 0 && !short.contains(start) {
                short.insert(start)
                #expect(key.isValid(signature: signature, for: message))
                try workshop.write(message, to: "message")
                try workshop.write(DER.encode(signature), to: "signature")
                try workshop.openssl(
                    "dgst", "-sha256", "-verify", "public.pem", "-signature", "signature",
                    "message")
            }
        }
        #expect(short == [0, 32], "about one signature in 256 begins with a zero byte")
    }
}

/// ECDSA signatures in DER, as `openssl` writes them: a sequence of two integers.
enum DER {
    static func encode(_ raw: [UInt8]) -> [UInt8] {
        let body = integer(raw[..<32]) + integer(raw[32...])
        return [0x30, UInt8(body.count)] + body
    }

    private static func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var bytes = Array(bytes.drop { $0 == 0 })
        if bytes.first.map({ $0 >= 0x80 }) ?? true { bytes.insert(0, at: 0) }
        return [0x02, UInt8(bytes.count)] + bytes
    }

    static func decode(_ der: [UInt8]) -> [UInt8]? {
        guard der.count > 8, der[0] == 0x30 else { return nil }
        var raw: [UInt8] = []
        var rest = der[2...]
        for _ in 0..<2 {
            guard rest.popFirst() == 0x02, let length = rest.popFirst() else { return nil }
            let bytes = rest.prefix(Int(length)).drop { $0 == 0 }
            rest = rest.dropFirst(Int(length))
            raw += Array(repeating: 0, count: 32 - bytes.count) + bytes
        }
        return raw
    }
}
