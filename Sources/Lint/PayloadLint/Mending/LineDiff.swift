// SPDX-License-Identifier: Apache-2.0

/// Computes the differences of two lists of lines.
enum LineDiff {
    /// A line of one list, or of both.
    enum Step: Hashable {
        case keep(ArraySlice<UInt8>)
        case remove(ArraySlice<UInt8>)
        case add(ArraySlice<UInt8>)
    }

    /// The lines of a text, each with its line end.
    static func lines(_ text: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var start = 0
        while start < text.count {
            let end = text[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? text.count
            lines.append(text[start..<end])
            start = end
        }
        return lines
    }

    /// Returns the steps from `old` to `new`. They are minimal if the texts differ little.
    static func steps(_ old: [ArraySlice<UInt8>], _ new: [ArraySlice<UInt8>]) -> [Step] {
        let shorter = min(old.count, new.count)
        let start = (0..<shorter).first { old[$0] != new[$0] } ?? shorter
        let end =
            (0..<shorter - start).first { old[old.count - 1 - $0] != new[new.count - 1 - $0] }
            ?? shorter - start
        let middle = (
            Array(old[start..<old.count - end]), Array(new[start..<new.count - end])
        )
        return old[..<start].map(Step.keep) + middleSteps(middle.0, middle.1)
            + old[(old.count - end)...].map(Step.keep)
    }

    private static func middleSteps(
        _ old: [ArraySlice<UInt8>], _ new: [ArraySlice<UInt8>]
    ) -> [Step] {
        if let steps = shortestSteps(old, new) { return steps }
        guard old.count == new.count else { return old.map(Step.remove) + new.map(Step.add) }
        return zip(old, new).flatMap { $0 == $1 ? [.keep($0)] : [.remove($0), .add($1)] }
    }

    /// The algorithm of Eugene W. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986).
    /// Returns `nil` if there are more than ``LintLimits/diffChanges`` changes.
    private static func shortestSteps(
        _ old: [ArraySlice<UInt8>], _ new: [ArraySlice<UInt8>]
    ) -> [Step]? {
        // furthest[d][k + d] is the furthest index in `old` on the diagonal k after d changes.
        var furthest: [[Int]] = []
        for changes in 0...min(LintLimits.diffChanges, old.count + new.count) {
            var row = [Int](repeating: 0, count: 2 * changes + 1)
            for k in stride(from: -changes, through: changes, by: 2) {
                var x = changes == 0 ? 0 : bestStart(k, changes, furthest[changes - 1])
                while x < old.count, x - k < new.count, old[x] == new[x - k] { x += 1 }
                row[k + changes] = x
                if x >= old.count, x - k >= new.count {
                    return path(old, new, furthest + [row])
                }
            }
            furthest.append(row)
        }
        return nil
    }

    /// The start of a path on diagonal k with one change more than `before`.
    private static func bestStart(_ k: Int, _ changes: Int, _ before: [Int]) -> Int {
        isAddition(k, changes, before) ? before[k + changes] : before[k + changes - 2] + 1
    }

    /// Whether the best path to diagonal k comes from the one above, by adding a line of `new`.
    private static func isAddition(_ k: Int, _ changes: Int, _ before: [Int]) -> Bool {
        // In the row with one change fewer, diagonal j has the index j + changes - 1.
        if k == -changes { return true }
        if k == changes { return false }
        return before[k + changes - 2] < before[k + changes]
    }

    private static func path(
        _ old: [ArraySlice<UInt8>], _ new: [ArraySlice<UInt8>], _ furthest: [[Int]]
    ) -> [Step] {
        var steps: [Step] = []
        var (x, y) = (old.count, new.count)
        for changes in furthest.indices.dropFirst().reversed() {
            let k = x - y
            let isAddition = isAddition(k, changes, furthest[changes - 1])
            let start = bestStart(k, changes, furthest[changes - 1])
            while x > start {
                x -= 1
                y -= 1
                steps.append(.keep(old[x]))
            }
            if isAddition {
                y -= 1
                steps.append(.add(new[y]))
            } else {
                x -= 1
                steps.append(.remove(old[x]))
            }
        }
        while x > 0 {
            x -= 1
            steps.append(.keep(old[x]))
        }
        return steps.reversed()
    }
}
