// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import PushTransport
import Testing
import TransportTestKit
import WakeModel

extension ServerTests {
    /// Requests that are no pushes to a device, on every transport there is.
    @Suite("Requests with a target", .timeLimit(.minutes(10)))
    struct RequestTargetTests {
        private static let path = "/1/apps/com.example.app/channels"

        private static func request(
            _ method: RequestTarget.Method, _ path: String, _ fields: [HeaderField] = [],
            body: String = "", maximumAnswerBytes: Int = WireResponse.maximumBodyBytes
        ) -> WireRequest {
            WireRequest(
                to: nil,
                sharedHeaders: SharedHeaders(
                    [HeaderField(name: "authorization", value: TestPush.authorization)] + fields,
                    target: RequestTarget(method, path, maximumAnswerBytes: maximumAnswerBytes)),
                body: Array(body.utf8))
        }

        private static func send(
            _ number: UInt64, _ request: WireRequest, on bench: Bench
        ) async throws -> WireResponse {
            bench.transport.submit(
                TestPush.submission(number, of: request, timeout: .seconds(20)))
            return try await bench.inbox.outcome(of: number).get()
        }

        @Test(
            "each method arrives with its path, with a body or without, between pushes",
            arguments: TransportMaker.all)
        func methods(maker: TransportMaker) async throws {
            try await withBench(maker) { bench in
                #expect(await bench.send(1).label == "200")
                let body = #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
                let made = try await Self.send(
                    2, Self.request(.post, Self.path, body: body), on: bench)
                #expect(made.status == 201 && made.body.isEmpty)
                #expect(made.broadcastFields.map(\.name) == ["apns-request-id", "apns-channel-id"])
                let channel = try #require(made.broadcastFields.last?.value)
                let fields = [HeaderField(name: "apns-channel-id", value: channel)]
                let read = try await Self.send(
                    3, Self.request(.get, Self.path, fields), on: bench)
                #expect(read.status == 200 && read.body == Array(body.utf8))
                #expect(await bench.send(4).label == "200")
                let deleted = try await Self.send(
                    5, Self.request(.delete, Self.path, fields), on: bench)
                #expect(deleted.status == 204 && deleted.body.isEmpty)
                #expect(await bench.send(6).label == "200")
                let pushes = bench.simulator.receivedPushes
                #expect(
                    pushes.map { $0[":method"] }
                        == ["POST", "POST", "GET", "POST", "DELETE", "POST"])
                #expect(
                    pushes.map { $0[":path"] == Self.path } == [
                        false, true, true, false, true, false,
                    ])
                #expect(Set(pushes.map(\.connection)).count == 1)
                #expect(bench.simulator.counters.malformedRequests == 0)
            }
        }

        @Test(
            "an answer may be as large as the request allows, and no larger",
            arguments: TransportMaker.all)
        func largeAnswers(maker: TransportMaker) async throws {
            try await withBench(maker) { bench in
                let app = try BundleID("com.example.app")
                for _ in 0..<10_000 { bench.simulator.createChannel(of: app) }
                let path = "/1/apps/com.example.app/all-channels"
                let list = try await Self.send(
                    1, Self.request(.get, path, maximumAnswerBytes: 1_048_576), on: bench)
                // Each id in quotes, with a comma or a bracket behind it.
                #expect(list.body.count == #"{"channels":[}"#.utf8.count + 10_000 * 27)
                let failed = Self.request(
                    .get, path, maximumAnswerBytes: list.body.count - 1)
                bench.transport.submit(
                    TestPush.submission(2, of: failed, timeout: .seconds(20)))
                #expect(
                    await bench.inbox.outcome(of: 2).label == "response-too-large (unknown)")
                // A push has its own limit again, on the same connection.
                #expect(await bench.send(3).label == "200")
                bench.transport.submit(
                    TestPush.submission(4, of: Self.request(.get, path), timeout: .seconds(20)))
                #expect(
                    await bench.inbox.outcome(of: 4).label == "response-too-large (unknown)")
            }
        }

        @Test("only what needs no body may have none", arguments: TransportMaker.all)
        func bodies(maker: TransportMaker) async throws {
            try await withBench(maker) { bench in
                bench.transport.submit(
                    TestPush.submission(1, of: Self.request(.post, Self.path), timeout: .seconds(5))
                )
                #expect(await bench.inbox.outcome(of: 1).label == "other (not-sent)")
                #expect(bench.simulator.receivedPushes.isEmpty)
            }
        }
    }
}
