// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// The lines and columns of a text, found without reading the text from its start.
struct LineIndex: Sendable {
    /// The number of bytes between two counts of characters.
    private static let stride = 1024

    /// The offset of each line's first byte.
    private var lineStarts = [0]
    /// The number of characters before every ``stride``th byte.
    private var counts: [Int] = []

    /// Reads a text.
    init(_ bytes: [UInt8]) {
        var count = 0
        for (index, byte) in bytes.enumerated() {
            if index.isMultiple(of: Self.stride) { counts.append(count) }
            if !Self.continues(byte) { count += 1 }
            let isLineEnd =
                byte == 0x0a
                || byte == 0x0d && !(index + 1 < bytes.count && bytes[index + 1] == 0x0a)
            if isLineEnd { lineStarts.append(index + 1) }
        }
    }

    /// The place of an offset, as ``TextPosition`` counts it.
    func position(of offset: Int, in bytes: [UInt8]) -> (line: Int, column: Int) {
        let offset = min(offset, bytes.count)
        let line = Self.lastIndex(of: lineStarts) { $0 <= offset }
        let column = count(before: offset, in: bytes) - count(before: lineStarts[line], in: bytes)
        return (line + 1, column + 1)
    }

    /// The offset of a place.
    func offset(ofLine line: Int, column: Int, in bytes: [UInt8]) -> Int {
        guard line <= lineStarts.count else { return bytes.count }
        var index = lineStarts[max(0, line - 1)]
        let target = count(before: index, in: bytes) + column - 1
        if !counts.isEmpty {
            index = max(index, Self.lastIndex(of: counts) { $0 <= target } * Self.stride)
        }
        var rest = target - count(before: index, in: bytes)
        while index < bytes.count {
            if !Self.continues(bytes[index]) {
                if rest == 0 { break }
                rest -= 1
            }
            index += 1
        }
        return index
    }

    private func count(before offset: Int, in bytes: [UInt8]) -> Int {
        guard !counts.isEmpty else { return 0 }
        let block = min(offset / Self.stride, counts.count - 1)
        return bytes[block * Self.stride..<offset].reduce(counts[block]) {
            $0 + (Self.continues($1) ? 0 : 1)
        }
    }

    /// The index of the last value that satisfies a condition, which all values before it satisfy;
    /// 0 if there is none.
    private static func lastIndex(of values: [Int], where holds: (Int) -> Bool) -> Int {
        var (low, high) = (0, values.count)
        while low < high {
            let middle = (low + high) / 2
            if holds(values[middle]) { low = middle + 1 } else { high = middle }
        }
        return max(0, low - 1)
    }

    private static func continues(_ byte: UInt8) -> Bool { byte & 0xc0 == 0x80 }
}
