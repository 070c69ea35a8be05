// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Testing
import WakeModel

@testable import APNsSimulator

@Suite("Fault schedule")
struct FaultScheduleTests {
    static func schedule(_ faults: Fault..., seed: UInt64 = 1) -> FaultSchedule {
        var schedule = FaultSchedule(seed: seed)
        for fault in faults { schedule.add(fault) }
        return schedule
    }

    static func hits(_ schedule: FaultSchedule, _ count: Int) -> [Fault.Kind?] {
        (1...count).map {
            schedule.fault(at: .answer, number: $0, deviceToken: nil)?.kind
        }
    }

    @Test("a share hits about its part", arguments: [0.0, 0.01, 0.1, 0.5, 1.0])
    func shareSize(share: Double) {
        let hits = Self.hits(Self.schedule(Fault(.closeConnection, for: .share(share))), 20_000)
        let part = Double(hits.count { $0 != nil }) / 20_000
        #expect(abs(part - share) < 0.01)
    }

    @Test("which ones depends on the seed and the number alone")
    func determinism() {
        let fault = Fault(.closeConnection, for: .share(0.2))
        let forwards = Self.hits(Self.schedule(fault, seed: 42), 500)
        let schedule = Self.schedule(fault, seed: 42)
        let backwards = (1...500).reversed().map {
            schedule.fault(at: .answer, number: $0, deviceToken: nil)?.kind
        }
        #expect(Array(backwards.reversed()) == forwards)
        #expect(Self.hits(Self.schedule(fault, seed: 43), 500) != forwards)
    }

    @Test("a share is refused that would find no request of its own")
    func room() {
        let schedule = Self.schedule(
            Fault(.closeConnection, for: .share(0.6), at: .headers),
            Fault(.neverAnswer, for: .share(0.3)))
        #expect(schedule.hasRoom(for: Fault(.neverAnswer, for: .share(0.1))))
        #expect(!schedule.hasRoom(for: Fault(.neverAnswer, for: .share(0.2))))
        #expect(schedule.hasRoom(for: Fault(.neverAnswer)))
        // Connections are counted by themselves.
        #expect(schedule.hasRoom(for: Fault(.refuseTLS, for: .share(1))))
    }

    @Test("two shares do not overlap")
    func twoShares() {
        let hits = Self.hits(
            Self.schedule(
                Fault(.closeConnection, for: .share(0.5)), Fault(.neverAnswer, for: .share(0.5))),
            1000)
        #expect(hits.allSatisfy { $0 != nil })
        #expect(Set(hits) == [.closeConnection, .neverAnswer])
    }

    @Test("shares at several stages do not overlap either: an early end takes nobody's victims")
    func sharesOfStages() {
        let schedule = Self.schedule(
            Fault(.refuseTLS, for: .share(0.5)),
            Fault(.closeConnection, for: .share(0.3), at: .headers),
            Fault(.resetStream(.cancel), for: .share(0.3), at: .body),
            Fault(.neverAnswer, for: .share(0.4)))
        let stages: [Fault.Stage] = [.headers, .body, .answer]
        let struck = (1...1000).map { number in
            stages.filter { schedule.fault(at: $0, number: number, deviceToken: nil) != nil }
        }
        #expect(struck.allSatisfy { $0.count == 1 })
        #expect(Set(struck) == Set(stages.map { [$0] }))
    }

    @Test("a count is used up, also between copies of the schedule")
    func count() {
        let schedule = Self.schedule(Fault(.neverAnswer, count: 3))
        let copy = schedule
        #expect(Self.hits(schedule, 2).count { $0 != nil } == 2)
        #expect(Self.hits(copy, 5).count { $0 != nil } == 1)
    }

    @Test("the first that fits strikes, at its stage only")
    func order() throws {
        let token = try DeviceToken(hex: "ab")
        let schedule = Self.schedule(
            Fault(.closeConnection, at: .headers), Fault(.neverAnswer, for: .deviceToken(token)),
            Fault(.reject(.shutdown)))
        func kind(_ stage: Fault.Stage, _ token: String) -> Fault.Kind? {
            schedule.fault(at: stage, number: 1, deviceToken: token)?.kind
        }
        #expect(kind(.headers, "ab") == .closeConnection)
        #expect(kind(.body, "ab") == nil)
        #expect(kind(.answer, "ab") == .neverAnswer)
        #expect(kind(.answer, "cd") == .reject(.shutdown))
    }

    @Test("a refused handshake belongs to the connection, all else to the answer")
    func defaultStages() {
        #expect(Fault(.refuseTLS).stage == .connection)
        #expect(Fault(.neverAnswer).stage == .answer)
        #expect(Fault(.neverAnswer, at: .connection).stage == .connection)
    }

    @Test("the reset limit has a burst, and refills")
    func resetLimit() throws {
        var limiter = try #require(ResetLimiter(.limited(burst: 3, perSecond: 2)))
        let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
        func admit(_ count: Int, after milliseconds: Int64) -> [Bool] {
            (0..<count).map { _ in limiter.admit(at: start + .milliseconds(milliseconds)) }
        }
        #expect(admit(4, after: 0) == [true, true, true, false])
        #expect(admit(1, after: 400) == [false])
        #expect(admit(1, after: 600) == [true])
        #expect(admit(4, after: 60_000) == [true, true, true, false])
        let unlimited = ResetLimiter(.unlimited)
        #expect(unlimited.map { _ in true } == nil)
    }

    @Test("the log keeps the last so many, oldest first", arguments: [0, 1, 3, 10])
    func ring(capacity: Int) {
        let log = PushLog(capacity: capacity)
        for number in 1...7 {
            log.append(
                ReceivedPush(
                    number: number, connection: 1, stream: 1,
                    receivedAt: .init(secondsSinceEpoch: 0), headers: [], body: []))
        }
        #expect(log.pushes.map(\.number) == Array((1...7).suffix(capacity)))
        log.removeAll()
        #expect(log.pushes.isEmpty)
    }
}
