// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import PayloadLint

@Suite("The pool, and blocks of lines")
struct PoolTests {
    @Test(
        "outcomes come in the order of the units, and never too many are under way",
        arguments: [1, 3, 16])
    func order(window: Int) async throws {
        let underWay = Mutex(0)
        let most = Mutex(0)
        var next = 0
        var seen: [Int] = []
        try await OrderedPool.run(window: window) { () throws(LintProblem) -> Int? in
            guard next < 200 else { return nil }
            next += 1
            let count = underWay.withLock { count in
                count += 1
                return count
            }
            most.withLock { $0 = max($0, count) }
            return next
        } work: { unit -> Int in
            // Some take longer than others.
            var sum = 0
            for value in 0..<(unit % 7) * 1000 { sum &+= value }
            return sum == -1 ? 0 : unit
        } emit: { (outcome: Int) async throws(LintProblem) in
            underWay.withLock { $0 -= 1 }
            seen.append(outcome)
        }
        #expect(seen == Array(1...200))
        #expect(most.withLock { $0 } <= window)
    }

    @Test("an error ends it")
    func failure() async {
        var next = 0
        await #expect(throws: LintProblem(.missing, "x")) {
            try await OrderedPool.run(window: 4) { () throws(LintProblem) -> Int? in
                next += 1
                if next == 10 { throw LintProblem(.missing, "x") }
                return next
            } work: {
                $0
            } emit: { (_: Int) async throws(LintProblem) in
            }
        }
    }

    @Test(
        "blocks hold whole lines, nothing is lost, and lines are numbered",
        arguments: [0, 1, 100, 50_000])
    func blocks(lines: Int) throws {
        let folder = try TestFolder()
        let text =
            (0..<lines).map { "line \($0) \(String(repeating: "x", count: $0 % 90))\n" }.joined()
            + "rest"
        let path = try folder.write(text, to: "x")
        let blocks = LineBlocks(try OpenFile(path: path))
        var all: [UInt8] = []
        var line = 1
        while let block = try blocks.next() {
            #expect(block.firstLine == line)
            line += block.bytes.count { $0 == 0x0a }
            all += block.bytes
            #expect(block.bytes.last == 0x0a || all.count == text.utf8.count)
        }
        #expect(all == Array(text.utf8))
        #expect(line == lines + 1)
    }
}
