// SPDX-License-Identifier: Apache-2.0

internal import CHTTP2Shims
internal import LoopKit
internal import PushTransport
internal import WakeModel

extension HTTP2Loop {
    /// Assigns waiting transfers to connections with free streams, and opens connections as needed.
    func admit(now: Int64) {
        while let place = nextQueued {
            let bodyCount = pool.bodyCount(place)
            guard let (connection, run) = connectionWithMostRoom(for: bodyCount, now: now) else {
                openConnection(now: now)
                return
            }
            if isAged(connection, now: now) { openConnection(now: now) }
            startRun(of: run, on: connection, now: now)
        }
    }

    /// Starts those that are next, up to `count` of them, as long as the connection takes them.
    private func startRun(of count: Int, on connection: HTTP2Connection, now: Int64) {
        var left = count
        while left > 0, let place = nextQueued, connection.room(maximum: maximumStreams) > 0,
            connection.takesBody(of: pool.bodyCount(place))
        {
            unqueue(place)
            start(place, on: connection, now: now)
            left -= 1
        }
    }

    /// The least loaded connection, and how many transfers it should get in a row. One that has
    /// reached its maximum age is used only if there is no other, until its successor has had a
    /// valid answer.
    private func connectionWithMostRoom(
        for bodyCount: Int, now: Int64
    ) -> (connection: HTTP2Connection, run: Int)? {
        var best: HTTP2Connection?
        var (most, second, bestIsAged) = (0, 0, true)
        for connection in connections {
            let room = connection.room(maximum: maximumStreams)
            guard room > 0 else { continue }
            let isAged = isAged(connection, now: now)
            guard room > most && isAged == bestIsAged || bestIsAged && !isAged else {
                second = max(second, room)
                continue
            }
            guard connection.takesBody(of: bodyCount) else { continue }
            (best, most, second, bestIsAged) = (connection, room, most, isAged)
        }
        guard let best else { return nil }
        let streams = most + Int(best.openStreams)
        return (best, Self.run(most: most, second: second, streams: streams))
    }

    /// How many transfers a connection of so many streams gets in a row that has room for `most`,
    /// when the next one has room for `second`: until they are level, but not too few.
    static func run(most: Int, second: Int, streams: Int) -> Int {
        max(most - second, min(streams / runDivisor, leastRun), 1)
    }

    private func start(_ place: TransferPool.Place, on connection: HTTP2Connection, now: Int64) {
        guard let session = connection.session else {
            preconditionFailure("A connection without a session has no room.")
        }
        let started = pool.withRequest(place) { request -> CHTTP2Started? in
            guard let block = blocks.block(for: request.sharedHeaders),
                Self.headBytes(of: request, with: block) <= headRoom
            else { return nil }
            return Self.start(request, tag: UInt32(place), block: block, on: session)
        }
        guard let started else {
            pool[place].stage = .started
            finish(place, .failure(Self.headTooLarge))
            return
        }
        guard started.stream >= 0 else {
            requeue(place)
            lose(connection, detail: "memory ran out, or the session broke", now: now)
            return
        }
        pool[place].stage = .started
        pool[place].startedAt = now
        pool[place].connection = connection.serial
        pool[place].stream = UInt32(started.stream)
        connection.didStart(now: now)
        if started.isFull {
            flush(connection, now: now)
        } else if settle(connection, now: now) {
            // Starting also collected the RST_STREAM of a stream whose answer was refused, which
            // ended it. The next of this run may use its place.
            hasFreedStreams = true
        }
    }

    /// Puts it back to the front of the queue.
    private func requeue(_ place: TransferPool.Place) {
        if pool[place].isUrgent {
            urgentQueue.putBack(place, in: pool)
        } else {
            ordinaryQueue.putBack(place, in: pool)
        }
    }

    private static func start(
        _ request: borrowing WireRequest, tag: UInt32, block: HeaderBlock, on session: OpaquePointer
    ) -> CHTTP2Started {
        let target = request.sharedHeaders.target
        if let target {
            begin(target, block: block, on: session)
        } else {
            begin(request, block: block, on: session)
        }
        request.forEachField { name, value in add(name, value, to: session) }
        // SAFETY: the session copies the body's bytes before the call ends; an empty array's
        // missing address is replaced by one that is not read.
        let started = request.body.withUnsafeBufferPointer { body in
            withUnsafePointer(to: 0 as UInt8) { nothing in
                CHTTP2Session_start(session, tag, body.baseAddress ?? nothing, body.count)
            }
        }
        if let target, started.stream >= 0 {
            CHTTP2Session_limit_answer(
                session, UInt32(started.stream), UInt32(target.maximumAnswerBytes))
        }
        return started
    }

    /// Starts a request that is not a push to a device.
    private static func begin(
        _ target: RequestTarget, block: HeaderBlock, on session: OpaquePointer
    ) {
        let method: CHTTP2Method =
            switch target.method {
            case .post: .post
            case .get: .get
            case .delete: .delete
            }
        target.path.withBytes { path in
            CHTTP2Session_begin_other(session, method, path.start, path.count, block.pointer)
        }
    }

    /// Builds the path where the session copies it from.
    private static func begin(
        _ request: borrowing WireRequest, block: HeaderBlock, on session: OpaquePointer
    ) {
        let prefix = WireRequest.pathPrefix.utf8
        // Not the request: a closure that captures a borrowed value copies all of it.
        let token = request.deviceToken?.hex ?? ""
        let count = prefix.count + token.utf8.count
        // SAFETY: both parts are written, `count` bytes in all, before any is read.
        withUnsafeTemporaryAllocation(byteCount: count, alignment: 1) { path in
            path.copyBytes(from: prefix)
            token.withBytes { bytes in
                // SAFETY: `path` has `bytes.count` bytes behind the prefix.
                UnsafeMutableRawBufferPointer(rebasing: path[prefix.count...]).copyMemory(
                    from: UnsafeRawBufferPointer(start: bytes.start, count: bytes.count))
            }
            guard let start = path.baseAddress else {
                preconditionFailure("A path is never empty.")
            }
            CHTTP2Session_begin(session, start, count, block.pointer)
        }
    }

    private static func add(
        _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, to session: OpaquePointer
    ) {
        guard let nameStart = name.baseAddress, let valueStart = value.baseAddress else {
            preconditionFailure("No header field of a push is empty.")
        }
        // SAFETY: the session copies both before the call ends.
        CHTTP2Session_add_field(session, nameStart, name.count, valueStart, value.count)
    }

    // MARK: Size

    /// The most bytes that a field takes in addition to its name and value: a prefix and two
    /// lengths (RFC 7541 §5).
    private static let fieldOverhead = 12

    /// The most bytes that a request's own part and its shared one can take.
    private static func headBytes(of request: borrowing WireRequest, with block: HeaderBlock) -> Int
    {
        request.headBytes(overhead: fieldOverhead) + block.longest
    }

    /// The space in a header block without the connection's own fields.
    private var headRoom: Int {
        let own =
            ":method:scheme:authorityDELETEhttpsuser-agent".utf8.count + 4 * Self.fieldOverhead
        let host = configuration.host.utf8.count + 8
        return Int(CHTTP2_HEAD_MAX) - own - host - configuration.userAgent.utf8.count
    }

    private static let headTooLarge = TransportFailure(
        .other, certainty: .notSent,
        detail: "the header fields take over \(CHTTP2_HEAD_MAX) bytes, or memory ran out")
}
