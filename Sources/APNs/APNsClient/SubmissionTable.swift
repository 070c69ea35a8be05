// SPDX-License-Identifier: Apache-2.0

internal import PushTransport

/// What is remembered of submissions while they are out, by their ids.
///
/// Open addressing with linear probing, at most half full; a removal closes the gap immediately
/// (Knuth, The Art of Computer Programming 3, 6.4, algorithm R), so there are no tombstones. It
/// costs no allocation once it has grown, and never shrinks: its size is bounded by the most
/// submissions that were out together.
struct SubmissionTable<Value> {
    /// A place in the table.
    struct Entry {
        var id: TransportRequest.ID
        /// `nil` for an empty one.
        var value: Value?
    }

    /// How many entries there are at first; a power of two, as ever after.
    static var initialCapacity: Int { 64 }

    private(set) var entries = Self.empty(Self.initialCapacity)
    /// How many are out.
    private(set) var count = 0

    private static func empty(_ capacity: Int) -> [Entry] {
        Array(repeating: Entry(id: 0, value: nil), count: capacity)
    }

    private var mask: Int { entries.count - 1 }

    /// The slot where an id's probe begins. Ids are consecutive: eight in a row share neighbouring
    /// slots, since requests sent together are answered together; the groups of eight are
    /// scattered, because a removal scans to the next empty slot, and without gaps it would scan
    /// all pending ids.
    private func home(_ id: TransportRequest.ID) -> Int {
        // Fibonacci hashing: 2^64 divided by the golden ratio.
        let block = ((id >> 3) &* 0x9e37_79b9_7f4a_7c15) >> 32
        return Int(truncatingIfNeeded: block << 3 | id & 7) & mask
    }

    /// Remembers a submission that is about to go out; its id must be new.
    mutating func insert(_ id: TransportRequest.ID, _ value: Value) {
        if count * 2 >= entries.count { grow() }
        place(Entry(id: id, value: value))
        count += 1
    }

    private mutating func place(_ entry: Entry) {
        var index = home(entry.id)
        while entries[index].value != nil {
            precondition(entries[index].id != entry.id, "Two submissions have one id.")
            index = (index + 1) & mask
        }
        entries[index] = entry
    }

    private mutating func grow() {
        let old = entries
        entries = Self.empty(old.count * 2)
        for entry in old where entry.value != nil { place(entry) }
    }

    /// Forgets a submission and returns what was remembered of it, or `nil` if it is not out.
    mutating func remove(_ id: TransportRequest.ID) -> Value? {
        var hole = home(id)
        while entries[hole].value != nil, entries[hole].id != id { hole = (hole + 1) & mask }
        guard let value = entries[hole].value else { return nil }
        count -= 1
        var index = (hole + 1) & mask
        while entries[index].value != nil {
            // It may move into the hole unless its home lies between the hole and itself.
            let distance = (index - home(entries[index].id)) & mask
            if distance >= (index - hole) & mask {
                entries[hole] = entries[index]
                hole = index
            }
            index = (index + 1) & mask
        }
        entries[hole].value = nil
        return value
    }
}
