// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import Synchronization
import Testing
import WakeBudget
import WakeModel

@testable import AdminAPI

@Suite("The last hour of the metrics", .timeLimit(.minutes(10)))
struct MetricsHistoryTests {
    private static let start = WallInstant(millisecondsSinceEpoch: 1_790_000_000_000)
    private static let shop = WakeQueueKey(
        app: Samples.identity("com.example.shop", .production), kind: .background)
    private static let chat = WakeQueueKey(
        app: Samples.identity("com.example.chat", .production), kind: .voip)
    private static let chatInSandbox = WakeQueueKey(
        app: Samples.identity("com.example.chat", .sandbox), kind: .background)
    private static let everything = AppFilter(app: nil, environment: nil)

    private static func points(
        _ history: MetricsHistory, of filter: AppFilter = everything
    ) throws -> [[String: Any]] {
        let object = try JSONSerialization.jsonObject(with: Data(history.json(of: filter).bytes))
        return try #require((object as? [String: Any])?["points"] as? [[String: Any]])
    }

    private static func number(_ point: [String: Any], _ group: String, _ word: String) -> Int? {
        (point[group] as? [String: Int])?[word]
    }

    @Test("Each point has the totals of its time: of all, of an app, of an environment")
    func totals() throws {
        let registry = MetricsRegistry()
        let meters = GatewayMeters(registry)
        let history = MetricsHistory()
        meters.serves([Self.shop.app, Self.chat.app, Self.chatInSandbox.app])
        history.record(registry, waiting: nil, at: Self.start)
        meters.accepted(3, of: Self.shop, decision: "send")
        meters.answered(afterMilliseconds: 40, of: Self.shop)
        history.record(registry, waiting: 3, at: Self.start.advanced(bySeconds: 10))
        // Series that are new from here on; two kinds of reason are one state.
        meters.accepted(2, of: Self.chat, decision: "send")
        meters.accepted(5, of: Self.chatInSandbox, decision: "deferred")
        meters.ended(1, of: Self.chat, state: .rejected, reason: "BadDeviceToken")
        meters.ended(1, of: Self.chat, state: .rejected, reason: "other")
        meters.answered(afterMilliseconds: 40, of: Self.chat)
        history.record(registry, waiting: 8, at: Self.start.advanced(bySeconds: 20))

        let all = try Self.points(history)
        #expect(all.map { $0["waiting"] as? Int } == [nil, 3, 8])
        #expect(
            all.map { $0["at"] as? String }
                == [0, 10, 20].map { Self.start.advanced(bySeconds: $0).description })
        #expect(all.map { Self.number($0, "decisions", "send") } == [0, 3, 5])
        #expect(all.map { Self.number($0, "decisions", "deferred") } == [0, 0, 5])
        #expect(all.map { Self.number($0, "outcomes", "rejected") } == [0, 0, 2])
        let bucket = try #require(Metric.apnsLatency.bounds.firstIndex(of: 0.05))
        let answers = all.map { $0["apns_answers"] as? [Int] ?? [] }
        #expect(answers[0] == [])
        #expect(answers[1].count == Metric.apnsLatency.bounds.count + 1)
        #expect(answers[1][bucket] == 1 && answers[2][bucket] == 2)

        let chat = AppFilter(app: Self.chat.app, environment: nil)
        #expect(
            try Self.points(history, of: chat).map { Self.number($0, "decisions", "send") }
                == [0, 0, 2])
        #expect(
            try Self.points(history, of: chat).map { Self.number($0, "decisions", "deferred") }
                == [0, 0, 0])
        let ofChat = try Self.points(history, of: chat).map { $0["apns_answers"] as? [Int] ?? [] }
        #expect(ofChat[0] == [] && ofChat[1] == [] && ofChat[2][bucket] == 1)
        let sandbox = AppFilter(app: nil, environment: .sandbox)
        #expect(
            try Self.points(history, of: sandbox).map { Self.number($0, "decisions", "deferred") }
                == [0, 0, 5])
    }

    @Test("Of an app that was not counted by its name nothing is said, where one asks for it")
    func unnamed() throws {
        let registry = MetricsRegistry()
        let meters = GatewayMeters(registry)
        let history = MetricsHistory()
        let others = (0..<MetricsRegistry.appCount).map {
            Samples.identity("com.example.a\($0)", .sandbox)
        }
        meters.serves(others + [Self.shop.app])
        meters.accepted(3, of: Self.shop, decision: "send")
        history.record(registry, waiting: 3, at: Self.start)
        meters.serves([Self.shop.app])
        meters.accepted(2, of: Self.shop, decision: "send")
        history.record(registry, waiting: 5, at: Self.start.advanced(bySeconds: 10))
        func sent(_ filter: AppFilter) throws -> [Int?] {
            try Self.points(history, of: filter).map { Self.number($0, "decisions", "send") }
        }
        for filter in [
            AppFilter(app: Self.shop.app, environment: nil),
            AppFilter(app: nil, environment: .production),
        ] {
            #expect(try sent(filter) == [nil, 2])
            #expect(try Self.points(history, of: filter)[0].keys.sorted() == ["at", "waiting"])
        }
        #expect(try sent(AppFilter(app: nil, environment: .sandbox)) == [0, 0])
        #expect(try sent(Self.everything) == [3, 5])
    }

    @Test("An hour is kept, and no more")
    func bounded() throws {
        let history = MetricsHistory()
        for index in 0..<MetricsHistory.pointCount + 5 {
            history.record(
                MetricsRegistry(), waiting: index,
                at: Self.start.advanced(bySeconds: Int64(index * MetricsHistory.intervalSeconds)))
        }
        let points = try Self.points(history)
        #expect(points.count == MetricsHistory.pointCount)
        #expect(points.first?["waiting"] as? Int == 5)
        #expect(points.count * MetricsHistory.intervalSeconds == 3_600)
    }

    @Test("Every decision and every end that a gateway counts has a column")
    func words() throws {
        let decisions: [WakeDecision] = [
            .send, .deferred(until: Self.start, because: DelayReasons(.spacing)),
            .coalesced(
                into: Samples.freshID(), .replace, until: Self.start,
                because: DelayReasons(.spacing)),
            .sameCall(Samples.freshID()),
            .expired(earliest: Self.start, because: DelayReasons(.spacing)),
            .suppressed(.backgroundAppRefreshOff(until: Self.start)),
        ]
        #expect(decisions.map(\.word).sorted() == WakeDecision.words.sorted())
        let registry = MetricsRegistry()
        let meters = GatewayMeters(registry)
        let history = MetricsHistory()
        let ends = Set(WakeState.allCases).subtracting([.pending, .claimed])
        for decision in decisions { meters.accepted(1, of: Self.shop, decision: decision.word) }
        for state in ends { meters.ended(1, of: Self.shop, state: state, reason: nil) }
        history.record(registry, waiting: nil, at: Self.start)
        let point = try #require(try Self.points(history).first)
        #expect(
            point["decisions"] as? [String: Int]
                == Dictionary(uniqueKeysWithValues: decisions.map { ($0.word, 1) }))
        #expect(
            point["outcomes"] as? [String: Int]
                == Dictionary(uniqueKeysWithValues: ends.map { ($0.rawValue, 1) }))
    }

    @Test("A point costs the store one command")
    func cost() async throws {
        let store = NotingStore()
        let gateway = sampleGateway(store: store, sender: ScriptedSender())
        let history = MetricsHistory()
        let run = Task { await history.run(gateway, MetricsRegistry()) }
        while try Self.points(history).isEmpty { await Task.yield() }
        run.cancel()
        await run.value
        #expect(store.commands == ["CountWakes"])
    }

    @Test("The figures cost the store two reads, for which the gateway's own do not wait")
    func figures() async throws {
        let store = NotingStore()
        _ = try await sampleGateway(store: store, sender: ScriptedSender()).stats()
        #expect(store.commands == ["CountWakes", "NextDueByQueue"])
        #expect(store.origins == [.caller])
    }

    @Test("The API gives it from the start on, for an app that is configured")
    func route() async throws {
        try await APIBench().serve { caller in
            var points: [[String: Any]] = []
            while points.isEmpty {
                let answer = try await caller.send("GET", "/v1/history", as: .read)
                #expect(answer.status == 200)
                points = try #require(try answer.json()["points"] as? [[String: Any]])
                await Task.yield()
            }
            #expect(points[0]["waiting"] as? Int == 0)
            let mine = try await caller.send("GET", "/v1/history?app=com.example.app", as: .read)
            #expect(mine.status == 200)
            try expectProblem(
                try await caller.send("GET", "/v1/history?app=com.example.none", as: .read),
                .unknownApp)
        }
    }
}

/// A store in memory that notes by their names the commands that it is given.
private final class NotingStore: WakeStore {
    private let base = InMemoryWakeStore()
    private let notes = Mutex<[(name: String, origin: CommandProfile.Origin)]>([])

    var commands: [String] { notes.withLock { $0.map(\.name) } }
    /// Who asked for them.
    var origins: Set<CommandProfile.Origin> { notes.withLock { Set($0.map(\.origin)) } }

    func perform<Command: StoreCommand>(
        _ command: Command
    ) async throws(StoreFailure) -> Command.Answer {
        notes.withLock { $0.append(("\(Command.self)", command.profile.origin)) }
        return try await base.perform(command)
    }

    func prune(_ order: PruneOrder) async throws(StoreFailure) -> Pruned {
        try await base.prune(order)
    }

    func whenDamaged(_ tell: @escaping @Sendable (DamagedRow) -> Void) {}
}
