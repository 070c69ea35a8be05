// SPDX-License-Identifier: Apache-2.0

import Testing
import WakeModel

@Suite("What is never shown")
struct RedactionTests {
    @Test("no description or dump of a request shows device token or payload")
    func request() throws {
        let hex = String(repeating: "c0ffee11", count: 8)
        let request = WakeRequest(
            kind: .background, deviceToken: try DeviceToken(hex: hex),
            bundleID: try BundleID("com.example.app"), payload: Array("{\"s3cret\":1}".utf8))
        var dumped = ""
        dump(request, to: &dumped)
        dump(request.deviceToken, to: &dumped)
        let shown = ["\(request)", String(reflecting: request), dumped, "\([request])"]
        for text in shown {
            #expect(!text.contains("c0ffee11"))
            #expect(!text.contains("115, 51, 99"), "the payload's bytes in decimal")
        }
        #expect("\(request)".contains("background wake of com.example.app on device#"))
        #expect("\(request)".hasSuffix("(12 bytes)"))
    }

    @Test("an invalid field says field, problem and remedy in one line")
    func invalidField() {
        let error = InvalidField(field: "topic", problem: "is empty", remedy: "Name it.")
        #expect(error.description == "topic is empty. Name it.")
    }
}
