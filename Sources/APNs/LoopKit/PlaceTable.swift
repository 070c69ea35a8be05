// SPDX-License-Identifier: Apache-2.0

package import PushTransport

/// Finds by a submission's id the place where something is kept about it.
///
/// Open addressing with linear probing, at most half full; a removal closes the gap immediately
/// (Knuth, The Art of Computer Programming 3, 6.4, algorithm R), so there are no tombstones. A
/// general dictionary costs three times as much, and every push uses this table twice. The owner
/// ensures that one thread at a time uses it.
///
/// A class, so that a loop that has it as a constant accesses it without exclusivity checks.
package final class PlaceTable {
    /// A place's number, from 0.
    package typealias Place = Int32
    /// No place.
    package static let none: Place = -1

    private struct Entry {
        var id: TransportRequest.ID
        /// `PlaceTable.none` for an empty entry.
        var place: Place
    }

    /// The number of entries at first; always a power of two.
    package static let initialCapacity = 512

    // SAFETY: `mask + 1` elements, all initialized and trivial; freed by `deinit`.
    private var entries: UnsafeMutablePointer<Entry>
    private var mask: Int
    // Private, because Swift 6.3 checks each access to a property that other modules read for
    // exclusivity at run time.
    private var idCount = 0

    /// The number of ids.
    package var count: Int { idCount }

    /// Creates an empty table.
    package init() {
        mask = Self.initialCapacity - 1
        entries = Self.empty(Self.initialCapacity)
    }

    deinit { entries.deallocate() }

    private static func empty(_ capacity: Int) -> UnsafeMutablePointer<Entry> {
        // SAFETY: initialized as a whole; see `entries`.
        let made = UnsafeMutablePointer<Entry>.allocate(capacity: capacity)
        made.initialize(repeating: Entry(id: 0, place: Self.none), count: capacity)
        return made
    }

    /// The slot where an id's probe begins. Fibonacci hashing: ids are mostly consecutive.
    private func home(_ id: TransportRequest.ID) -> Int {
        Int(truncatingIfNeeded: (id &* 0x9e37_79b9_7f4a_7c15) >> 20) & mask
    }

    private func index(of id: TransportRequest.ID) -> (index: Int, isFound: Bool) {
        var index = home(id)
        while entries[index].place != Self.none {
            if entries[index].id == id { return (index, true) }
            index = (index + 1) & mask
        }
        return (index, false)
    }

    /// The place of an id, `nil` when it is not in the table.
    package subscript(id: TransportRequest.ID) -> Place? {
        let (index, isFound) = index(of: id)
        return isFound ? entries[index].place : nil
    }

    /// Adds an id. Returns false if it is there already; then nothing changes.
    package func insert(_ id: TransportRequest.ID, _ place: Place) -> Bool {
        if idCount * 2 > mask { grow() }
        let (index, isFound) = index(of: id)
        guard !isFound else { return false }
        entries[index] = Entry(id: id, place: place)
        idCount += 1
        return true
    }

    /// Strikes an id out, if it is there.
    package func remove(_ id: TransportRequest.ID) {
        var (hole, isFound) = index(of: id)
        guard isFound else { return }
        idCount -= 1
        var index = hole
        while true {
            index = (index + 1) & mask
            guard entries[index].place != Self.none else { break }
            // It may move into the hole unless its home lies between the hole and itself.
            let distance = (index - home(entries[index].id)) & mask
            if distance >= (index - hole) & mask {
                entries[hole] = entries[index]
                hole = index
            }
        }
        entries[hole].place = Self.none
    }

    private func grow() {
        let (old, oldCount) = (entries, mask + 1)
        mask = oldCount * 2 - 1
        entries = Self.empty(oldCount * 2)
        for index in 0..<oldCount where old[index].place != Self.none {
            let (free, _) = self.index(of: old[index].id)
            entries[free] = old[index]
        }
        old.deallocate()
    }
}
