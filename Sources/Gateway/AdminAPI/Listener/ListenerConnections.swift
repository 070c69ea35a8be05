// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import Synchronization

/// A connection of the listener, from its accept to its close. May be used from any thread.
final class ListenerConnection: Sendable {
    /// Whether the caller can still be answered.
    let presence = CallerPresence()
    /// The caller's peer.
    let peer: PeerAddress
    /// The reason why this place is for health and metrics only; `nil` for any other place.
    let shortage: Shortage?
    fileprivate let channel: any Channel
    /// Ascends in the order of the accepts.
    fileprivate let number: UInt64
    private let owner: ListenerConnections
    private let hasKey = Atomic(false)
    private let isAsking = Atomic(false)

    fileprivate init(
        _ channel: any Channel, of owner: ListenerConnections, peer: PeerAddress, number: UInt64,
        shortage: Shortage?
    ) {
        self.channel = channel
        self.owner = owner
        self.peer = peer
        self.number = number
        self.shortage = shortage
    }

    /// The resource that was exhausted when a connection was accepted.
    enum Shortage: Sendable {
        case placesOfPeer
        case places
        case files
    }

    /// Whether this place is for health and metrics only.
    var isReserve: Bool { shortage != nil }

    /// Whether the caller's last key was accepted, or none is required.
    var isAuthenticated: Bool {
        get { hasKey.load(ordering: .sequentiallyConsistent) }
        set {
            guard hasKey.exchange(newValue, ordering: .sequentiallyConsistent) != newValue
            else { return }
            owner.review(self)
        }
    }

    /// Whether a request was read whose answer has not ended: then its place is kept.
    var isBusy: Bool {
        get { isAsking.load(ordering: .sequentiallyConsistent) }
        set {
            // With a key it is never a stranger's. The removal of a key checks again, and sees what
            // was stored before, because both operations are sequentially consistent.
            guard isAsking.exchange(newValue, ordering: .sequentiallyConsistent) != newValue,
                !isAuthenticated
            else { return }
            owner.review(self)
        }
    }

    /// Closes the connection immediately, below TLS, whose close would wait for the caller, because
    /// the place and the descriptor are needed now.
    fileprivate func cut() {
        let channel = channel
        channel.eventLoop.execute {
            if let front = try? channel.pipeline.syncOperations.context(
                handlerType: FirstByteWatch.self)
            {
                front.close(promise: nil)
            } else {
                channel.close(promise: nil)
            }
        }
    }
}

/// The connections of the listener, and the assignment of places when they are few.
///
/// A connection without an accepted key is a stranger's. Strangers may use every place, but can be
/// replaced: when all places are used, or all of one peer, a new connection replaces the stranger
/// that has been silent for longest, of the peer with the most (``StrangerOrder``). When there is
/// no stranger, a few places are reserved for health and metrics, so that monitoring works despite
/// silent connections or too many callers with keys.
///
/// May be used from any thread.
final class ListenerConnections: Sendable {
    /// The number of places that are reserved for health and metrics.
    static let reserveCount = 16
    /// The number of requests over HTTP/2 at a time, on all connections, for each place.
    static let requestsPerPlace = 16

    private struct State {
        var connections: [ObjectIdentifier: ListenerConnection] = [:]
        /// The same by their numbers.
        var numbers: [UInt64: ListenerConnection] = [:]
        var order = StrangerOrder()
        /// The places in that order of those that are strangers'.
        var strangers: [UInt64: UInt64] = [:]
        var lastNumber: UInt64 = 0
        var reserveCount = 0
        /// Whether the callers of streams of HTTP/2 can still be answered.
        var presences: [ObjectIdentifier: CallerPresence] = [:]

        mutating func add(_ connection: ListenerConnection) {
            connections[ObjectIdentifier(connection.channel)] = connection
            numbers[connection.number] = connection
            order.add(connection.peer)
            if connection.isReserve { reserveCount += 1 }
            review(connection)
        }

        mutating func remove(_ connection: ListenerConnection) {
            let id = ObjectIdentifier(connection.channel)
            guard connections[id] === connection else { return }
            connections[id] = nil
            numbers[connection.number] = nil
            if let place = strangers.removeValue(forKey: connection.number) {
                order.leave(place, of: connection.peer)
            }
            order.remove(connection.peer)
            if connection.isReserve { reserveCount -= 1 }
        }

        /// Records whether a connection is a stranger's that can be closed.
        mutating func review(_ connection: ListenerConnection) {
            let number = connection.number
            guard numbers[number] != nil else { return }
            let isStranger = !connection.isAuthenticated && !connection.isBusy
            if isStranger, strangers[number] == nil {
                strangers[number] = order.append(number, of: connection.peer)
            } else if !isStranger, let place = strangers.removeValue(forKey: number) {
                order.leave(place, of: connection.peer)
            }
        }

        /// The stranger that is replaced first.
        mutating func stranger(of peer: PeerAddress?) -> ListenerConnection? {
            order.first(of: peer).flatMap { numbers[$0] }
        }
    }

    private let state = Mutex(State())
    /// The number of requests over HTTP/2 that have not ended, but for one of each connection.
    private let http2Requests = Atomic(0)
    private let places: Int
    private let placesOfPeer: Int

    /// Creates this number of places, the reserve aside, with a limit for each peer.
    init(places: Int, placesOfPeer: Int) {
        self.places = max(1, places)
        self.placesOfPeer = max(1, min(placesOfPeer, places))
    }

    /// The number of connections.
    var value: Int { state.withLock { $0.connections.count } }

    /// Assigns a place to an accepted connection until it is closed. Returns `nil` when there is
    /// none; then it must be closed.
    func admit(_ channel: any Channel) -> ListenerConnection? {
        let peer = PeerAddress(channel.remoteAddress)
        let isShortOfFiles = Self.isShortOfFiles
        let (connection, victim) = state.withLock {
            state -> (ListenerConnection?, ListenerConnection?) in
            var victim: ListenerConnection?
            let isPeerFull = peer.isRemote && state.order.count(of: peer) >= placesOfPeer
            var shortage: ListenerConnection.Shortage? =
                isPeerFull
                ? .placesOfPeer
                : isShortOfFiles ? .files : state.connections.count >= places ? .places : nil
            if shortage != nil {
                victim = state.stranger(of: isPeerFull ? peer : nil)
                guard victim != nil || state.reserveCount < Self.reserveCount else {
                    return (nil, nil)
                }
                if victim?.isReserve == false { shortage = nil }
            }
            if let victim { state.remove(victim) }
            state.lastNumber += 1
            let connection = ListenerConnection(
                channel, of: self, peer: peer, number: state.lastNumber, shortage: shortage)
            state.add(connection)
            return (connection, victim)
        }
        victim?.cut()
        if let connection {
            channel.closeFuture.whenComplete { [weak self] _ in
                connection.presence.end()
                self?.state.withLock { $0.remove(connection) }
            }
        }
        return connection
    }

    /// Counts another request over HTTP/2 of a connection that has one. Returns whether there was
    /// room for it.
    func beginRequest() -> Bool {
        let count = http2Requests.wrappingAdd(1, ordering: .relaxed).newValue
        guard count > Self.requestsPerPlace * places else { return true }
        endRequest()
        return false
    }

    /// Uncounts one.
    func endRequest() { http2Requests.wrappingSubtract(1, ordering: .relaxed) }

    /// Records a change of a connection.
    fileprivate func review(_ connection: ListenerConnection) {
        state.withLock { $0.review(connection) }
    }

    /// Closes the connection of the stranger that is replaced first. Returns whether there is one.
    func dropStranger() -> Bool {
        let victim = state.withLock { state in
            let victim = state.stranger(of: nil)
            if let victim { state.remove(victim) }
            return victim
        }
        victim?.cut()
        return victim != nil
    }

    /// The connection on this channel, or of this stream of HTTP/2; `nil` for one that has lost its
    /// place.
    func connection(on channel: any Channel) -> ListenerConnection? {
        state.withLock { state in
            state.connections[ObjectIdentifier(channel)]
                ?? channel.parent.flatMap { state.connections[ObjectIdentifier($0)] }
        }
    }

    /// Records a stream of an HTTP/2 connection until it is closed: its caller may disconnect by
    /// resetting it.
    func addStream(_ stream: any Channel, of connection: ListenerConnection) {
        let presence = CallerPresence()
        let id = ObjectIdentifier(stream)
        state.withLock { $0.presences[id] = presence }
        let key = connection.presence.add { presence.end() }
        stream.closeFuture.whenComplete { [weak self] _ in
            self?.state.withLock { $0.presences[id] = nil }
            if let key { connection.presence.remove(key) }
            presence.end()
        }
    }

    /// The presence of the caller on this channel or stream; without a place it is absent.
    func presence(on channel: any Channel) -> CallerPresence {
        let id = ObjectIdentifier(channel)
        let presence = state.withLock { $0.connections[id]?.presence ?? $0.presences[id] }
        if let presence { return presence }
        let gone = CallerPresence()
        gone.end()
        return gone
    }

    /// The number of connections that the limit of open files (`RLIMIT_NOFILE`) allows, without the
    /// reserve and the needs of the store, the log and the connections to APNs.
    static var systemLimit: Int {
        let files = openFilesLimit
        return max(8, files - min(256, files / 2) - 2 * reserveCount)
    }

    /// Whether the next file would be one of the last that the process may open, whoever opened the
    /// others: the listener leaves those to the rest of the program. Above all to libdispatch,
    /// under Swift's tasks, which reads files in /proc and ends the process when it cannot open one
    /// (`_dispatch_workq_monitor_pools`).
    static var isShortOfFiles: Bool {
        // The system gives the lowest number that is free.
        let next = dup(STDERR_FILENO)
        guard next >= 0 else { return errno == EMFILE || errno == ENFILE }
        close(next)
        return Int(next) >= openFilesLimit - 2 * reserveCount
    }

    private static var openFilesLimit: Int {
        var limit = rlimit()
        // Cannot fail: the resource exists, and the pointer is to a live local.
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(clamping: limit.rlim_cur)
    }
}

/// The address by which callers are distinguished: an IPv4 address, or the /64 of an IPv6 address,
/// because a single host has all of it.
struct PeerAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address, or `local` for a Unix domain socket.
    let description: String

    /// Whether it has an address: callers on a Unix domain socket have none.
    var isRemote: Bool { description != Self.local }

    private static let local = "local"

    init(_ address: SocketAddress?) { self.init(ipAddress: address?.ipAddress) }

    /// The peer of an IP address as text; `nil` for a Unix domain socket.
    init(ipAddress: String?) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if let ipAddress, inet_pton(AF_INET6, ipAddress, &bytes) == 1 {
            self.init(bytes)
        } else {
            self.init(text: ipAddress ?? Self.local)
        }
    }

    private init(text: String) { description = text }

    /// The peer of the 16 bytes of an IPv6 address.
    private init(_ bytes: [UInt8]) {
        // An IPv4 address on a socket for both (RFC 4291 §2.5.5.2), and the machine itself.
        if bytes[..<10].allSatisfy({ $0 == 0 }), bytes[10...11] == [0xff, 0xff] {
            self.init(text: bytes[12...].map(String.init).joined(separator: "."))
        } else if bytes[..<15].allSatisfy({ $0 == 0 }), bytes[15] == 1 {
            self.init(text: "::1")
        } else {
            let groups = stride(from: 0, to: 8, by: 2).map {
                String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16)
            }
            self.init(text: groups.joined(separator: ":") + "::/64")
        }
    }
}
