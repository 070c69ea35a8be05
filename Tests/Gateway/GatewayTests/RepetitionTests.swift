// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import Logging
import PayloadRules
import Synchronization
import Testing
import WakeModel

@Suite("Requests that come again with their key", .timeLimit(.minutes(10)))
struct RepetitionTests {
    private let clock = ManualClock()

    private func mark(_ key: UInt8, body: UInt8 = 1) -> IdempotencyKey {
        IdempotencyKey(
            key: [key], request: [body], expiresAt: Samples.start.advanced(bySeconds: 86_400))
    }

    /// A request that is worth something for so long, counted from the first time.
    private func request(_ kind: WakeKind, seconds: Int64, device: UInt64 = 7) -> WakeRequest {
        Samples.request(
            kind, device: device, expiration: .at(Samples.start.advanced(bySeconds: seconds)))
    }

    /// The id, the decision and what the rules remark; `nil` for every other answer.
    private func words(_ result: AdmissionResult) -> (AdmittedWake, rules: [String])? {
        guard case .admitted(let wake) = result else { return nil }
        return (wake, wake.diagnostics.map(\.rule.rawValue))
    }

    private func expectSame(_ first: AdmissionResult, _ second: AdmissionResult) throws {
        let first = try #require(words(first), "\(first)")
        let second = try #require(words(second), "\(second)")
        #expect(!first.0.isRepeated && second.0.isRepeated)
        #expect(first.0.id == second.0.id && first.0.decision == second.0.decision)
        #expect(first.0.acceptedAt == second.0.acceptedAt && first.0.deadline == second.0.deadline)
        #expect(first.rules == second.rules)
    }

    @Test("One whose expiration has passed meanwhile is answered as it was, diagnostics and all")
    func passed() async throws {
        let gateway = sampleGateway(
            store: InMemoryWakeStore(), sender: ScriptedSender(), clock: clock)
        try await withRunning(gateway) { () async throws in
            let requests = [
                request(.background, seconds: 60), request(.voip, seconds: 25),
                // So far ahead that the rules remark it, and one hour later they would not.
                request(.background, seconds: 30 * 86_400 + 60, device: 8),
            ]
            for (place, request) in requests.enumerated() {
                let mark = mark(UInt8(place))
                let first = await gateway.accept(request, idempotency: mark)
                clock.advance(bySeconds: 3_600)
                try expectSame(first, await gateway.accept(request, idempotency: mark))
                clock.advance(bySeconds: -3_600)
                let other = self.mark(UInt8(place), body: 2)
                #expect(await gateway.accept(request, idempotency: other) == .idempotencyConflict)
            }
            clock.advance(bySeconds: 3_600)
            let late = try #require(
                words(await gateway.accept(requests[0], idempotency: mark(9))))
            #expect(!late.0.isRepeated && late.rules.contains("H013"))
        }
    }

    @Test("The log does not say of a repetition that a wake was accepted")
    func log() async throws {
        let lines = RecordedLines()
        var logger = lines.logger
        logger.logLevel = .debug
        let gateway = sampleGateway(
            store: InMemoryWakeStore(), sender: ScriptedSender(), clock: clock, logger: logger)
        try await withRunning(gateway) { () async throws in
            let request = request(.background, seconds: 60)
            let first = await gateway.accept(request, idempotency: mark(1))
            try expectSame(first, await gateway.accept(request, idempotency: mark(1)))
            let id = try #require(first.admittedID)
            let told = lines.all.filter {
                $0.contains("a wake was") || $0.contains("a request was")
            }
            #expect(
                told == ["a wake was accepted wake=\(id)", "a request was repeated wake=\(id)"])
        }
    }

    @Test("So are those of a batch, beside those that are new")
    func batch() async throws {
        let gateway = sampleGateway(
            store: InMemoryWakeStore(), sender: ScriptedSender(), clock: clock)
        try await withRunning(gateway) { () async throws in
            let inquiries = [WakeKind.voip, .background].enumerated().map { place, kind in
                Inquiry(request(kind, seconds: 20), idempotency: mark(UInt8(place)))
            }
            let first = await gateway.accept(inquiries)
            clock.advance(bySeconds: 3_600)
            let new = Inquiry(request(.background, seconds: 20, device: 8), idempotency: mark(9))
            let second = await gateway.accept([new] + inquiries)
            for (first, second) in zip(first, second.dropFirst()) { try expectSame(first, second) }
            #expect(words(second[0])?.rules.contains("H013") == true)
        }
    }

    @Test("As many diagnostics are told of it as the first time", arguments: [1, 2])
    func bounded(count: Int) async throws {
        let gateway = sampleGateway(
            store: InMemoryWakeStore(), sender: ScriptedSender(), clock: clock)
        try await withRunning(gateway) { () async throws in
            let inquiries = (0..<count).map { place in
                var request = request(.background, seconds: 60, device: UInt64(place))
                // Each twin of a key is remarked.
                let twins = String(repeating: #","k":1"#, count: 150)
                request.payload = Array(#"{"aps":{"content-available":1}\#(twins)}"#.utf8)
                return Inquiry(request, idempotency: mark(UInt8(place)))
            }
            let first = await gateway.accept(inquiries)
            clock.advance(bySeconds: 1)
            let second = await gateway.accept(inquiries)
            let most = count == 1 ? GatewayLimits().findingCount : GatewayLimits().batchFindingCount
            for (first, second) in zip(first, second) {
                try expectSame(first, second)
                #expect(words(second)?.rules.count == most)
            }
        }
    }

    @Test("A span from now is the same span when it is asked for again")
    func lifetime() async throws {
        let gateway = sampleGateway(
            store: InMemoryWakeStore(), sender: ScriptedSender(), clock: clock)
        try await withRunning(gateway) { () async throws in
            func inquiry() -> Inquiry {
                let request = Samples.request(
                    expiration: .at(clock.now().advanced(bySeconds: 30 * 86_400)))
                return Inquiry(request, idempotency: mark(1), hasLifetime: true)
            }
            let first = await gateway.accept(inquiry())
            clock.advance(bySeconds: 3_600)
            try expectSame(first, await gateway.accept(inquiry()))
        }
    }

    @Test(
        "A request for a user is for the devices of an equal one that came first elsewhere",
        arguments: [[1, 2], [1, 2, 3]] as [[UInt64]])
    func users(atFirst devices: [UInt64]) async throws {
        let ann = try UserID("ann")
        let store = InMemoryWakeStore()
        let watchful = WatchfulStore(store)
        let sender = ScriptedSender()
        let late = sampleGateway(store: watchful, sender: sender, clock: clock)
        let other = sampleGateway(store: store, sender: sender, clock: clock, seed: 2)
        @Sendable func ask(_ gateway: Gateway) async -> [AdmissionResult] {
            await gateway.accept(
                forUser: ann, app: Samples.app.bundleID, environment: Samples.app.environment,
                kind: .background, idempotency: mark(1)
            ) { device in
                var request = Samples.request()
                request.deviceToken = device
                return Inquiry(request, environment: Samples.app.environment)
            }.map(\.result)
        }
        func register(_ device: UInt64, _ user: UserChange) async throws {
            _ = try await other.registered(
                Samples.deviceToken(device), app: Samples.app, user: user)
        }
        try await withRunning(late, with: [other]) { () async throws in
            for device in devices { try await register(device, .user(ann)) }
            let first = Mutex<[AdmissionResult]>([])
            watchful.onceUsersAreResolved {
                // A registration that comes or goes between the late one's two commands.
                _ = try? await other.registered(
                    Samples.deviceToken(3), app: Samples.app,
                    user: devices.contains(3) ? .removed : .user(ann))
                let answers = await ask(other)
                first.withLock { $0 = answers }
            }
            let second = await ask(late)
            let answered = first.withLock { $0 }
            #expect(answered.count == (devices.contains(3) ? 2 : 3))
            #expect(second.count == answered.count)
            for (first, second) in zip(answered, second) { try expectSame(first, second) }
            await sender.waitUntilSent(answered.count)
            #expect(try await late.stats().accepted == answered.count)
        }
    }
}
