// SPDX-License-Identifier: Apache-2.0

import Gateway
import Testing
import WakeModel

@Suite("A caller's name of a wake")
struct WakeRefTests {
    @Test(
        "takes letters, digits, points, underscores and hyphens",
        arguments: ["a", "Z-0_9.z", String(repeating: "x", count: 64)])
    func fine(text: String) throws {
        #expect(try WakeRef(text).value == text)
    }

    @Test(
        "takes nothing else, and says so",
        arguments: ["", " ", "a b", "ä", "a/b", "a\n", String(repeating: "x", count: 65)])
    func refused(text: String) {
        let failure = #expect(throws: InvalidField.self) { try WakeRef(text) }
        #expect(failure?.field == "ref")
        #expect(failure?.problem.contains("1 to 64") == true)
    }
}
