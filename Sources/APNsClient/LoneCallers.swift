// SPDX-License-Identifier: Apache-2.0

internal import APNsWire
internal import PushTransport
internal import WakeModel

/// The callers of `send(_:)` with one push each, by the ids of their submissions.
///
/// A table instead of an object for each: ids are counted upwards and one stands where its low bits
/// say, so that the pushes of one moment are neighbours in memory and cost no allocation. Open
/// addressing with linear probing, at most half full; what is removed is closed up at once (Knuth,
/// The Art of Computer Programming 3, 6.4, algorithm R). A value: whoever has it holds a lock.
struct LoneCallers {
    /// What a caller is told.
    struct Answer: Sendable {
        let result: Result<PushOutcome, TransportFailure>
        /// Whether the answer proves that the push was not accepted, and the remedy is at hand: the
        /// caller then sends it again.
        let mayGoAgain: Bool
    }

    /// Who is suspended until the answer comes.
    ///
    /// Unsafe only in name: ``remove(_:)`` gives a caller to one answer and traps on a second, and
    /// the transport's contract is that there is one. A checked continuation costs an allocation
    /// for each push to find that out again.
    typealias Caller = UnsafeContinuation<Answer, Never>

    /// What is known of a submission on its way.
    struct Waiting {
        let caller: Caller
        /// With which provider token it went out; 0 with a certificate.
        let tokenGeneration: UInt64
        /// Whether it is the push's second submission, after which there is no third.
        let isSecond: Bool
    }

    private struct Entry {
        var id: Submission.ID
        /// `nil` for an empty entry.
        var waiting: Waiting?
    }

    /// How many entries there are at first; a power of two, as ever after.
    static let initialCapacity = 64

    private var entries = Self.empty(Self.initialCapacity)
    /// How many wait.
    private(set) var count = 0

    private static func empty(_ capacity: Int) -> [Entry] {
        Array(repeating: Entry(id: 0, waiting: nil), count: capacity)
    }

    private var mask: Int { entries.count - 1 }

    /// Where an id would stand.
    private func home(_ id: Submission.ID) -> Int { Int(truncatingIfNeeded: id) & mask }

    /// Adds the caller of a submission that is about to go out; its id must be new.
    mutating func insert(_ id: Submission.ID, _ waiting: Waiting) {
        if count * 2 >= entries.count { grow() }
        place(Entry(id: id, waiting: waiting))
        count += 1
    }

    private mutating func place(_ entry: Entry) {
        var index = home(entry.id)
        while entries[index].waiting != nil {
            precondition(entries[index].id != entry.id, "Two submissions have one id.")
            index = (index + 1) & mask
        }
        entries[index] = entry
    }

    private mutating func grow() {
        let old = entries
        entries = Self.empty(old.count * 2)
        for entry in old where entry.waiting != nil { place(entry) }
    }

    /// Takes the caller of a submission out, whose answer has come. It is given once.
    mutating func remove(_ id: Submission.ID) -> Waiting {
        var hole = home(id)
        while entries[hole].waiting != nil, entries[hole].id != id { hole = (hole + 1) & mask }
        guard let waiting = entries[hole].waiting else {
            preconditionFailure("A push was answered twice, or before it was sent.")
        }
        count -= 1
        var index = (hole + 1) & mask
        while entries[index].waiting != nil {
            // It may move into the hole unless its home lies between the hole and itself.
            let distance = (index - home(entries[index].id)) & mask
            if distance >= (index - hole) & mask {
                entries[hole] = entries[index]
                hole = index
            }
            index = (index + 1) & mask
        }
        entries[hole].waiting = nil
        return waiting
    }
}
