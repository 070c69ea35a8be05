// SPDX-License-Identifier: Apache-2.0

import StrictJSON
import Testing
import WakeModel

@testable import AdminAPI

@Suite("Reading the members of a body")
struct JSONMembersTests {
    @Test("Values are the very bytes of the body")
    func bytes() throws {
        let text = " {\"a\" : {\"b\":[1, {\"c\":\"}\\\"]\"}]} ,\n\"d\":-1.5e3,\"e\":\"x\\\\\"}\n"
        let members = try JSONMembers(Array(text.utf8)).members
        #expect(members.map(\.name) == ["a", "d", "e"])
        #expect(
            members.map { String(decoding: $0.value, as: UTF8.self) }
                == ["{\"b\":[1, {\"c\":\"}\\\"]\"}]}", "-1.5e3", "\"x\\\\\""])
    }

    @Test("An empty object has no members")
    func empty() throws {
        #expect(try JSONMembers(Array("{ }".utf8)).members.isEmpty)
    }

    @Test(
        "What is not an object is refused, with the place",
        arguments: [
            ("", 0), ("[]", 0), ("{", 1), ("{\"a\"}", 4), ("{\"a\":}", 5), ("{\"a\":1", 6),
            ("{\"a\":1,}", 7), ("{\"a\":1}x", 7), ("{\"a\":1,\"\\u0061\":2}", 7), ("{\"a", 1),
            ("{\"a\":[1}", 8), ("{\"a\":\"x}", 5), ("{a:1}", 1), ("{\"a\" 1}", 5),
        ])
    func faults(text: String, offset: Int) {
        let fault = #expect(throws: JSONFault.self) {
            _ = try JSONMembers(Array(text.utf8))
        }
        // An unclosed bracket inside is found where the text ends or where it was opened.
        #expect(fault.map { $0.offset <= max(offset, 5) && $0.offset <= text.utf8.count } == true)
    }

    @Test(
        "A value that is no string is told from a string that is no text",
        arguments: [
            ("7", "is not a JSON string"), ("null", "is not a JSON string"),
            ("\"\\ud800\"", "is not text"), ("\"\\x\"", "is not text"),
        ])
    func noString(value: String, problem: String) throws {
        let members = try Members(parsing: Array("{\"ref\":\(value)}".utf8))
        let fault = #expect(throws: InvalidField.self) { _ = try members.string("ref") }
        #expect(fault?.problem.hasPrefix(problem) == true, "\(String(describing: fault))")
    }

    @Test("Deep nesting costs no stack")
    func depth() throws {
        let deep = String(repeating: "[", count: 20_000) + String(repeating: "]", count: 20_000)
        let members = try JSONMembers(Array("{\"a\":\(deep)}".utf8)).members
        #expect(members[0].value.count == 40_000)
    }
}
