// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AppAudit

@Suite("Paths")
struct PathsTests {
    @Test(
        "the parts of a path",
        arguments: [
            ("a/b/App.swift", "a/b", "App.swift", "App"), ("App.swift", ".", "App.swift", "App"),
            ("/App.swift", "/", "App.swift", "App"), ("a.b/App", "a.b", "App", "App"),
            ("a/.hidden", "a", ".hidden", ".hidden"), ("a//b/", "a//b", "b", "b"),
            ("ä/é.tar.gz", "ä", "é.tar.gz", "é.tar"), ("/", "/", "", ""), ("", ".", "", ""),
        ])
    func parts(path: String, folder: String, name: String, stem: String) {
        #expect(Paths.folder(of: path) == folder)
        #expect(Paths.name(of: path) == name)
        #expect(Paths.stem(of: path) == stem)
    }
}
