// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AppAudit

@Suite("Paths and folders")
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

    @Test("a folder may hold a file in any case, and one that cannot be listed may hold all")
    func neighbours() throws {
        let folder = try TestFolder()
        try folder.write("", to: "Kit/appDelegate.h")
        try folder.write("", to: "App/Other.h")
        let tree = FileTree()
        #expect(tree.mayHold("AppDelegate.h", in: folder.path + "/Kit"))
        #expect(!tree.mayHold("AppDelegate.h", in: folder.path + "/App"))
        #expect(!tree.mayHold("Other.h", in: folder.path + "/Kit"))
        #expect(tree.mayHold("Other.h", in: folder.path + "/Missing"))
    }

    @Test("letters are found at each place of a name")
    func letters() {
        #expect("pushToken".hasLetters("Token"))
        #expect("totoken".hasLetters("token"))
        #expect("token".hasLetters("token"))
        #expect(!"toke".hasLetters("token"))
        #expect(!"".hasLetters("t"))
        #expect("".hasLetters(""))
    }

    @Test("lines that import modules, wherever they start")
    func imports() throws {
        let folder = try TestFolder()
        let path = try folder.write(
            """
            import A
              @testable import struct B.Type
            \tpublic import C
            ; import D
            // import E
            let text = "import F"
            #import <G/H.h>
            # import <I/J.h>
            @import K;
            import A
            """, to: "a.m")
        #expect(
            TaskRequestSearch.Lines(of: path).imports == ["A", "B", "C", "D", "G", "I", "K"])
    }
}
