// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AppAudit

@Suite("The tree of files")
struct FileTreeTests {
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
}
