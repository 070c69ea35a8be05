// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LoopKit

@Suite("Copies of secrets for C")
struct SecretMemoryTests {
    @Test("strings end with a null byte, and earlier copies stay in place")
    func strings() {
        let memory = SecretMemory()
        let first = memory.string("pass wörd")
        let others = (0..<100).map { memory.string("\($0)") }
        #expect(String(cString: first) == "pass wörd")
        #expect(others.map { String(cString: $0) } == (0..<100).map { "\($0)" })
        #expect(String(cString: memory.string("")) == "")
    }

    @Test("bytes are copied with their number, and none of them too", arguments: [0, 1, 300])
    func blobs(count: Int) {
        let memory = SecretMemory()
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let (start, length) = memory.blob(bytes)
        #expect(length == count)
        #expect(Array(UnsafeBufferPointer(start: start, count: length)) == bytes)
    }
}
