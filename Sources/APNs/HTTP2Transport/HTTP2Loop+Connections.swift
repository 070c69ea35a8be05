// SPDX-License-Identifier: Apache-2.0

internal import CHTTP2Shims
internal import LoopKit
internal import PushTransport
internal import WakeModel

extension HTTP2Loop {
    /// A connection by its number, `nil` when it has ended. A linear search, because there are few.
    func connection(_ serial: UInt32) -> HTTP2Connection? {
        for connection in connections where connection.serial == serial { return connection }
        return nil
    }

    /// Whether a connection is due for replacement.
    func isAged(_ connection: HTTP2Connection, now: Int64) -> Bool {
        now - connection.openedAt >= terms.maximumAge
    }

    // MARK: Opening

    /// Whether the opening of a connection takes so long that another is opened in parallel.
    private func isLate(_ connection: HTTP2Connection, now: Int64) -> Bool {
        !connection.hasSettings && now >= connection.openedAt + Self.openingPatienceMilliseconds
    }

    /// Opens one more connection, if none is being opened and the back-off allows it. Connections
    /// that are aged, suspect, late or spent do not count: this one replaces them. There are at
    /// most as many spent ones as connections are configured.
    func openConnection(now: Int64) {
        let live = connections.filter { connection in
            !connection.isDraining && !connection.isSuspect && !isAged(connection, now: now)
                && !isLate(connection, now: now) && !connection.isSpent
        }
        let maximum = configuration.maximumConnections
        guard live.count < maximum, live.allSatisfy(\.isValidated),
            connections.count(where: { !$0.hasSettings }) < max(maximum + 1, Self.maximumOpenings),
            connections.count(where: { $0.isSpent && !$0.isDraining }) <= maximum,
            now >= backoff.notBefore(isUrgent: urgentQueue.count > 0)
        else { return }
        switch route {
        case .failure(let words):
            failToOpen(TransportFailure(.proxy, certainty: .notSent, detail: words), now: now)
        case .route(let route):
            do throws(TransportFailure) {
                open(route, with: try loadedContext(), now: now)
            } catch {
                failToOpen(error, now: now)
            }
        }
    }

    /// Made at the first connection, and again while it fails: a file may be added later.
    private func loadedContext() throws(TransportFailure) -> TLSContext {
        if let tlsContext { return tlsContext }
        let made = try TLSContext(configuration)
        tlsContext = made
        return made
    }

    private func open(_ route: Route, with context: TLSContext, now: Int64) {
        connectionsOpened += 1
        backoff.didOpen(now: now)
        let serial = UInt32(truncatingIfNeeded: connectionsOpened)
        let opening = ConnectionOpening(
            route: route, userAgent: configuration.userAgent, context: context, resolver: resolver,
            reactor: reactor, serial: serial)
        let connection = HTTP2Connection(
            serial: serial, opening: opening, reactor: reactor,
            maximumStarts: maximumStarts(now: now), formerEnd: requestLimit.lastEnd(now: now),
            connectDue: now + configuration.connectTimeout.wholeMilliseconds, now: now)
        connections.append(connection)
        proceed(connection, opening.start(ringing: mailbox, now: now), now: now)
    }

    /// The number of requests to start on a connection that is opened now. A limit of the server is
    /// used where its end requires no wait; the next connection is then opened as soon as the limit
    /// is reached, before the server ends the connection.
    private func maximumStarts(now: Int64) -> Int {
        let limit = requestLimit.value(now: now)
        return limit < ConnectBackoff.answersForNoWait ? .max : limit
    }

    private func proceed(
        _ connection: HTTP2Connection, _ progress: ConnectionOpening.Progress, now: Int64
    ) {
        switch progress {
        case .underWay: break
        case .failed(let failure):
            connection.didFailToOpen()
            remove(connection)
            if connection.isDraining { return }
            failToOpen(failure, now: now)
        case .open(let channel): didConnect(connection, channel, now: now)
        }
    }

    private func didConnect(
        _ connection: HTTP2Connection, _ channel: OpaquePointer, now: Int64
    ) {
        guard case .route(let route) = route,
            let session = CHTTP2Session_create(
                UInt32(clamping: maximumStreams), route.pseudoHeader, configuration.userAgent)
        else {
            reactor.forget(CHTTP2Channel_descriptor(channel))
            CHTTP2Channel_destroy(channel)
            connection.didFailToOpen()
            remove(connection)
            failToOpen(
                TransportFailure(.other, certainty: .notSent, detail: "memory ran out"), now: now)
            return
        }
        connection.didOpen(channel: channel, session: session, now: now)
    }

    /// A connection attempt failed. The next transfer in line fails with it (the next ordinary one,
    /// if urgent ones wait until their deadline); the others wait for the next attempt. If another
    /// connection is usable, none fails.
    private func failToOpen(_ failure: TransportFailure, now: Int64) {
        lastConnectFailure = failure
        backoff.didFail(now: now, jitter: .random(in: 0..<1))
        guard !connections.contains(where: \.isServing),
            let place = configuration.urgentWaitsForConnection ? firstOrdinary : nextQueued
        else { return }
        unqueue(place)
        finish(place, .failure(failure))
    }

    private func remove(_ connection: HTTP2Connection) {
        connections.removeAll { $0 === connection }
    }

    // MARK: Events

    /// Handles an event on a descriptor.
    func handle(_ event: CHTTP2Event, now: Int64) {
        guard let connection = connection(event.connection) else { return }
        switch connection.phase {
        case .opening(let opening):
            proceed(connection, opening.handle(event, now: now), now: now)
        case .open:
            if event.isWritable, connection.isBlocked { flush(connection, now: now) }
            if event.isReadable { read(connection, now: now) }
        case .closed: break
        }
    }

    /// Continues with the connections whose reading stopped before the end.
    func readOn(now: Int64) {
        guard connections.contains(where: \.hasMoreToRead) else { return }
        for connection in connections where connection.hasMoreToRead { read(connection, now: now) }
    }

    private func read(_ connection: HTTP2Connection, now: Int64) {
        guard let session = connection.session else { return }
        let (progress, hasHeard) = connection.receive()
        connection.hasMoreToRead = progress == .more
        let isHonest = !hasHeard || connection.didHear(now: now)
        settle(connection, now: now)
        let state = CHTTP2Session_state(session)
        if !isHonest {
            lose(connection, detail: "the peer floods the connection", now: now)
        } else if progress == .done || progress == .more || progress == .wantsRead
            || progress == .wantsWrite
        {
            if state.goAwayReceived {
                retire(connection, isInOrder: state.isLeavingInOrder, now: now)
            }
        } else {
            let isInOrder = progress == .closed && connection.inFlight == 0
            lose(connection, detail: connection.words, isInOrder: isInOrder, now: now)
        }
    }

    /// Writes what is pending on a connection.
    func flush(_ connection: HTTP2Connection, now: Int64) {
        let open = connection.openStreams
        guard !connection.flush() else {
            // A stream that this side resets ends when its RST_STREAM is collected, here or before.
            if settle(connection, now: now) || connection.openStreams < open {
                hasFreedStreams = true
            }
            // The session reported that the peer violated HTTP/2, and processes no more input from
            // it. The transport ends the connection, because the peer may never do so.
            if let session = connection.session, CHTTP2Session_state(session).goAwaySent {
                lose(connection, detail: "the peer broke HTTP/2", now: now)
            }
            return
        }
        let words = connection.words
        // The peer may have sent something before it closed.
        let (_, hasHeard) = connection.receive()
        if hasHeard { _ = connection.didHear(now: now) }
        settle(connection, now: now)
        lose(connection, detail: words, now: now)
    }

    /// Writes what is pending on all connections.
    func flushAll(now: Int64) {
        var index = 0
        while index < connections.count {
            let connection = connections[index]
            if !connection.isBlocked { flush(connection, now: now) }
            if index < connections.count, connections[index] === connection { index += 1 }
        }
    }

    // MARK: Ending

    /// Stops using a connection that failed or is draining for new requests. A server that answers
    /// and then closes the connection in order is not a failure: the next one is opened
    /// immediately, before this one has drained. Any other end counts as a failure, early in the
    /// connection's life or without a valid answer.
    func retire(_ connection: HTTP2Connection, isInOrder: Bool = false, now: Int64) {
        guard !connection.isDraining else { return }
        connection.drain()
        if isInOrder, connection.isValidated {
            // Those that it accepted and has not answered yet will be answered.
            let accepted = connection.acceptedStarts ?? 0
            requestLimit.didEnd(after: accepted, former: connection.formerEnd, now: now)
            backoff.didEndInOrder(answers: max(accepted, connection.answers))
            return
        }
        let isShortLived = now - connection.openedAt < Self.shortLifeMilliseconds
        if isShortLived || !connection.isValidated {
            backoff.didFail(
                now: now, jitter: .random(in: 0..<1), hadAnswers: connection.isValidated)
        }
    }

    /// Ends a connection that broke, and reports the outcomes of its requests.
    func lose(
        _ connection: HTTP2Connection, detail: String, isInOrder: Bool = false, now: Int64
    ) {
        guard let session = connection.session else { return }
        guard connection.hasSettings else {
            loseBeforeSettings(connection, detail: detail, now: now)
            return
        }
        retire(connection, isInOrder: isInOrder, now: now)
        let detail =
            CHTTP2Session_state(session).goAwayReceived
            ? "\(farewell(of: session)); \(detail)" : detail
        let loss = TransportFailure(.connectionLost, certainty: .unknown, detail: detail)
        if !connection.isValidated {
            lastConnectFailure = TransportFailure(
                .connectionLost, certainty: .notSent, detail: detail)
        }
        CHTTP2Session_abort(session)
        settle(connection, loss: loss, now: now)
        connection.close()
        remove(connection)
    }

    /// Ends a connection whose opening was never complete. Nothing was sent over it.
    private func loseBeforeSettings(_ connection: HTTP2Connection, detail: String, now: Int64) {
        let isWanted = !connection.isDraining
        connection.close()
        remove(connection)
        guard isWanted else { return }
        failToOpen(
            TransportFailure(
                .connectionLost, certainty: .notSent,
                detail: "the server sent no SETTINGS: \(detail)"), now: now)
    }

    // MARK: Time

    /// The next time at which a connection must be checked.
    func nextDue(of connection: HTTP2Connection, now: Int64) -> Int64 {
        var due = Int64.max
        if queued > 0, !connection.hasSettings {
            let late = connection.openedAt + Self.openingPatienceMilliseconds
            if now < late { due = late }
        }
        switch connection.phase {
        case .opening(let opening): return min(due, connection.connectDue, opening.due ?? .max)
        case .closed: return .max
        case .open: break
        }
        if let silence = terms.silence {
            due = min(
                due,
                connection.pingSentAt.map { $0 + terms.patience }
                    ?? connection.lastHeardAt + silence)
        }
        if !connection.hasSettings { due = min(due, connection.connectDue) }
        if connection.inFlight == 0 {
            due = min(due, idleSince(connection) + terms.maximumIdleTime)
        } else if connection.isSpent, !connection.isDraining {
            due = min(due, silentSince(connection) + Self.probePatienceMilliseconds)
        } else if !connection.isValidated, !connection.isDraining {
            due = min(due, connection.lastStartAt + Self.probePatienceMilliseconds)
        }
        return due
    }

    private func idleSince(_ connection: HTTP2Connection) -> Int64 {
        max(connection.lastStartAt, connection.openedAt)
    }

    /// The time since which requests wait for an answer.
    private func silentSince(_ connection: HTTP2Connection) -> Int64 {
        max(connection.lastStartAt, connection.lastAnswerAt)
    }

    /// Checks each connection's opening, silence, idle time and end.
    func review(now: Int64) {
        // Backwards, because some are removed during the iteration.
        for connection in connections.reversed() {
            switch connection.phase {
            case .opening(let opening): review(opening, of: connection, now: now)
            case .open: reviewOpen(connection, now: now)
            case .closed: break
            }
        }
    }

    private func review(
        _ opening: ConnectionOpening, of connection: HTTP2Connection, now: Int64
    ) {
        if connection.isDraining {
            connection.close()
            remove(connection)
        } else if now >= connection.connectDue {
            connection.close()
            remove(connection)
            let limit = configuration.connectTimeout
            failToOpen(
                TransportFailure(
                    .timedOut, certainty: .notSent, detail: "no connection within \(limit)"),
                now: now)
        } else {
            proceed(connection, opening.tick(now: now), now: now)
        }
    }

    private func reviewOpen(_ connection: HTTP2Connection, now: Int64) {
        if connection.inFlight == 0,
            connection.isDraining || connection.isSpent
                || now - idleSince(connection) >= terms.maximumIdleTime
        {
            connection.close()
            remove(connection)
            return
        }
        if !connection.hasSettings, now >= connection.connectDue {
            let limit = configuration.connectTimeout
            loseBeforeSettings(connection, detail: "nothing came within \(limit)", now: now)
            return
        }
        if !connection.isValidated, connection.inFlight > 0,
            now - connection.lastStartAt >= Self.probePatienceMilliseconds
        {
            // The request keeps its own time for an answer; the others go over another connection.
            retire(connection, now: now)
        }
        if connection.isSpent, now - silentSince(connection) >= Self.probePatienceMilliseconds {
            // Its requests keep their time for an answer; it no longer counts.
            connection.drain()
        }
        guard let silence = terms.silence else { return }
        if let pingSentAt = connection.pingSentAt {
            guard now - pingSentAt >= terms.patience else { return }
            let limit = Duration.milliseconds(terms.patience)
            lose(
                connection, detail: "the peer did not answer a PING within \(limit)", now: now)
        } else if now - connection.lastHeardAt >= silence {
            connection.ping(isSuspect: false, now: now)
        }
    }
}
