// SPDX-License-Identifier: Apache-2.0

/// Which stranger has to go first: of those of the peer that has the most connections, who has been
/// silent for longest; of peers with as many, the one that has had so many for longest.
///
/// Each change and each question takes a number of steps that does not grow with the connections,
/// but for one: which is the highest count of any peer. Of n connections there are at most √2n
/// different counts, and they alone are looked at.
struct StrangerOrder {
    private struct Peer {
        var count = 0
        var strangers = Line<UInt64>()
        /// Its place in the line of its count, while it has a stranger.
        var place: UInt64?
    }

    private var peers: [PeerAddress: Peer] = [:]
    /// The peers that have strangers, by their number of connections.
    private var lines: [Int: Line<PeerAddress>] = [:]
    /// How many counts were looked at since it was made. For tests.
    private(set) var steps = 0

    /// How many connections a peer has.
    func count(of peer: PeerAddress) -> Int { peers[peer]?.count ?? 0 }

    /// A peer has another connection. It is a stranger's only once ``append(_:of:)`` says so.
    mutating func add(_ peer: PeerAddress) { change(peer) { $0.count += 1 } }

    /// A peer has one connection fewer; a stranger's place must have been taken before.
    mutating func remove(_ peer: PeerAddress) {
        change(peer) { $0.count -= 1 }
        if peers[peer]?.count == 0 { peers[peer] = nil }
    }

    /// A connection is a stranger's from now on, or again. Its place, for ``leave(_:of:)``.
    mutating func append(_ number: UInt64, of peer: PeerAddress) -> UInt64 {
        var place: UInt64 = 0
        change(peer) { place = $0.strangers.append(number) }
        return place
    }

    /// A connection is no stranger's any more.
    mutating func leave(_ place: UInt64, of peer: PeerAddress) {
        change(peer) { $0.strangers.remove(place) }
    }

    /// The connection that has to go first, of one peer or of all; `nil` when there is none.
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

    /// Changes a peer, and puts it behind the others of its count unless that is as it was.
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
    /// Values in the order in which they came, each of which may leave from anywhere.
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

        /// Adds a value to the end. Its place.
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
