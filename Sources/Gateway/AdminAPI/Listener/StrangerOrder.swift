// SPDX-License-Identifier: Apache-2.0

/// The order in which strangers are replaced: of the peer with the most connections, the one that
/// has been silent for longest; of peers with the same number, the one that has had it for longest.
///
/// Each operation takes a constant number of steps, except for the search for the highest count of
/// any peer. Of n connections there are at most √2n different counts, and only they are examined.
struct StrangerOrder {
    private struct Peer {
        var count = 0
        var strangers = Line<UInt64>()
        /// Its place in the queue of its count, while it has a stranger.
        var place: UInt64?
    }

    private var peers: [PeerAddress: Peer] = [:]
    /// The peers that have strangers, by their number of connections.
    private var lines: [Int: Line<PeerAddress>] = [:]
    /// The number of counts that were examined since the creation. For tests.
    private(set) var steps = 0

    /// The number of a peer's connections.
    func count(of peer: PeerAddress) -> Int { peers[peer]?.count ?? 0 }

    /// Records another connection of a peer. It is a stranger's only after ``append(_:of:)``.
    mutating func add(_ peer: PeerAddress) { change(peer) { $0.count += 1 } }

    /// Records one connection fewer of a peer; a stranger must have left before.
    mutating func remove(_ peer: PeerAddress) {
        change(peer) { $0.count -= 1 }
        if peers[peer]?.count == 0 { peers[peer] = nil }
    }

    /// Records that a connection is a stranger's from now on. Returns its place, for
    /// ``leave(_:of:)``.
    mutating func append(_ number: UInt64, of peer: PeerAddress) -> UInt64 {
        var place: UInt64 = 0
        change(peer) { place = $0.strangers.append(number) }
        return place
    }

    /// Records that a connection is not a stranger's any more.
    mutating func leave(_ place: UInt64, of peer: PeerAddress) {
        change(peer) { $0.strangers.remove(place) }
    }

    /// The connection that is replaced first, of one peer or of all; `nil` when there is none.
    mutating func first(of peer: PeerAddress?) -> UInt64? {
        guard let peer = peer ?? longest else { return nil }
        return peers[peer]?.strangers.first
    }

    private var longest: PeerAddress? {
        mutating get {
            steps += lines.count
            return lines.keys.max().flatMap { lines[$0]?.first }
        }
    }

    /// Changes a peer, and moves it to the end of the queue of its new count.
    private mutating func change(_ address: PeerAddress, _ body: (inout Peer) -> Void) {
        var peer = peers[address] ?? Peer()
        // So that the line in it is not copied.
        peers[address] = nil
        let before = peer.count
        body(&peer)
        if let place = peer.place, peer.count != before || peer.strangers.isEmpty {
            lines[before]?.remove(place)
            if lines[before]?.isEmpty ?? false { lines[before] = nil }
            peer.place = nil
        }
        if peer.place == nil, !peer.strangers.isEmpty {
            peer.place = lines[peer.count, default: Line()].append(address)
        }
        peers[address] = peer
    }
}

extension StrangerOrder {
    /// A queue of values that can be removed from any position.
    private struct Line<Value> {
        private struct Entry {
            let value: Value
            /// Its neighbours' places; 0 at the ends.
            var before: UInt64
            var after: UInt64 = 0
        }

        private var entries: [UInt64: Entry] = [:]
        private var front: UInt64 = 0
        private var back: UInt64 = 0
        private var lastPlace: UInt64 = 0

        var isEmpty: Bool { entries.isEmpty }
        var first: Value? { entries[front]?.value }

        /// Appends a value and returns its place.
        mutating func append(_ value: Value) -> UInt64 {
            lastPlace += 1
            entries[lastPlace] = Entry(value: value, before: back)
            if back == 0 { front = lastPlace } else { entries[back]?.after = lastPlace }
            back = lastPlace
            return lastPlace
        }

        mutating func remove(_ place: UInt64) {
            guard let entry = entries.removeValue(forKey: place) else { return }
            if place == front { front = entry.after }
            if place == back { back = entry.before }
            entries[entry.before]?.after = entry.after
            entries[entry.after]?.before = entry.before
        }
    }
}
