// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import Testing
import WakeModel

@testable import Gateway

@Suite("What is known of a store's health")
struct StoreWatchTests {
    private static let failure = StoreFailure(kind: .readOnly, message: "The disk is broken.")

    private func observe(
        _ watch: StoreWatch, _ access: CommandProfile.Access, fails: Bool
    ) async {
        try? await watch.observe(access) { () async throws(StoreFailure) in
            if fails { throw Self.failure }
        }
    }

    @Test(
        "A write's failure ends with a write; a read's with anything that works",
        arguments: CommandProfile.Access.allCases, CommandProfile.Access.allCases)
    func clearing(_ failing: CommandProfile.Access, _ working: CommandProfile.Access) async {
        let lines = RecordedLines()
        let watch = StoreWatch(logger: lines.logger)
        await observe(watch, failing, fails: true)
        #expect(watch.currentFailure == Self.failure)
        #expect(watch.failsToWrite == (failing != .read))
        await observe(watch, working, fails: false)
        let isCleared = failing == .read || working == .write
        #expect((watch.currentFailure == nil) == isCleared)
        let first = "the store fails kind=read-only reason=\(Self.failure.message)"
        #expect(lines.all == [first] + (isCleared ? ["the store works again"] : []))
    }

    /// Guards against readiness that changes each second: on a full disk what is claimed or settled
    /// may find room on a page that is there, and new wakes find none.
    @Test("A full store stays so, though some writes work, until a trial has found room")
    func full() async throws {
        let store = WatchfulStore(InMemoryWakeStore())
        let context = sampleContext(store: store)
        let full = StoreFailure(kind: .full, message: "No space is left.")
        store.spoil([Samples.deviceToken(2)], with: full, times: 1)
        let refused = await context.admit([Samples.wake(device: 2)], grant: nil)
        #expect(throws: full) { try refused.get() }
        for device in [1, 3] as [UInt64] {
            _ = try await context.admit([Samples.wake(device: device)], grant: nil).get()
            try await context.perform(TryWriting())
            #expect(context.watch.currentFailure == full)
        }
        try await context.tryWritingAgain()
        #expect(context.watch.currentFailure == nil)
    }

    @Test(
        "A store that has too much to do does not fail", arguments: CommandProfile.Access.allCases)
    func overloaded(_ access: CommandProfile.Access) async {
        let lines = RecordedLines()
        let watch = StoreWatch(logger: lines.logger)
        let failure = StoreFailure(kind: .overloaded, message: "Too much waits.")
        await #expect(throws: failure) {
            try await watch.observe(access) { () async throws(StoreFailure) in throw failure }
        }
        #expect(watch.currentFailure == nil && lines.all.isEmpty)
    }

    @Test("Each cause of one failure is logged once, and again after the store has worked")
    func causes() async {
        let lines = RecordedLines()
        let watch = StoreWatch(logger: lines.logger)
        func fail(_ cause: String) {
            watch.note(.write, StoreFailure(kind: .unavailable, message: "Gone.", cause: cause))
        }
        for cause in ["refused", "wrong password", "refused", "wrong password"] { fail(cause) }
        #expect(
            lines.all
                == ["refused", "wrong password"].map {
                    "the store fails kind=unavailable reason=Gone. \($0)"
                })
        watch.note(.write, nil)
        fail("refused")
        #expect(lines.all.count == 4 && lines.all.last?.hasSuffix("Gone. refused") == true)
        for number in 0..<1_000 { fail("port \(number)") }
        #expect(lines.all.count < 25)
    }

    @Test("A read's failure does not end a write's")
    func both() async {
        let watch = StoreWatch(logger: .silent)
        await observe(watch, .write, fails: true)
        await observe(watch, .read, fails: true)
        await observe(watch, .read, fails: false)
        #expect(watch.currentFailure == Self.failure)
        await observe(watch, .write, fails: false)
        #expect(watch.currentFailure == nil)
    }
}
