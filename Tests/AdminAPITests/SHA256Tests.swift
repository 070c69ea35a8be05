// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTestKit
import Testing

@testable import AdminAPI

@Suite("SHA-256")
struct SHA256Tests {
    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String(format: "%02x", $0) }.joined()
    }

    @Test(
        "The published examples come out (FIPS 180-4, NIST's example values)",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ])
    func examples(message: String, digest: String) {
        #expect(hex(SHA256.digest(of: Array(message.utf8))) == digest)
    }

    @Test("Every length around the block's end agrees with sha256sum")
    func lengths() throws {
        var generator = SeededGenerator(seed: 11)
        for length in [1, 54, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1_000] {
            let message = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
            #expect(hex(SHA256.digest(of: message)) == (try sha256sum(message)), "\(length)")
        }
    }

    private func sha256sum(_ message: [UInt8]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/sha256sum")
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data(message))
        try input.fileHandleForWriting.close()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(String(decoding: text, as: UTF8.self).prefix(64))
    }
}
