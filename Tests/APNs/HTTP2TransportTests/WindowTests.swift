// SPDX-License-Identifier: Apache-2.0

import HTTP2Transport
import PushTransport
import Synchronization
import Testing
import TransportTestKit

extension ServerTests {
    /// What goes back to the server, and where the next push goes.
    @Suite("Windows and load", .timeLimit(.minutes(10)))
    struct WindowTests {
        private func connect(
            to server: HostileServer, connections: Int
        ) throws -> (transport: HTTP2Transport, inbox: Inbox) {
            var reach = try server.reach
            reach.maximumConnections = connections
            let inbox = Inbox()
            return (try HTTP2Transport(reach, sink: inbox.sink), inbox)
        }

        /// Guards the connection's window: what is not given back for a stream that nobody waits
        /// for is lost to all that come after it.
        @Test("every byte of an answer is given back: of whole, too long and late ones")
        func windowUpdates() async throws {
            let sent = Atomic(0)
            let server = try await HostileServer { peer in
                var courtesy = Courtesy()
                peer.converse(settings: [(3, 1000)]) { frame in
                    let words = courtesy.reply(to: frame)
                    sent.store(courtesy.sent, ordering: .releasing)
                    return words
                }
            }
            let (transport, inbox) = try connect(to: server, connections: 1)
            let timeouts = [Duration.seconds(10), .seconds(10), .milliseconds(300)]
            let count = Courtesy.sizes.count * Courtesy.rounds
            for number in 0..<UInt64(count) {
                let timeout = timeouts[Int(number) % timeouts.count]
                transport.submit([TestPush.submission(number, timeout: timeout)])
                // The first answer opens the connection for the others.
                if number == 0 { _ = await inbox.outcome(of: 0) }
            }
            await inbox.waitForCount(count)
            #expect(inbox.count(status: 400) == Courtesy.rounds)
            #expect(
                inbox.failures == [
                    "response-too-large (unknown)": Courtesy.rounds,
                    "timed-out (unknown)": Courtesy.rounds,
                ])
            let total = Courtesy.sizes.reduce(0, +) * Courtesy.rounds
            #expect(
                await eventually { sent.load(ordering: .acquiring) == total },
                "\(sent.load(ordering: .acquiring)) of \(total) bytes found room")
            #expect(transport.gauges.connectionsOpened == 1)
            await transport.shutDown(gracePeriod: .zero)
            server.close()
        }

        @Test("the least loaded connection is the next one's, up to the server's limit")
        func leastLoaded() async throws {
            let requests = Mutex([0, 0])
            let server = try await HostileServer { peer in
                // The first one proves the connection; the others stay.
                peer.converse(settings: [(3, 8)]) { frame in
                    guard frame.endsRequest else { return [] }
                    let count = requests.withLock { requests in
                        requests[peer.connection - 1] += 1
                        return requests[peer.connection - 1]
                    }
                    return count == 1 ? ServerFrame.accepted(stream: frame.stream) : []
                }
            }
            func expect(_ counts: [Int], _ words: Comment) async {
                let isSo = await eventually { requests.withLock { $0 } == counts }
                #expect(isSo, "\(words): \(requests.withLock { $0 })")
            }
            let (transport, inbox) = try connect(to: server, connections: 2)
            transport.submit([TestPush.submission(0)])
            #expect(await inbox.outcome(of: 0).label == "200")
            // Eight fill the first one; the ninth opens the second one, and is answered there.
            transport.submit(TestPush.batch(1...9))
            #expect(await inbox.outcome(of: 9).label == "200")
            await expect([9, 1], "one is full")
            for id in UInt64(1)...4 { transport.cancel(id) }
            await inbox.waitForCount(6)
            transport.submit(TestPush.batch(10...13))
            await expect([9, 5], "four are open on the first one, none on the second one")
            transport.submit(TestPush.batch(14...19))
            await expect([12, 8], "both have four")
            transport.submit(TestPush.batch(20...29))
            await expect([13, 9], "both are full with eight")
            #expect(transport.gauges.queued == 8)
            await transport.shutDown(gracePeriod: .zero)
            server.close()
        }
    }
}

/// A server's side of flow control: it answers by turns with a body that a client takes, with one
/// that is too long for it, and, when the client has reset the stream, with one that nobody waits
/// for; and it sends no byte for which the connection's window has no room (RFC 9113 §5.2).
private struct Courtesy {
    static let sizes = [4096, 6000, 4096]
    static let rounds = 60

    /// Bytes of bodies so far.
    private(set) var sent = 0
    private var requests = 0
    private var window = 65_535
    private var waiting: [(stream: Int, size: Int)] = []

    mutating func reply(to frame: ClientFrames.Frame) -> [UInt8] {
        if let credit = frame.credit { window += credit }
        if frame.endsRequest {
            requests += 1
            let place = (requests - 1) % Self.sizes.count
            if place != 2 { waiting.append((frame.stream, Self.sizes[place])) }
        }
        // The reset of one that was answered too long comes here, too.
        if frame.isReset, (frame.stream - 1) / 2 % Self.sizes.count == 2 {
            waiting.append((frame.stream, Self.sizes[2]))
        }
        var words: [UInt8] = []
        while let next = waiting.first, next.size <= window {
            waiting.removeFirst()
            window -= next.size
            sent += next.size
            let body = [UInt8](repeating: 0x41, count: next.size)
            words += ServerFrame.refusal(stream: next.stream)
            words += ServerFrame.data(stream: next.stream, body, isLast: true)
        }
        return words
    }
}
