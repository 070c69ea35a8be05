// SPDX-License-Identifier: Apache-2.0

/// How a client left its most recent streams.
///
/// What may still come on a stream that is over depends on who ended it and how (RFC 9113 §5.1).
/// Of older streams nothing is known, so that a long connection takes no more memory than a short
/// one; for those everything is passed over.
struct StreamHistory {
    /// What the client did with a stream id.
    enum Mark: UInt8 {
        /// It went past it: the stream can never be opened any more.
        case unused
        /// It opened it, and has not ended it.
        case open
        /// It ended it with END_STREAM.
        case ended
        /// It reset it.
        case reset
    }

    /// How many of the latest streams are known.
    static let depth = 1024

    private var marks: [Mark] = []
    /// Client streams have odd numbers; the first is number 0 here.
    private var last = -1

    /// What the client did with stream `id`, `nil` when that is too long ago or yet to come.
    subscript(id: Int) -> Mark? {
        let index = id / 2
        guard !id.isMultiple(of: 2), index <= last, index > last - Self.depth else { return nil }
        return marks[index % Self.depth]
    }

    /// Notes a new stream, whose id is above all others.
    mutating func opened(_ id: Int, hasEnded: Bool) {
        let index = id / 2
        for skipped in max(last + 1, index - Self.depth + 1)..<max(last + 1, index) {
            set(.unused, at: skipped)
        }
        set(hasEnded ? .ended : .open, at: index)
        last = index
    }

    /// Notes END_STREAM.
    mutating func ended(_ id: Int) {
        if self[id] == .open { set(.ended, at: id / 2) }
    }

    /// Notes RST_STREAM.
    mutating func wasReset(_ id: Int) {
        if self[id] != nil { set(.reset, at: id / 2) }
    }

    private mutating func set(_ mark: Mark, at index: Int) {
        let place = index % Self.depth
        while marks.count <= place { marks.append(.unused) }
        marks[place] = mark
    }
}
