// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsWire
import Glibc
import LoopKit
import PushTransport
import SeedKit
import Synchronization
import WakeModel

/// Clients that share a key's provider tokens, and pushes through them in every way they offer.
///
/// The server accepts whatever it gets. Its answers are replaced by possible refusals of APNs on
/// the way back, so that tokens are replaced and pushes are sent again.
final class ClientStress: Sendable {
    /// How much faster than the world the clock of the provider tokens runs: their 40 minutes are
    /// 0.12 s.
    private static let tokenPace = 20_000
    /// The same for the clients, which look for a new token every 20 ms, and give a push that is to
    /// go again 0.6 s.
    private static let clientPace = 50
    /// How many pushes may be on their way.
    private static let window = 400

    let book: AnswerBook
    let clients: [APNsClient]
    private let tokens: ProviderTokenSource
    private let refusals: Refusals

    init(
        count: Int, clients clientCount: Int, over kind: TransportKind,
        to reach: TransportConfiguration
    ) throws {
        book = AnswerBook(count: count)
        let tokens = ProviderTokenSource(
            key: .generate(), keyID: try DeveloperID("KEYKEY1234", field: "key id"),
            teamID: try DeveloperID("TEAM123456", field: "team id"),
            clock: .hurried(Self.tokenPace))
        let refusals = Refusals()
        var configuration = APNsClient.Configuration(
            transport: reach, authentication: .providerToken(tokens))
        configuration.clock = .hurried(Self.clientPace)
        clients = try (0..<clientCount).map { _ in
            try APNsClient(configuration) { reach, sink throws(APNsClient.Unavailable) in
                try APNsClient.startTransport(kind, reach) { sink(refusals.spoil($0)) }
            }
        }
        (self.tokens, self.refusals) = (tokens, refusals)
    }

    /// How many provider tokens there have been.
    var mintings: Int { Int(tokens.current().generation) }
    /// How many answers were replaced by a refusal.
    var spoilt: Int { refusals.count }

    // MARK: Senders

    /// A task that pushes until there are no numbers left.
    func pushFromTask(seed: UInt64) async {
        var random = SeededGenerator(seed: seed)
        while true {
            let numbers = book.take(random.below(24) + 1)
            if numbers.isEmpty { return }
            switch random.below(4) {
            case 0: await awaitEach(numbers, &random)
            case 1: await awaitAll(numbers, &random)
            default: stream(numbers, &random)
            }
            await book.wait { taken, answered in taken - answered < Self.window }
        }
    }

    /// A thread of its own that pushes until there are no numbers left.
    func pushFromThread(seed: UInt64) async {
        await withCheckedContinuation { continuation in
            let isStarted = LoopThread.start { [self] in
                var random = SeededGenerator(seed: seed)
                while true {
                    let numbers = book.take(random.below(24) + 1)
                    if numbers.isEmpty { break }
                    stream(numbers, &random)
                    while book.open > Self.window { usleep(200) }
                }
                continuation.resume()
            }
            precondition(isStarted, "The system has no thread left.")
        }
    }

    /// Ends all clients, each of them twice concurrently, when three quarters of the pushes were
    /// sent.
    func shutDownUnderLoad() async {
        let start = book.count * 3 / 4
        await book.wait { taken, _ in taken >= start }
        await withTaskGroup(of: Void.self) { group in
            for client in clients + clients {
                group.addTask { await client.shutDown(gracePeriod: .milliseconds(20)) }
            }
        }
    }

    // MARK: Ways to push

    /// Each push in a task of its own. Some are cancelled while they wait, or before.
    private func awaitEach(_ numbers: Range<Int>, _ random: inout SeededGenerator) async {
        let client = random.pick(clients)
        let timeout = patience(&random)
        let yields = random.below(6)
        let isGivenUp = random.chance(oneIn: 2)
        await withTaskGroup(of: Void.self) { group in
            for number in numbers {
                group.addTask { [self] in
                    do throws(TransportFailure) {
                        let outcome = try await client.send(push(number), timeout: timeout)
                        book.note(number, .success(outcome))
                    } catch {
                        book.note(number, .failure(error))
                    }
                }
            }
            guard isGivenUp else { return }
            for _ in 0..<yields { await Task.yield() }
            group.cancelAll()
        }
    }

    /// One batch, whose replies come together.
    private func awaitAll(_ numbers: Range<Int>, _ random: inout SeededGenerator) async {
        let replies = await random.pick(clients)
            .send(numbers.map(push), timeout: patience(&random))
        for reply in replies { book.note(numbers.lowerBound + reply.index, reply.result) }
    }

    /// One batch, whose replies come in groups. Some are given up: by the sender, by another task,
    /// or by both; and some replies send another push, on the thread on which they come.
    private func stream(_ numbers: Range<Int>, _ random: inout SeededGenerator) {
        let client = random.pick(clients)
        let sendsMore = random.chance(oneIn: 3)
        let batch = client.send(numbers.map(push), timeout: patience(&random)) { [self] replies in
            for reply in replies { book.note(numbers.lowerBound + reply.index, reply.result) }
            if sendsMore { sendAnother(over: client) }
        }
        let manner = random.below(8)
        if manner < 2 { Task.detached { batch.cancel() } }
        if manner == 0 || manner == 2 { batch.cancel() }
        _ = (client.gauges, client.clockSkew)
    }

    private func sendAnother(over client: APNsClient) {
        let numbers = book.take(1)
        guard let number = numbers.first else { return }
        client.send([push(number)]) { [book] replies in
            for reply in replies { book.note(number, reply.result) }
        }
    }

    /// One in 30 has hardly any time.
    private func patience(_ random: inout SeededGenerator) -> Duration? {
        random.chance(oneIn: 30) ? .milliseconds(2) : nil
    }

    /// One in 16 goes to a device that is unknown to the server.
    private func push(_ number: Int) -> Push {
        let device = String(repeating: "0", count: 63) + (number % 16 == 0 ? "1" : "0")
        do {
            return try .background(
                to: DeviceToken(hex: device), of: BundleID("com.example.app"),
                payload: Array(#"{"aps":{"content-available":1}}"#.utf8))
        } catch {
            preconditionFailure("\(error)")
        }
    }
}

/// Replaces some answers by refusals that a client can fix.
private final class Refusals: Sendable {
    private let seen = Atomic(0)
    private let spoilt = Atomic(0)

    var count: Int { spoilt.load(ordering: .relaxed) }

    func spoil(_ completions: [Completion]) -> [Completion] {
        completions.map { completion in
            guard case .success(let response) = completion.result else { return completion }
            let refusal: WireResponse
            switch seen.add(1, ordering: .relaxed).newValue % 40 {
            case 0: refusal = Self.refusal(403, "ExpiredProviderToken", like: response)
            case 20: refusal = Self.refusal(503, "Shutdown", like: response)
            default: return completion
            }
            spoilt.add(1, ordering: .relaxed)
            return Completion(
                id: completion.id, result: .success(refusal), context: completion.context)
        }
    }

    private static func refusal(
        _ status: Int, _ reason: String, like response: WireResponse
    ) -> WireResponse {
        WireResponse(
            status: status, apnsID: response.apnsID, date: response.date,
            body: Array(#"{"reason":"\#(reason)"}"#.utf8))
    }
}

extension WakeClock {
    /// This machine's clocks, at another pace.
    fileprivate static func hurried(_ pace: Int) -> WakeClock {
        let (now, uptime) = (system.now(), system.uptime())
        return WakeClock(
            now: {
                let passed = (system.uptime() - uptime) * pace
                return now.advanced(bySeconds: passed.components.seconds)
            },
            uptime: { uptime + (system.uptime() - uptime) * pace })
    }
}
