// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Gateway
import GatewayTestKit
import ServiceLifecycle
import Synchronization
import Testing
import WakeModel

@testable import AdminAPI

@Suite("Webhooks", .timeLimit(.minutes(1)))
struct WebhookTests {
    /// A receiver that answers as it is told, and remembers what it got.
    private final class Receiver: WebhookCarrier {
        struct Post {
            let body: [UInt8]
            let headers: [String: String]
        }

        private let posts = Mutex<[Post]>([])
        private let answer: @Sendable (Int) -> Result<Int, WebhookFailure>
        private let arrived = AsyncStream.makeStream(of: Int.self)

        init(_ answer: @escaping @Sendable (Int) -> Result<Int, WebhookFailure>) {
            self.answer = answer
        }

        var all: [Post] { posts.withLock { $0 } }

        func wait(for count: Int) async {
            for await number in arrived.stream where number >= count { return }
        }

        func post(
            _ body: [UInt8], to endpoint: WebhookEndpoint, headers: [(name: String, value: String)]
        ) async -> Result<Int, WebhookFailure> {
            let number = posts.withLock { posts in
                posts.append(
                    Post(body: body, headers: Dictionary(headers.map { $0 }) { first, _ in first }))
                return posts.count
            }
            arrived.continuation.yield(number)
            return answer(number)
        }
    }

    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    private func deliver(
        to receiver: Receiver, count: Int, _ body: (Gateway) async throws -> Void
    ) async throws {
        var configuration = GatewayConfiguration(apps: [Samples.app])
        configuration.webhooks = Set(WebhookKind.allCases)
        let gateway = Gateway(
            configuration: configuration, store: InMemoryWakeStore(), sender: ScriptedSender(),
            logger: .silent)
        let delivery = WebhookDelivery(
            gateway: gateway,
            endpoint: try WebhookEndpoint(url: "https://example.com/hook", secret: Self.secret),
            carrier: receiver, metrics: MetricsRegistry(), logger: .silent)
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: gateway), .init(service: delivery)], logger: .silent))
        let run = Task { try await group.run() }
        try await body(gateway)
        await receiver.wait(for: count)
        await group.triggerGracefulShutdown()
        try await run.value
    }

    @Test("An outcome is posted, signed as Standard Webhooks say")
    func delivery() async throws {
        let receiver = Receiver { _ in .success(204) }
        try await deliver(to: receiver, count: 1) { gateway in
            // Until the gateway runs it takes nothing.
            while !gateway.readiness.isReady { await Task.yield() }
            _ = await gateway.accept(Samples.request())
        }
        let post = try #require(receiver.all.first)
        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(post.body)) as? [String: Any])
        let event = try #require((json["events"] as? [[String: Any]])?.first)
        #expect(event["type"] as? String == "outcome")
        #expect((event["wake"] as? [String: Any])?["state"] as? String == "sent")
        #expect(!String(decoding: post.body, as: UTF8.self).contains(Samples.deviceToken().hex))
        let id = try #require(post.headers["webhook-id"])
        #expect(event["id"] as? String == id)
        let time = try #require(post.headers["webhook-timestamp"])
        let key = SymmetricKey(
            data: try #require(Data(base64Encoded: String(Self.secret.dropFirst(6)))))
        let mac = HMAC<SHA256>.authenticationCode(
            for: Array("\(id).\(time).".utf8) + post.body, using: key)
        #expect(post.headers["webhook-signature"] == "v1," + Data(mac).base64EncodedString())
    }

    @Test("The signature is that of the specification's example")
    func signature() throws {
        let endpoint = try WebhookEndpoint(url: "https://example.com", secret: Self.secret)
        // Standard Webhooks, "Signature scheme": the example of its libraries' tests.
        let signature = endpoint.signature(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330,
            body: Array("{\"test\": 2432232314}".utf8))
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test("Pauses double from five seconds to an hour, and three days are the end")
    func schedule() {
        #expect((0...3).map { WebhookSchedule.pauseSeconds(tries: $0) } == [5, 10, 20, 40])
        #expect(WebhookSchedule.pauseSeconds(tries: 10) == 3_600)
        #expect(WebhookSchedule.pauseSeconds(tries: .max) == 3_600)
        let start = Samples.start
        #expect(
            WebhookSchedule.effect(tries: 1, createdAt: start, now: start)
                == .retry(at: start.advanced(bySeconds: 10)))
        #expect(
            WebhookSchedule.effect(
                tries: 90, createdAt: start,
                now: start.advanced(bySeconds: WebhookSchedule.lifeSeconds)) == .done)
    }

    @Test(
        "Secrets that are too short or no Base64 are refused", arguments: ["", "short", "whsec_%"])
    func secrets(secret: String) {
        #expect(throws: InvalidField.self) {
            try WebhookEndpoint(url: "https://example.com", secret: secret)
        }
    }

    @Test("An endpoint shows itself without its query")
    func redaction() throws {
        let endpoint = try WebhookEndpoint(
            url: "https://example.com/hook?token=secret", secret: Self.secret)
        #expect("\(endpoint)" == "https://example.com/hook")
    }
}
