// SPDX-License-Identifier: Apache-2.0

import Testing
import WakeModel

@Suite("Expiration")
struct ExpirationTests {
    @Test(
        "the header is 0 or absolute seconds, and never a time that reads as 0",
        arguments: [
            (.immediately, "0"),
            (.at(WallInstant(secondsSinceEpoch: 1_795_253_640)), "1795253640"),
            (.at(WallInstant(millisecondsSinceEpoch: 1_795_253_640_999)), "1795253640"),
            (.at(WallInstant(secondsSinceEpoch: 1)), "1"),
            (.at(WallInstant(millisecondsSinceEpoch: 999)), "1"),
            (.at(WallInstant(secondsSinceEpoch: 0)), "1"),
            (.at(WallInstant(secondsSinceEpoch: -300)), "1"),
            (.at(WallInstant(secondsSinceEpoch: 4_102_444_800)), "4102444800"),
        ] as [(Expiration, String)])
    func headerValue(expiration: Expiration, value: String) {
        #expect(expiration.headerValue == value)
    }
}

@Suite("Priority")
struct PriorityTests {
    @Test("the header is 10, 5 or 1")
    func headerValue() {
        #expect(Priority.allCases.map(\.description) == ["10", "5", "1"])
        #expect(Priority.immediate.rawValue == 10)
        #expect(Priority.powerConsiderate.rawValue == 5)
        #expect(Priority.powerFirst.rawValue == 1)
    }
}

@Suite("Collapse id")
struct CollapseIDTests {
    @Test(
        "1 to 64 bytes are taken as they are",
        arguments: [
            "a", "sync", "inner space", "grün", String(repeating: "x", count: 64),
            String(repeating: "é", count: 32),
        ])
    func taken(value: String) throws {
        let id = try CollapseID(value)
        #expect(id.value == value)
        #expect(id.description == value)
    }

    @Test(
        "what is no header value, or over 64 bytes, is refused with the problem and the fix",
        arguments: [
            ("", "is empty"),
            (String(repeating: "x", count: 65), "has 65 bytes"),
            (String(repeating: "é", count: 33), "has 66 bytes"),
            ("a\nb", "control character"), ("a\r\napns-priority: 10", "control character"),
            ("a\tb", "control character"), ("a\u{0}b", "control character"),
            ("a\u{7f}", "control character"),
            (" a", "begins or ends with a space"), ("a ", "begins or ends with a space"),
        ])
    func refused(value: String, problem: String) {
        let error = #expect(throws: InvalidField.self) { try CollapseID(value) }
        #expect(error?.field == "apns-collapse-id")
        #expect(error?.problem.contains(problem) == true)
        #expect(error?.remedy.isEmpty == false)
    }
}
