// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PayloadLint

@Suite("The name that somebody meant")
struct NearestTests {
    @Test(
        "suggests the nearest name, and none when none is near",
        arguments: [
            ("keyFile", "key-file"), ("bundle_id", "bundle-id"), ("key-fil", "key-file"),
            ("xyz", nil), ("", nil),
        ] as [(String, String?)])
    func nearest(name: String, meant: String?) {
        #expect(Nearest.name(to: name, among: ["key-file", "bundle-id", "environment"]) == meant)
    }
}
