// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AppAudit

@Suite("Places of text in bytes")
struct ByteSearchTests {
    @Test("the first place at or behind an offset is found, if there is one")
    func places() {
        let bytes = Array("import a\nimport b".utf8)
        #expect(bytes.offset(of: "import") == 0)
        #expect(bytes.offset(of: "import", from: 1) == 9)
        #expect(bytes.offset(of: "import", from: 9) == 9)
        #expect(bytes.offset(of: "import", from: 10) == nil)
        #expect(bytes.offset(of: "b", from: bytes.count - 1) == bytes.count - 1)
        #expect(bytes.offset(of: "b", from: bytes.count) == nil)
        #expect(bytes.offset(of: "import b and more") == nil)
        #expect([UInt8]().offset(of: "a") == nil)
        for rare in 0..<6 {
            #expect(Array("p imp import".utf8).offset(of: "import", by: rare) == 6)
            #expect(Array("import".utf8).offset(of: "import", by: rare) == 0)
            #expect(Array("impor".utf8).offset(of: "import", by: rare) == nil)
            #expect(Array("mport".utf8).offset(of: "import", by: rare, from: 4) == nil)
        }
    }
}
