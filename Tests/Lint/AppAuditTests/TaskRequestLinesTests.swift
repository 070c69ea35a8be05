// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AppAudit

@Suite("Lines of sources")
struct TaskRequestLinesTests {
    @Test("lines that import modules, wherever they start")
    func imports() throws {
        let folder = try TestFolder()
        let path = try folder.write(
            """
            import A
              @testable import struct B.Type
            \tpublic import C
            ; import D
            fileprivate import L
            // import E
            let text = "import F"
            #import <G/H.h>
            # import <I/J.h>
            @import K;
            import A
            """, to: "a.m")
        #expect(
            TaskRequestSearch.Lines(of: path).imports == ["A", "B", "C", "D", "G", "I", "K", "L"])
    }
}
