// SPDX-License-Identifier: Apache-2.0

import APNsWire
import Testing
import WakeModel

@Suite("Provider token claims")
struct ProviderTokenClaimsTests {
    private func claims(_ instant: WallInstant) throws -> ProviderTokenClaims {
        ProviderTokenClaims(
            keyID: try DeveloperID("ABCDE12345", field: "key id"),
            teamID: try DeveloperID("TEAM123456", field: "team id"), issuedAt: instant)
    }

    /// Base64URL of `{"alg":"ES256","kid":"ABCDE12345"}` and
    /// `{"iss":"TEAM123456","iat":1795253640}`, by another encoder.
    static let input =
        "eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQ0RFMTIzNDUifQ."
        + "eyJpc3MiOiJURUFNMTIzNDU2IiwiaWF0IjoxNzk1MjUzNjQwfQ"

    @Test("what is signed is header and claims as Apple wants them, and nothing more")
    func signingInput() throws {
        #expect(
            try claims(WallInstant(secondsSinceEpoch: 1_795_253_640)).signingInput == Self.input)
    }

    @Test("iat is in whole seconds")
    func wholeSeconds() throws {
        let instant = WallInstant(millisecondsSinceEpoch: 1_795_253_640_999)
        #expect(try claims(instant).signingInput == Self.input)
    }

    @Test("the token ends in the raw signature, in Base64URL")
    func token() throws {
        let token = try claims(WallInstant(secondsSinceEpoch: 1_795_253_640))
            .token(signature: Array(repeating: 0xff, count: 64))
        #expect(token == Self.input + "." + String(repeating: "_", count: 85) + "w")
    }

    @Test("ten letters or digits are an id", arguments: ["ABCDE12345", "abcdefghij", "0123456789"])
    func developerID(text: String) throws {
        #expect(try DeveloperID(text, field: "team id").value == text)
        #expect(try DeveloperID(text, field: "team id").description == text)
    }

    @Test(
        "what is no id is refused, under the field's name",
        arguments: [
            ("", "0 characters"), ("ABCDE1234", "9 characters"), ("ABCDE123456", "11 characters"),
            ("ABCDE-1234", "neither a letter nor a digit"),
            ("ABCDE\"123}", "neither a letter nor a digit"),
            ("ABCDE1234 ", "neither a letter nor a digit"),
            ("ABCDÉ1234", "neither a letter nor a digit"),
        ])
    func refused(text: String, problem: String) {
        let error = #expect(throws: InvalidField.self) { try DeveloperID(text, field: "key id") }
        #expect(error?.field == "key id")
        #expect(error?.problem.contains(problem) == true)
        #expect(error?.remedy.isEmpty == false)
    }
}
