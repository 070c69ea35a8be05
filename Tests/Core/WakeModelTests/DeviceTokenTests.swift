// SPDX-License-Identifier: Apache-2.0

import Testing
import WakeModel

@Suite("Device token")
struct DeviceTokenTests {
    @Test("hexadecimal digits of either case are the same token")
    func caseIsNormalised() throws {
        #expect(try DeviceToken(hex: "ABCDEF01") == DeviceToken(hex: "abcdef01"))
        #expect(try DeviceToken(hex: "AB").hex == "ab")
    }

    @Test("bytes and hexadecimal digits agree")
    func bytesRoundTrip() throws {
        #expect(try DeviceToken(bytes: [0x00, 0x7f, 0xff]).hex == "007fff")
    }

    @Test("any even length up to 256 bytes is a token", arguments: [1, 32, 80, 100, 256])
    func lengthIsNotAssumed(byteCount: Int) throws {
        let token = try DeviceToken(hex: String(repeating: "a5", count: byteCount))
        #expect(token.hex.utf8.count == 2 * byteCount)
    }

    @Test(
        "what is not a token is refused with the problem and the fix",
        arguments: [
            ("", "is empty"),
            ("abc", "odd number"),
            ("zz", "position 1"),
            ("<740f 4707>", "position 1"),
            ("740f 4707", "position 5"),
            ("dGVzdA==", "position 2"),
            (String(repeating: "a", count: 514), "more than 512"),
        ])
    func badTokens(text: String, problem: String) {
        let error = #expect(throws: InvalidField.self) { try DeviceToken(hex: text) }
        #expect(error?.problem.contains(problem) == true)
        #expect(error?.remedy.isEmpty == false)
    }

    @Test(
        "what people paste is the token that it holds",
        arguments: ["<740F4707 00ff>", " 740f 4707 00ff ", "740f470700ff", "< 740f470700ff >"])
    func pasted(text: String) throws {
        #expect(try DeviceToken(pasted: text).hex == "740f470700ff")
    }

    @Test(
        "what holds no token is refused, pasted too",
        arguments: ["", " ", "<>", "<<74>>", "7 4 0", "74>0f", "74 0g", "74\t0f"])
    func pastedNonsense(text: String) {
        #expect(throws: InvalidField.self) { try DeviceToken(pasted: text) }
    }

    @Test("neither description nor error spells the token out")
    func tokenIsRedacted() throws {
        let hex = String(repeating: "c0ffee11", count: 8)
        let token = try DeviceToken(hex: hex)
        #expect(!String(describing: token).contains("c0ffee11"))
        #expect(!String(reflecting: token).contains("c0ffee11"))
        #expect(token.digest.utf8.count == 8)
        let error = #expect(throws: InvalidField.self) { try DeviceToken(hex: hex + "x") }
        #expect(error.map { "\($0)".contains("c0ffee11") } == false)
    }

    @Test("different tokens have different digests")
    func digestsDiffer() throws {
        let digests = try Set(
            (0..<1000).map { try DeviceToken(bytes: [UInt8($0 % 256), UInt8($0 / 256)]).digest })
        #expect(digests.count == 1000)
    }
}
