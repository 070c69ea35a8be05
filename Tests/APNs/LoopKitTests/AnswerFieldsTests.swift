// SPDX-License-Identifier: Apache-2.0

import PushTransport
import Testing
import TransportTestKit
import WakeModel

@testable import LoopKit

@Suite("Header fields of answers")
struct AnswerFieldsTests {
    private func response(
        _ fields: [(String, String)], reader: inout AnswerFields
    ) -> WireResponse {
        for (name, value) in fields {
            Array(name.utf8).withUnsafeBytes { name in
                Array(value.utf8).withUnsafeBytes { reader.read(name, $0) }
            }
        }
        return reader.response(status: 200, body: [])
    }

    @Test("what a push client reads is kept, and nothing else")
    func kept() throws {
        var reader = AnswerFields()
        let id = "123e4567-e89b-42d3-a456-426614174000"
        let answer = response(
            [
                ("apns-id", id.uppercased()), ("server", "x"), ("apns-unique-id", "unique"),
                ("date", "Sat, 21 Nov 2026 10:00:00 GMT"), ("apns-idx", "y"), ("", ""),
            ], reader: &reader)
        #expect(
            answer
                == WireResponse(
                    status: 200, apnsID: try APNsID(id), apnsUniqueID: "unique",
                    date: "Sat, 21 Nov 2026 10:00:00 GMT"))
    }

    @Test(
        "an id that is no UUID is none",
        arguments: [
            "", "no UUID", "123e4567-e89b-42d3-a456-42661417400",
            "123e4567-e89b-42d3-a456-4266141740000", "123e4567xe89b-42d3-a456-426614174000",
            "123e4567-e89b-42d3-a456-42661417400g", "123e4567-e89b-42d3-a456 426614174000",
        ])
    func noID(text: String) {
        var reader = AnswerFields()
        #expect(response([("apns-id", text)], reader: &reader).apnsID == nil)
    }

    @Test("an answer has the fields of no other")
    func ownFields() {
        var reader = AnswerFields()
        let first = response(
            [
                ("apns-id", "123e4567-e89b-42d3-a456-426614174000"), ("apns-unique-id", "unique"),
                ("date", "Sat, 21 Nov 2026 10:00:00 GMT"),
            ], reader: &reader)
        #expect(first.apnsID != nil && first.apnsUniqueID != nil && first.date != nil)
        #expect(response([("server", "x")], reader: &reader) == WireResponse(status: 200))
    }

    @Test("each date is told as it came, whatever came before")
    func dates() {
        var reader = AnswerFields()
        for date in ["", "a", "a", "bb", "a", ""] {
            #expect(response([("date", date)], reader: &reader).date == date)
        }
    }
}
