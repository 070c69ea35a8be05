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
        #expect(Nearest.name(to: "silent", among: ["alert", "background"]) == "background")
    }

    @Test(
        "names are near by the letters that differ",
        arguments: [
            ("content_available", "contentAvailable", 0, true),
            ("content_avaliable", "content_available", 2, true),
            ("content_avaliable", "content_available", 1, false),
            ("contentavailabe", "content_available", 1, true),
            ("xcontentavailable", "content_available", 1, true),
            ("contentbvailable", "content_available", 1, true),
            ("contentbvailabl", "content_available", 1, false), ("aa", "a", 1, true),
            ("abab", "ab", 2, true), ("", "", 0, true),
        ])
    func near(name: String, known: String, limit: Int, expected: Bool) {
        #expect(Nearest.isNear(name, known, upTo: limit) == expected)
    }
}
