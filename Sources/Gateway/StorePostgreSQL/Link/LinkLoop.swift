// SPDX-License-Identifier: Apache-2.0

internal import CLibpq
internal import Glibc

/// The thread's whole life: take messages, act on what is ready and on what is overdue, wait, and
/// again. Everything below it is touched by this one thread only.
final class LinkLoop {
    /// The longest wait, and how exactly the time of those who wait for a session is kept.
    private static let maximumWaitMilliseconds: Int64 = 1000
    private static let waiterMilliseconds: Int64 = 50
    /// The waits between attempts to connect: doubled from the first to the last.
    private static let firstRestMilliseconds: Int64 = 100
    private static let longestRestMilliseconds: Int64 = 5000

    private let mailbox: LinkMailbox
    private let settings: ConnectionSettings
    private let establish: PostgreSQLPool.Establisher
    private var links: [Link]
    private var generations: UInt64 = 0
    private var descriptors: [pollfd] = []

    init(
        _ mailbox: LinkMailbox, _ settings: ConnectionSettings, writers: Int, readers: Int,
        establish: @escaping PostgreSQLPool.Establisher
    ) {
        self.mailbox = mailbox
        self.settings = settings
        self.establish = establish
        links = []
        for (role, count) in [(Session.Role.writer, writers), (.reader, readers)] {
            for number in 0..<count {
                links.append(Link(index: links.count, role: role, number: number))
            }
        }
    }

    func run() {
        while true {
            let now = LinkThread.now
            let (messages, shutdownDue) = mailbox.takeMessages()
            for message in messages { handle(message) }
            for link in links { review(link, now: now, isLeaving: shutdownDue != nil) }
            mailbox.refuseOverdue(now: now)
            if let shutdownDue, now >= shutdownDue || links.allSatisfy({ $0.run == nil }) { break }
            wait(now: now, shutdownDue: shutdownDue)
        }
        leave()
    }

    // MARK: Messages

    private func handle(_ message: LinkMailbox.Message) {
        switch message {
        case .run(let run):
            guard let link = links.first(where: { $0.sessionID == run.session }),
                link.connection != nil
            else {
                run.finish(.lost(message: "the connection has ended", mayBeCommitted: false))
                return
            }
            guard link.run == nil else {
                run.finish(.lost(message: "a run is under way already", mayBeCommitted: false))
                return
            }
            attempt(link) { () throws(Link.Broken) in try link.begin(run) }
        case .opened(let index, let generation, let outcome):
            didOpen(links[index], generation, outcome)
        case .greeted(let id, let answer):
            guard let link = links.first(where: { $0.sessionID == id }), case .greeting = link.phase
            else { return }
            switch answer {
            case .success:
                link.phase = .ready
                link.failures = 0
                if let session = session(of: link) { mailbox.add(session) }
                shortenRests()
            case .failure(let failure):
                end(link, failure.words)
            }
        }
    }

    private func didOpen(
        _ link: Link, _ generation: UInt64, _ outcome: ConnectionOpening.Outcome
    ) {
        switch outcome {
        case .failure(let failure): end(link, failure.message)
        case .success(let opened):
            link.generation = generation
            link.take(opened)
            guard let session = session(of: link) else { return }
            let (mailbox, establish) = (mailbox, establish)
            Task { mailbox.leave(.greeted(session.id, await establish(session))) }
        }
    }

    private func session(of link: Link) -> Session? {
        guard let connection = link.connection else { return nil }
        return Session(
            id: link.sessionID, serverVersion: Int(PQserverVersion(connection)),
            processID: PQbackendPID(connection), mailbox: mailbox)
    }

    // MARK: Connections

    /// The server answers one, so the others try soon, and nobody is told that it does not.
    private func shortenRests() {
        let soon = LinkThread.now + Int64.random(in: 0...Self.firstRestMilliseconds)
        for link in links {
            if case .resting(let until) = link.phase {
                link.phase = .resting(until: min(until, soon))
            }
        }
    }

    /// Opens what is to be opened, and ends what takes too long.
    private func review(_ link: Link, now: Int64, isLeaving: Bool) {
        if let due = link.run?.due, due <= now { end(link, "the time for an answer is over") }
        guard case .resting(let until) = link.phase, until <= now, !isLeaving else { return }
        link.phase = .opening
        generations += 1
        let (index, generation, mailbox) = (link.index, generations, mailbox)
        ConnectionOpening.start(settings) { outcome in
            let isTaken = mailbox.leave(
                .opened(link: index, generation: generation, outcome))
            if !isTaken, case .success(let opened) = outcome { opened.close() }
        }
    }

    /// Does something on a connection, which ends if that fails.
    private func attempt(_ link: Link, _ body: () throws(Link.Broken) -> Void) {
        do throws(Link.Broken) {
            try body()
        } catch {
            end(link, error.message)
        }
    }

    /// Ends a connection, or an attempt to get one. The next is opened immediately if this one had
    /// been usable, and after a pause if not.
    private func end(_ link: Link, _ message: String) {
        mailbox.remove(link.sessionID)
        let over = link.close(message)
        if case .ready = link.phase {
            link.phase = .resting(until: .min)
        } else {
            let longest = min(
                Self.longestRestMilliseconds,
                Self.firstRestMilliseconds << Int64(min(link.failures, 16)))
            link.failures += 1
            // Many gateways are not to come back at the same moment.
            link.phase = .resting(
                until: LinkThread.now + Int64.random(in: longest / 2...longest))
            mailbox.didFail(link.role, message)
        }
        if let (run, outcome) = over { run.finish(outcome) }
    }

    private func serve(_ link: Link, isReadable: Bool) {
        attempt(link) { () throws(Link.Broken) in
            if link.wantsToWrite { try link.flush() }
            if isReadable, let (run, outcome) = try link.receive() { run.finish(outcome) }
        }
    }

    // MARK: Waiting

    private func wait(now: Int64, shutdownDue: Int64?) {
        descriptors.removeAll(keepingCapacity: true)
        descriptors.append(
            pollfd(fd: mailbox.wakeup.reading, events: Int16(POLLIN), revents: 0))
        var due = min(now + Self.maximumWaitMilliseconds, shutdownDue ?? .max)
        for link in links {
            due = min(due, link.run?.due ?? .max)
            if case .resting(let until) = link.phase { due = min(due, until) }
            let events = link.wantsToWrite ? POLLIN | POLLOUT : POLLIN
            // A negative descriptor is passed over.
            let descriptor = link.connection.map { PQsocket($0) } ?? -1
            descriptors.append(pollfd(fd: descriptor, events: Int16(events), revents: 0))
        }
        let (mayWait, hasWaiters) = mailbox.fallAsleep(knownShutdownDue: shutdownDue)
        if hasWaiters { due = min(due, now + Self.waiterMilliseconds) }
        let limit = mayWait ? max(0, due - LinkThread.now) : 0
        guard poll(&descriptors, nfds_t(descriptors.count), Int32(limit)) > 0 else { return }
        if descriptors[0].revents != 0 {
            var bytes: UInt64 = 0
            _ = read(mailbox.wakeup.reading, &bytes, 8)
        }
        for link in links {
            let events = Int32(descriptors[link.index + 1].revents)
            if events != 0 { serve(link, isReadable: events & ~Int32(POLLOUT) != 0) }
        }
    }

    private func leave() {
        for message in mailbox.leaveForGood() {
            switch message {
            case .run(let run):
                run.finish(.lost(message: "the pool is shut down", mayBeCommitted: false))
            case .opened(_, _, .success(let opened)): opened.close()
            case .opened, .greeted: break
            }
        }
        for link in links {
            if let (run, outcome) = link.close("the pool is shut down") { run.finish(outcome) }
        }
    }
}
