// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing
import WakeModel

@testable import PayloadLint

/// Requests to services whose push type is given beside them.
@Suite("Requests with a given push type")
struct GivenTypeTests {
    @Test(
        "a request with a recipient is one whatever push type is given, but for calls",
        arguments: [
            (#"{"to":"t","notification":{"title":"T","body":"B"}}"#, PushType.alert, true),
            (#"{"to":"t","notification":{"title":"T","body":"B"}}"#, .voip, false),
            (#"{"notification":{"title":"T","body":"B"}}"#, .alert, false),
            (#"{"to":"Ann","k":{"v":1}}"#, .alert, false),
        ])
    func recipient(text: String, type: PushType, isUnwrapped: Bool) {
        var assumptions = PushAssumptions()
        assumptions.pushType = type.rawValue
        let document = DocumentReader(assumptions: assumptions, forcedKind: nil)
            .read(Array(text.utf8), name: "a.json")
        #expect(
            document.items.allSatisfy {
                String(decoding: $0.draft.payload, as: UTF8.self).contains("aps")
            } == isUnwrapped)
    }
}
