// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import Logging
import OpenSSLCrypto
import ServiceLifecycle
import Synchronization
import Testing
import WakeModel

@testable import AdminAPI

@Suite("Webhooks", .timeLimit(.minutes(10)))
struct WebhookTests {
    /// A receiver that answers as it is told, and remembers what it got.
    private final class Receiver: WebhookClient {
        struct Post {
            let body: [UInt8]
            let headers: [String: String]

            /// How many events it has.
            var count: Int {
                let json = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
                return (json?["events"] as? [Any])?.count ?? 0
            }

            /// The ids of its events.
            var ids: [String] {
                String(decoding: body, as: UTF8.self).matches(of: /evt_\d+/).map {
                    String($0.output)
                }
            }
        }

        private let posts = Mutex<[Post]>([])
        private let answer: @Sendable (Int, Post) async -> Result<Int, WebhookFailure>
        private let arrived = AsyncStream.makeStream(of: Int.self)

        /// `answer` is given the number of the post, from 1, and the post.
        init(_ answer: @escaping @Sendable (Int, Post) async -> Result<Int, WebhookFailure>) {
            self.answer = answer
        }

        var all: [Post] { posts.withLock { $0 } }

        func wait(for count: Int) async {
            for await number in arrived.stream where number >= count { return }
        }

        func post(
            _ body: [UInt8], to endpoint: WebhookEndpoint, headers: [(name: String, value: String)]
        ) async -> Result<Int, WebhookFailure> {
            let post = Post(
                body: body, headers: Dictionary(headers.map { $0 }) { first, _ in first })
            let number = posts.withLock { posts in
                posts.append(post)
                return posts.count
            }
            arrived.continuation.yield(number)
            return await answer(number, post)
        }
    }

    /// Connects each endpoint with the receiver of its host.
    private struct Switchboard: WebhookClient {
        let receivers: [String: Receiver]

        func post(
            _ body: [UInt8], to endpoint: WebhookEndpoint, headers: [(name: String, value: String)]
        ) async -> Result<Int, WebhookFailure> {
            guard let receiver = receivers[endpoint.host] else {
                return .failure(WebhookFailure(description: "nobody is there", isSent: false))
            }
            return await receiver.post(body, to: endpoint, headers: headers)
        }
    }

    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    private static func endpoint(_ host: String = "example.com") throws -> WebhookEndpoint {
        try WebhookEndpoint(url: "https://\(host)/hook", secret: secret)
    }

    private static func subscription(
        _ endpoint: WebhookEndpoint, backlogCount: Int = 100_000
    ) -> WebhookSubscription {
        WebhookSubscription(
            endpoint: endpoint.id, kinds: Set(WebhookKind.allCases), backlogCount: backlogCount)
    }

    /// Until the gateway runs it takes nothing.
    private static func wake(_ gateway: Gateway, _ devices: ClosedRange<UInt64> = 1...1) async {
        while !gateway.readiness.isReady { await Task.yield() }
        for device in devices { _ = await gateway.accept(Samples.request(device: device)) }
    }

    /// Runs a gateway with an endpoint for each receiver, which has the name of its host.
    private func deliver(
        to receivers: [String: Receiver], besides others: [String: Receiver] = [:],
        backlogCount: Int = 100_000,
        metrics: MetricsRegistry = MetricsRegistry(),
        clock: ManualClock = ManualClock(), logger: Logger = .silent,
        store: any WakeStore = InMemoryWakeStore(),
        _ body: (Gateway, WebhookDelivery) async throws -> Void
    ) async throws {
        let endpoints = try receivers.keys.sorted().map(Self.endpoint)
        var configuration = GatewayConfiguration(apps: [Samples.app])
        configuration.webhooks = endpoints.map {
            Self.subscription($0, backlogCount: backlogCount)
        }
        let gateway = Gateway(
            configuration: configuration, store: store, sender: ScriptedSender(),
            clock: clock, logger: .silent)
        let delivery = WebhookDelivery(
            gateway: gateway, endpoints: endpoints, metrics: metrics, logger: logger
        ) { Switchboard(receivers: receivers.merging(others) { first, _ in first }) }
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: gateway), .init(service: delivery)], logger: .silent))
        let run = Task { try await group.run() }
        try await body(gateway, delivery)
        await group.triggerGracefulShutdown()
        try await run.value
    }

    @Test("An outcome is posted, signed as Standard Webhooks say")
    func delivery() async throws {
        let receiver = Receiver { _, _ in .success(204) }
        try await deliver(to: ["example.com": receiver]) { gateway, _ in
            await Self.wake(gateway)
            await receiver.wait(for: 1)
        }
        let post = try #require(receiver.all.first)
        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(post.body)) as? [String: Any])
        let event = try #require((json["events"] as? [[String: Any]])?.first)
        #expect(event["type"] as? String == "outcome")
        #expect((event["wake"] as? [String: Any])?["state"] as? String == "sent")
        #expect(!String(decoding: post.body, as: UTF8.self).contains(Samples.deviceToken().hex))
        let id = try #require(post.headers["webhook-id"])
        #expect(event["id"] is String && id.wholeMatch(of: /msg_[0-9a-f]{64}/) != nil)
        let time = try #require(post.headers["webhook-timestamp"])
        let key = try #require(Data(base64Encoded: String(Self.secret.dropFirst(6))))
        let mac = HMACKey(key).authenticationCode(
            for: Array("\(id).\(time).".utf8) + post.body)
        #expect(post.headers["webhook-signature"] == "v1," + Data(mac).base64EncodedString())
    }

    @Test("A receiver that never answers, and one that is down, hold up nobody else")
    func independence() async throws {
        let silence = AsyncStream.makeStream(of: Void.self)
        let hanging = Receiver { _, _ in
            for await _ in silence.stream {}
            return .success(204)
        }
        let down = Receiver { _, _ in .success(503) }
        let fine = Receiver { _, _ in .success(204) }
        let metrics = MetricsRegistry()
        let began = ContinuousClock.now
        try await deliver(
            to: ["hanging.example": hanging, "down.example": down, "fine.example": fine],
            metrics: metrics
        ) { gateway, _ in
            for device in 1...5 as ClosedRange<UInt64> {
                await Self.wake(gateway, device...device)
                await fine.wait(for: Int(device))
            }
            await hanging.wait(for: 1)
            await down.wait(for: 1)
            // Each has been asked once: one waits for its answer, the other is let alone, until
            // its pause ends by the clock that cannot be set.
            let pauses =
                (ContinuousClock.now - began)
                / .seconds(WebhookSchedule.receiverPauseSeconds(failures: 0))
            #expect(hanging.all.count == 1)
            #expect((1...1 + Int(pauses)).contains(down.all.count))
            silence.continuation.finish()
        }
        #expect(fine.all.map(\.count) == [1, 1, 1, 1, 1])
        let text = PrometheusText.page(of: metrics)
        // After a pause one post has what came meanwhile.
        let failedCount = down.all.map(\.count).reduce(0, +)
        for line in [
            #"rouse_webhook_deliveries_total{endpoint="down.example",result="failed"} "#
                + "\(failedCount)\n",
            #"rouse_webhook_deliveries_total{endpoint="fine.example",result="delivered"} "# + "5\n",
        ] {
            #expect(text.contains(line), "\(text)")
        }
    }

    @Test("An event that waits for another gateway's duty is posted soon after that is given back")
    func duty() async throws {
        let store = WatchfulStore(InMemoryWakeStore())
        store.refuseDuties(true)
        let clock = ManualClock()
        let receiver = Receiver { _, _ in .success(204) }
        try await deliver(to: ["example.com": receiver], clock: clock, store: store) { gateway, _ in
            await Self.wake(gateway)
            // Twice in vain, with a pause that grows.
            for pause in [50, 100] as [Int64] {
                let next = clock.now().advanced(byMilliseconds: pause)
                while !clock.isAwaited(at: next) { await Task.yield() }
                clock.advance(byMilliseconds: pause)
            }
            let next = clock.now().advanced(byMilliseconds: 200)
            while !clock.isAwaited(at: next) { await Task.yield() }
            #expect(receiver.all.isEmpty)
            store.refuseDuties(false)
            clock.advance(byMilliseconds: 200)
            await receiver.wait(for: 1)
        }
        #expect(receiver.all.map(\.count) == [1])
    }

    @Test(
        "An event that cannot be taken is found, and the others arrive",
        arguments: [400, 413, 422])
    func halves(status: Int) async throws {
        let poison = Mutex<String?>(nil)
        let gate = AsyncStream.makeStream(of: Void.self)
        let receiver = Receiver { number, post in
            // The first post waits, so that the others come together behind it.
            if number == 1 { for await _ in gate.stream {} }
            let text = String(decoding: post.body, as: UTF8.self)
            let isBad = poison.withLock { poison in
                if poison == nil, post.count > 1 {
                    poison = text.firstMatch(of: /evt_\d+/).map { String($0.output) }
                }
                return poison.map { text.contains("\"\($0)\"") } ?? false
            }
            return .success(isBad ? status : 204)
        }
        try await deliver(to: ["example.com": receiver]) { gateway, _ in
            await Self.wake(gateway, 1...1)
            await receiver.wait(for: 1)
            await Self.wake(gateway, 2...9)
            while try await gateway.stats().byState[.sent] != 9 { await Task.yield() }
            gate.continuation.finish()
            // 8, 4, 2, 1 of which the first is bad, then 1, 2, 4.
            await receiver.wait(for: 8)
        }
        #expect(receiver.all.map(\.count) == [1, 8, 4, 2, 1, 1, 2, 4])
    }

    @Test(
        "An event that makes the receiver fail is found at the third try, and the others arrive",
        arguments: [500, 404])
    func poison(status: Int) async throws {
        let gate = AsyncStream.makeStream(of: Void.self)
        let poison = Mutex<String?>(nil)
        let arrived = Mutex<Set<String>>([])
        let receiver = Receiver { number, post in
            if number == 1 { for await _ in gate.stream {} }
            let bad = poison.withLock { poison in
                if poison == nil, post.count > 4 { poison = post.ids[4] }
                return poison
            }
            if let bad, post.ids.contains(bad) { return .success(status) }
            arrived.withLock { $0.formUnion(post.ids) }
            return .success(204)
        }
        let clock = ManualClock()
        try await deliver(to: ["example.com": receiver], clock: clock) { gateway, _ in
            await Self.wake(gateway, 1...1)
            await receiver.wait(for: 1)
            await Self.wake(gateway, 2...10)
            while try await gateway.stats().byState[.sent] != 10 { await Task.yield() }
            gate.continuation.finish()
            // Twice in vain; then all but one.
            while arrived.withLock({ $0.count }) < 9 {
                try await Task.sleep(for: .milliseconds(2))
                clock.advance(bySeconds: 1)
            }
        }
        #expect(arrived.withLock { arrived in poison.withLock { !arrived.contains($0 ?? "") } })
        #expect(receiver.all[1].count == 9)
        // One id is one set of events, in whatever order a retry has them.
        let messages = Dictionary(grouping: receiver.all) { $0.headers["webhook-id"] }
        #expect(messages.values.allSatisfy { Set($0.map { Set($0.ids) }).count == 1 })
        #expect(messages.count == Set(receiver.all.map { Set($0.ids) }).count)
    }

    @Test("A receiver that refuses everything is let alone, and told of in one line")
    func refusals() async throws {
        let gate = AsyncStream.makeStream(of: Void.self)
        let receiver = Receiver { number, _ in
            if number == 1 { for await _ in gate.stream {} }
            return .success(number == 1 ? 204 : 400)
        }
        let clock = ManualClock()
        let metrics = MetricsRegistry()
        let lines = RecordedLines()
        try await deliver(
            to: ["example.com": receiver], metrics: metrics, clock: clock, logger: lines.logger
        ) { gateway, _ in
            await Self.wake(gateway, 1...1)
            await receiver.wait(for: 1)
            await Self.wake(gateway, 2...33)
            while try await gateway.stats().byState[.sent] != 33 { await Task.yield() }
            let began = ContinuousClock.now
            gate.continuation.finish()
            // 32, 16, and what is needed to find eight single ones, of 15 posts.
            await receiver.wait(for: 18)
            while !PrometheusText.page(of: metrics).contains(#"result="failed"} 8"#) {
                await Task.yield()
            }
            // What is new does not go out at once.
            await Self.wake(gateway, 34...34)
            while try await gateway.stats().byState[.sent] != 34 { await Task.yield() }
            for _ in 0..<100 { await Task.yield() }
            let posts = receiver.all.count
            let told = lines.all
            // On a slow machine the pause ends by the clock that cannot be set.
            let pause = WebhookSchedule.receiverPauseSeconds(failures: 0)
            if ContinuousClock.now - began < .seconds(pause) {
                #expect(posts == 18)
                #expect(told == ["webhooks were not taken count=8 endpoint=example.com"])
            }
            while receiver.all.count < 19 {
                try await Task.sleep(for: .milliseconds(2))
                clock.advance(bySeconds: 1)
            }
        }
        #expect(receiver.all.filter { $0.count == 1 }.count >= WebhookRound.hopelessCount)
    }

    @Test("What does not fit is counted; a new endpoint is told, and one that went is not")
    func changes() async throws {
        let gate = AsyncStream.makeStream(of: Void.self)
        let receiver = Receiver { number, _ in
            if number == 1 { for await _ in gate.stream {} }
            return .success(204)
        }
        let other = Receiver { _, _ in .success(204) }
        let metrics = MetricsRegistry()
        try await deliver(
            to: ["example.com": receiver], besides: ["new.example": other], backlogCount: 2,
            metrics: metrics
        ) { gateway, delivery in
            await Self.wake(gateway)
            await receiver.wait(for: 1)
            // One is under way, one waits, three are dropped.
            await Self.wake(gateway, 2...5)
            while try await gateway.stats().byState[.sent] != 5 { await Task.yield() }
            gate.continuation.finish()
            await receiver.wait(for: 2)
            while !PrometheusText.page(of: metrics).contains(
                #"rouse_webhook_events_dropped_total{endpoint="example.com"} 3"#)
            { await Task.yield() }

            let new = try Self.endpoint("new.example")
            var configuration = GatewayConfiguration(apps: [Samples.app])
            configuration.webhooks = [Self.subscription(new)]
            gateway.reload(configuration, sender: ScriptedSender())
            delivery.replace([new])
            await Self.wake(gateway, 6...6)
            await other.wait(for: 1)
        }
        #expect(receiver.all.map(\.count) == [1, 1])
        #expect(other.all.map(\.count) == [1])
    }

    @Test("The backlog of an endpoint that went is 0, and stays that of whoever has its label next")
    func backlogOfOneThatWent() async throws {
        let gates = [AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self)]
        let receiver = Receiver { number, _ in
            for await _ in gates[number - 1].stream {}
            return .success(204)
        }
        let metrics = MetricsRegistry()
        let endpoint = try Self.endpoint()
        var configuration = GatewayConfiguration(apps: [Samples.app])
        configuration.webhooks = [Self.subscription(endpoint)]
        let gateway = Gateway(
            configuration: configuration, store: InMemoryWakeStore(), sender: ScriptedSender(),
            clock: ManualClock(), logger: .silent)
        func worker() -> WebhookWorker {
            WebhookWorker(
                gateway: gateway, endpoint: endpoint, label: "example.com", client: receiver,
                metrics: metrics, logger: .silent)
        }
        func backlog() -> String? {
            PrometheusText.page(of: metrics).split(separator: "\n")
                .first { $0.hasPrefix("rouse_webhook_backlog{") }?.split(separator: " ").last
                .map(String.init)
        }
        try await withRunning(gateway) { () async throws in
            let (first, second) = (worker(), worker())
            await Self.wake(gateway, 1...1)
            let firstRun = Task { await first.run() }
            await receiver.wait(for: 1)
            #expect(backlog() == "1")
            first.replace(nil)
            #expect(backlog() == "0", "its round still runs")
            await Self.wake(gateway, 2...2)
            while try await gateway.stats().byState[.sent] != 2 { await Task.yield() }
            let secondRun = Task { await second.run() }
            await receiver.wait(for: 2)
            #expect(backlog() == "2")
            gates[0].continuation.finish()
            await firstRun.value
            #expect(backlog() == "2")
            second.replace(nil)
            gates[1].continuation.finish()
            await secondRun.value
        }
    }

    @Test("Endpoints are told apart by their hosts, and by numbers where these are the same")
    func labels() throws {
        let endpoints = try ["a.example", "b.example:8443", "a.example"].map(Self.endpoint)
        #expect(
            WebhookDelivery.labels(of: endpoints)
                == ["a.example", "b.example:8443", "a.example#2"])
        #expect(endpoints[0].id == endpoints[2].id && endpoints[0].id != endpoints[1].id)
    }

    @Test("An endpoint that stays keeps its label, and none that comes gets it")
    func keptLabels() throws {
        let (first, second) = try (
            WebhookEndpoint(url: "https://a.example/1", secret: Self.secret),
            WebhookEndpoint(url: "https://a.example/2", secret: Self.secret)
        )
        let kept = [first.id: "a.example"]
        #expect(
            WebhookDelivery.labels(of: [second, first], keeping: kept)
                == ["a.example#2", "a.example"])
        #expect(
            WebhookDelivery.labels(of: [first, second], keeping: [second.id: "a.example#2"])
                == ["a.example", "a.example#2"])
        // What is gone leaves its label.
        #expect(WebhookDelivery.labels(of: [second], keeping: kept) == ["a.example"])
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
        #expect(
            (0...5).map { WebhookSchedule.receiverPauseSeconds(failures: $0) }
                == [5, 10, 20, 40, 60, 60])
        let start = Samples.start
        for (spread, milliseconds) in [(0, 10_000), (0.5, 11_250), (1, 12_500)] {
            #expect(
                WebhookSchedule.effect(tries: 1, createdAt: start, now: start, spread: spread)
                    == .retry(at: start.advanced(byMilliseconds: Int64(milliseconds))))
        }
        #expect(
            WebhookSchedule.effect(
                tries: 90, createdAt: start,
                now: start.advanced(bySeconds: WebhookSchedule.lifeSeconds), spread: 0) == .done)
    }

    @Test(
        "Secrets that are too short or no Base64 are refused", arguments: ["", "short", "whsec_%"])
    func secrets(secret: String) {
        #expect(throws: InvalidField.self) {
            try WebhookEndpoint(url: "https://example.com", secret: secret)
        }
    }

    @Test(
        "An endpoint shows its scheme and host only",
        arguments: ["/hook?token=secret", "/secret", "?secret", "/a/secret?secret", ""])
    func redaction(path: String) throws {
        let endpoint = try WebhookEndpoint(
            url: "https://example.com:8443\(path)", secret: Self.secret)
        #expect("\(endpoint)" == "https://example.com:8443")
    }

    @Test(
        "A user or a password in the URL is refused, and not repeated",
        arguments: ["user:hidden@example.com/hook", "hidden@example.com", "a:hidden@h?x"])
    func userInfo(rest: String) throws {
        let error = #expect(throws: InvalidField.self) {
            try WebhookEndpoint(url: "https://\(rest)", secret: Self.secret)
        }
        let text = try #require(error?.description)
        #expect(text.contains("webhook url") && text.contains("https://host/path"))
        #expect(!text.contains("hidden"))
        // Behind the host an @ is none of this.
        _ = try WebhookEndpoint(url: "https://example.com/@team?x=a@b", secret: Self.secret)
    }
}
