// SPDX-License-Identifier: Apache-2.0

/// Reads lines in blocks, so that only a few blocks are in memory at once.
final class LineBlocks {
    /// Complete lines. Only the last line of the last block may lack a line end.
    struct Block: Sendable {
        let bytes: [UInt8]
        /// The number of the first line, from 1.
        let firstLine: Int
    }

    private let file: OpenFile
    private var rest: [UInt8]
    private var nextLine = 1
    private var isAtEnd = false

    /// Reads the rest of a file whose first bytes, `head`, were read before.
    init(_ file: consuming OpenFile, head: [UInt8] = []) {
        self.file = file
        rest = head
    }

    /// Returns the next block; `nil` at the end. Throws for a line that is too long, and if the
    /// file cannot be read.
    func next() throws(LintProblem) -> Block? {
        while !isAtEnd {
            if let end = rest.lastIndex(of: UInt8(ascii: "\n")) {
                let block = Array(rest[...end])
                rest = Array(rest[(end + 1)...])
                return self.block(block)
            }
            guard rest.count <= LintLimits.documentBytes else {
                throw LintProblem(
                    .notText,
                    "\(file.path):\(nextLine): the line has more than \(LintLimits.documentBytes) "
                        + "bytes. JSON lines hold one payload or request a line.")
            }
            let more = try file.read(upTo: LintLimits.blockBytes)
            isAtEnd = more.isEmpty
            rest += more
        }
        guard !rest.isEmpty else { return nil }
        let block = rest
        rest = []
        return self.block(block)
    }

    private func block(_ bytes: [UInt8]) -> Block {
        let block = Block(bytes: bytes, firstLine: nextLine)
        for byte in bytes where byte == UInt8(ascii: "\n") { nextLine += 1 }
        return block
    }
}
