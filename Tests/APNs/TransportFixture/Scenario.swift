// SPDX-License-Identifier: Apache-2.0

import CurlTransport
import Glibc
import HTTP2Transport
import LoopKit
import PushTransport
import SeedKit
import Synchronization
import WaitKit
import WakeModel

/// What the fixture can do.
final class Scenario: Sendable {
    let reach: TransportConfiguration
    let values: [String: Int]
    private let failures = Atomic(0)
    private let submitted = Atomic(0)
    private let worst = Atomic(0)

    private let shared: SharedHeaders

    init(reach: TransportConfiguration, values: [String: Int], authorization: String?) {
        self.reach = reach
        self.values = values
        var fields = [
            HeaderField(name: "apns-topic", value: "com.example.app"),
            HeaderField(name: "apns-push-type", value: "background"),
            HeaderField(name: "apns-priority", value: "5"),
        ]
        if let authorization {
            fields.insert(HeaderField(name: "authorization", value: authorization), at: 0)
        }
        shared = SharedHeaders(fields)
    }

    var hasFailed: Bool { failures.load(ordering: .relaxed) > 0 }
    var count: Int { values["count"] ?? 1000 }

    /// `count` pushes, `window` in flight. `ration=1` as the transport decides without a guard,
    /// `ration=0` to let libcurl's fault show.
    func send() async throws {
        let descriptors = await descriptorsAfterWarmUp()
        let tally = Tally()
        let transport = try makeTransport { tally.take($0) }
        let window = values["window"] ?? 250
        var next = 0
        while next < count {
            let end = min(count, next + window / 2)
            transport.submit((next..<end).map { push($0) })
            next = end
            await tally.wait(for: next - window / 2)
        }
        await tally.wait(for: count)
        say("connections", transport.gauges.connectionsOpened)
        await transport.shutDown(gracePeriod: .seconds(1))
        report(tally, submitted: count)
        await checkRelease(descriptors: descriptors)
        if !isNative { say("hasResetGuard", try CurlLibrary.loaded().hasResetGuard ? 1 : 0) }
    }

    /// `count` pushes, numbered from 1, one after the other or, with `together=1`, all together
    /// except the first. Prints a line for each: its number, its outcome, and the milliseconds that
    /// it took. `timeout` is that of the first; the later ones have `later` at the least.
    func outcomes() async throws {
        let clock = ContinuousClock()
        let ends = StateLock<[TransportRequest.ID: (label: String, at: ContinuousClock.Instant)]>(
            [:])
        let tally = Tally()
        let transport = try makeTransport { batch in
            let now = clock.now
            ends.withLock { ends in
                for completion in batch { ends[completion.id] = (completion.result.label, now) }
            }
            tally.take(batch)
        }
        var starts: [Int: ContinuousClock.Instant] = [:]
        for number in 1...count {
            starts[number] = clock.now
            let later = Duration.milliseconds(values["later"] ?? values["timeout"] ?? 20_000)
            transport.submit(push(number, timeout: number == 1 ? patience : later))
            if values["together"] != 1 || number == 1 { await tally.wait(for: number) }
        }
        await tally.wait(for: count)
        say("connections", transport.gauges.connectionsOpened)
        await transport.shutDown(gracePeriod: .seconds(1))
        for (number, end) in ends.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
            guard let start = starts[Int(number)] else { continue }
            let (seconds, atto) = (end.at - start).components
            print("outcome", number, end.label, seconds * 1000 + atto / 1_000_000_000_000_000)
        }
        check(tally.answeredTwice == 0, "a submission was answered twice")
        check(tally.distinct == count, "\(count - tally.distinct) have no answer")
    }

    /// Several threads that submit, cancel, replace connections, read gauges, and a shutdown under
    /// load.
    func stress() async throws {
        let seed = UInt64(values["seed"] ?? 1)
        say("seed", Int(seed))
        let descriptors = await descriptorsAfterWarmUp()
        let tally = Tally()
        let transport = try makeTransport { tally.take($0) }
        let threads = values["threads"] ?? 3
        let perThread = count / threads
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<threads {
                group.addTask { [self] in
                    var random = SeededGenerator(seed: seed &+ UInt64(thread) &* 1_000_003)
                    var next = 0
                    while next < perThread {
                        let size = min(perThread - next, Int(random.next() % 40) + 1)
                        let first = thread * perThread + next
                        let batch = (first..<first + size).map { number in
                            let isHasty = random.next() % 50 == 0
                            return push(number, timeout: isHasty ? .milliseconds(2) : patience)
                        }
                        transport.submit(batch)
                        next += size
                        if random.next() % 4 == 0 { transport.cancel(UInt64(first)) }
                        if random.next() % 200 == 0 { transport.replaceConnections() }
                        _ = transport.gauges
                        // At most so many ahead; the shutdown meets those that are left at the end.
                        let soFar = submitted.add(size, ordering: .relaxed).newValue
                        await tally.wait(for: soFar - 1000)
                    }
                }
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask { await transport.shutDown(gracePeriod: .milliseconds(20)) }
            }
        }
        transport.submit([push(threads * perThread)])
        report(tally, submitted: threads * perThread + 1)
        await checkRelease(descriptors: descriptors)
    }

    /// The processor time that two seconds cost: with nothing to do, and with a queue that waits.
    func idle() async throws {
        let tally = Tally()
        let transport = try makeTransport { tally.take($0) }
        transport.submit([push(1)])
        await tally.wait(for: 1)
        var before = ThisProcess.processorMicroseconds
        try await elapse(.seconds(2))
        say("idleMicroseconds", ThisProcess.processorMicroseconds - before)
        if values["queue"] == 1 {
            // The server stops answering from here on: one is in flight, and the rest waits.
            transport.replaceConnections()
            transport.submit((10..<20).map { push($0) })
            try await elapse(.milliseconds(200))
            before = ThisProcess.processorMicroseconds
            try await elapse(.seconds(2))
            say("waitingMicroseconds", ThisProcess.processorMicroseconds - before)
            say("queued", transport.gauges.queued)
            say("inFlight", transport.gauges.inFlight)
        }
        await transport.shutDown(gracePeriod: .zero)
    }

    /// Many submissions, one after the other, from several tasks: the loop falls asleep and is
    /// woken all the time. A lost wake-up would cost the loop's longest wait, a second.
    func hammer() async throws {
        let latch = Latch()
        let transport = try makeTransport { latch.release($0) }
        let tasks = values["threads"] ?? 3
        let perTask = count / tasks
        let clock = ContinuousClock()
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<tasks {
                group.addTask { [self] in
                    for index in 0..<perTask {
                        let number = task * perTask + index
                        let start = clock.now
                        await latch.wait(UInt64(number)) {
                            transport.submit([push(number)])
                        }
                        let (seconds, atto) = (clock.now - start).components
                        let milliseconds = Int(seconds * 1000 + atto / 1_000_000_000_000_000)
                        worst.max(milliseconds, ordering: .relaxed)
                    }
                }
            }
        }
        say("worstMilliseconds", worst.load(ordering: .relaxed))
        say("rounds", tasks * perTask)
        await transport.shutDown(gracePeriod: .seconds(1))
    }

    /// Sessions in memory under frames that are half right, for the sanitizers.
    func frames() {
        let seed = UInt64(values["seed"] ?? 1)
        var fuzz = FrameFuzz(seed: seed)
        for _ in 0..<count { fuzz.runSession() }
        say("sessions", fuzz.sessions)
        say("started", fuzz.started)
        say("finished", fuzz.finished)
        say("cancelled", fuzz.cancelled)
        say("checksum", Int(fuzz.checksum))
        check(fuzz.isBalanced, "seed \(seed): requests without an end, or with two")
    }

    // MARK: - Parts

    var isNative: Bool { values["native"] == 1 }

    private func makeTransport(_ sink: @escaping CompletionSink) throws -> any PushTransport {
        if isNative { return try HTTP2Transport(reach, sink: sink) }
        guard let ration = values["ration"] else { return try CurlTransport(reach, sink: sink) }
        return try CurlTransport(
            reach, library: try CurlLibrary.loaded(), needsResetRationing: ration != 0, sink: sink)
    }

    private var patience: Duration { .milliseconds(values["timeout"] ?? 20_000) }

    /// The first sleep of a process opens descriptors of its own, to wait for its timers.
    func descriptorsAfterWarmUp() async -> Int {
        try? await elapse(.milliseconds(1))
        return ThisProcess.descriptors
    }

    /// Every push goes to device token 0; its number is its id and is in `apns-id`.
    private func push(_ number: Int, timeout: Duration = .seconds(20)) -> TransportRequest {
        TransportRequest(
            id: UInt64(number),
            request: WireRequest(
                to: try? DeviceToken(hex: String(repeating: "0", count: 64)), sharedHeaders: shared,
                apnsID: APNsID(high: 0x4000, low: 0x8000_0000_0000_0000 | UInt64(number)),
                body: Array(#"{"aps":{"content-available":1}}"#.utf8),
                isUrgent: values["urgent"] == 1), timeout: timeout)
    }

    private func report(_ tally: Tally, submitted: Int) {
        for (label, count) in tally.labels.sorted(by: { $0.key < $1.key }) { say(label, count) }
        say("answeredTwice", tally.answeredTwice)
        check(tally.answeredTwice == 0, "a submission was answered twice")
        check(tally.distinct == submitted, "\(submitted - tally.distinct) have no answer")
    }

    func checkRelease(descriptors: Int) async {
        // The thread ends just after it let those go who waited for it.
        for _ in 0..<200 where ThisProcess.transportThreads > 0 || LiveObjects.living(.transfer) > 0
        {
            try? await Task.sleep(for: .milliseconds(5))
        }
        check(ThisProcess.transportThreads == 0, "a thread is left")
        check(
            ThisProcess.descriptors <= descriptors,
            "\(descriptors) descriptors before, now \(ThisProcess.descriptorTargets)")
        check(LiveObjects.living(.transfer) == 0, "transfers are left")
        check(LiveObjects.living(.exchange) == 0, "exchanges are left")
        check(LiveObjects.living(.connection) == 0, "connections are left")
    }

    func say(_ name: String, _ value: Int) { print(name, value) }

    func check(_ holds: Bool, _ complaint: String) {
        guard !holds else { return }
        print("FAILED: " + complaint)
        failures.add(1, ordering: .relaxed)
    }
}

/// Lets each of many tasks await the answer to its own push.
private final class Latch: Sendable {
    private let waiting = StateLock<[TransportRequest.ID: CheckedContinuation<Void, Never>]>([:])

    func wait(_ id: TransportRequest.ID, submit: () -> Void) async {
        await withCheckedContinuation { continuation in
            waiting.withLock { $0[id] = continuation }
            submit()
        }
    }

    func release(_ batch: [Completion]) {
        for completion in batch {
            waiting.withLock { $0.removeValue(forKey: completion.id) }?.resume()
        }
    }
}
