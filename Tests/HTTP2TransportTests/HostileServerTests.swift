// SPDX-License-Identifier: Apache-2.0

import HTTP2Transport
import PushTransport
import Testing
import TransportTestKit

extension ServerTests {
    @Suite("Hostile servers", .timeLimit(.minutes(1)))
    struct HostileServerTests {
        struct Flood: Sendable, CustomTestStringConvertible {
            let name: String
            /// Said once, after the request came.
            var opening: [UInt8] = []
            /// Said for ever.
            let frame: [UInt8]
            var testDescription: String { name }
        }

        static let floods = [
            Flood(name: "PING", frame: ServerFrame.ping()),
            Flood(name: "PING answers", frame: ServerFrame.frame(6, flags: 1, Array(1...8))),
            Flood(name: "SETTINGS", frame: ServerFrame.settings([(3, 100)])),
            Flood(name: "SETTINGS answers", frame: ServerFrame.settingsAcknowledgement),
            Flood(name: "WINDOW_UPDATE", frame: ServerFrame.windowUpdate()),
            Flood(name: "WINDOW_UPDATE of a stream", frame: ServerFrame.windowUpdate(stream: 1)),
            Flood(
                name: "RST_STREAM", opening: ServerFrame.reset(stream: 1, code: 8),
                frame: ServerFrame.reset(stream: 1, code: 8)),
            Flood(name: "PRIORITY", frame: ServerFrame.frame(2, stream: 1, [0, 0, 0, 0, 1])),
            Flood(name: "unknown frames", frame: ServerFrame.frame(0xbb, stream: 1, [1])),
            Flood(
                name: "CONTINUATION", opening: ServerFrame.frame(1, stream: 1, [0x88]),
                frame: ServerFrame.frame(
                    9, stream: 1, ServerFrame.literal("x", String(repeating: "y", count: 50)))),
            Flood(
                name: "empty CONTINUATION", opening: ServerFrame.frame(1, stream: 1, [0x88]),
                frame: ServerFrame.frame(9, stream: 1)),
            Flood(
                name: "empty DATA", opening: ServerFrame.refusal(stream: 1),
                frame: ServerFrame.data(stream: 1, [], isLast: false)),
            Flood(
                name: "interim answers",
                frame: ServerFrame.frame(1, flags: 4, stream: 1, [0x08, 3] + Array("103".utf8))),
            Flood(name: "GOAWAY", frame: ServerFrame.goAway(last: 1)),
            Flood(name: "no HTTP/2 at all", frame: Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)),
        ]

        @Test("a flood closes the connection, and the push is answered once", arguments: floods)
        func flood(flood: Flood) async throws {
            let server = try await HostileServer { peer in
                guard peer.send(ServerFrame.settings()), peer.awaitRequest(),
                    peer.send(flood.opening)
                else { return }
                let many = Array(repeatElement(flood.frame, count: 100).joined())
                // Far more than any budget; whoever takes all of it does not close.
                for _ in 0..<20_000 { guard peer.send(many) else { return } }
            }
            let inbox = Inbox()
            var reach = TransportConfiguration(host: "127.0.0.1")
            reach.port = server.port
            reach.trust = .pem(try server.certificate.pem)
            reach.proxy = .none
            let transport = try HTTP2Transport(reach, sink: inbox.sink)
            transport.submit([TestPush.submission(1, timeout: .seconds(20))])
            let outcome = await inbox.outcome(of: 1)
            let isStatus = flood.name == "empty DATA" && outcome.status == 400
            let isStatusOK = flood.name.contains("CONTINUATION") && outcome.status == 200
            let isReset = flood.name == "RST_STREAM" && outcome.label == "stream-reset (unknown)"
            #expect(
                isStatus || isStatusOK || isReset
                    || ["connection-lost (unknown)", "response-too-large (unknown)"]
                        .contains(outcome.label),
                "\(outcome)")
            #expect(await eventually { server.endedScripts > 0 }, "it was not closed")
            await transport.shutDown(gracePeriod: .zero)
            server.close()
            #expect(inbox.order == [1])
        }

        @Test(
            "a peer that falls silent is pinged, and left; the next push finds another connection")
        func wedged() async throws {
            let server = try await HostileServer { peer in
                guard peer.send(ServerFrame.settings()) else { return }
                while peer.receive() != nil {}
            }
            let inbox = Inbox()
            var reach = TransportConfiguration(host: "127.0.0.1")
            reach.port = server.port
            reach.trust = .pem(try server.certificate.pem)
            reach.proxy = .none
            var keepAlive = TransportConfiguration.KeepAlive()
            keepAlive.idle = .milliseconds(200)
            keepAlive.interval = .milliseconds(200)
            reach.keepAlive = keepAlive
            let transport = try HTTP2Transport(reach, sink: inbox.sink)
            transport.submit([TestPush.submission(1, timeout: .seconds(20))])
            let failure = await inbox.outcome(of: 1).failure
            #expect(failure?.label == "connection-lost (unknown)")
            #expect(failure?.detail.contains("PING") == true)
            #expect(await eventually { server.endedScripts == 1 })
            await transport.shutDown(gracePeriod: .zero)
            server.close()
        }
    }
}
