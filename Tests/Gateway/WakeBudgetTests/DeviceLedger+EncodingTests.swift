// SPDX-License-Identifier: Apache-2.0

import SeedKit
import Testing
import WakeBudget
import WakeModel

@Suite("Ledgers as bytes")
struct EncodingTests {
    /// Three ledgers as written when their version was introduced. They never change: a store may
    /// hold them.
    static let fixtures: [(name: String, version: UInt8, hex: String)] = [
        ("fresh", 1, "010000000000000000f0"), ("busy", 1, busy(1)), ("calls", 1, calls(1)),
        ("fresh", 2, "020000000000000000f0"), ("busy", 2, busy(2)), ("calls", 2, calls(2)),
        ("fresh", 3, "030000000000000000f0"), ("busy", 3, busy(3)), ("calls", 3, calls(3)),
        ("fresh", 4, "040000000000000000f0"), ("busy", 4, busy(4)), ("calls", 4, calls(4)),
        ("late", 5, late),
    ]

    private static func busy(_ version: UInt8) -> String {
        [
            // version, kind
            "0\(version)00",
            // clock
            "e9334b6b00000000",
            // sends: how many, the latest
            "0390314b6b",
            // unconfirmed; since version 2, debits; reports
            version == 1 ? "00" : "0003",
            "7b",
            // foreground, launch
            "f4314b6b92314b6b",
            // the distance of launches; since version 4, how long pushes are held
            version < 4 ? "0000" : "3302",
            // since version 3, how late receipts come; since version 4, which share is missing
            version < 3 ? "" : version < 4 ? "00" : "34",
            // the day's slots: start, four words
            "90314b6b01000000000000000000000000000000000000000000000000000000",
            "00000000",
            // gaps between sends
            "ffffd0070000000000000000000000000000000000000000",
            // in flight, corrections
            "0000",
            // Low Power Mode, battery, its percentage
            "58324b6bbc324b6b11",
            // refresh, force-quit
            "84334b6b20334b6b",
            // the wake that waits
            "e8334b6bb8544b6b020200e9334b6b",
        ].joined()
    }

    /// Version 5 is written only with how late half of the receipts come: here two seconds in
    /// front of the day's slots.
    private static let late =
        "050092314b6b000000000390314b6b0303400000000001d2496b460280ffff90314b6b0100"
        + "000000000000000000000000000000000000000000000000000000000000ffffd007"

    private static func calls(_ version: UInt8) -> String {
        [
            // version, kind
            "0\(version)01",
            // clock
            "39805c18a3010000",
            // how many
            "03",
            // the latest, and two older ones: age and fingerprint
            "f747a05d990300002340a05d99c472006c42a05d99e5c0",
        ].joined()
    }

    static func ledger(_ name: String) -> DeviceLedger {
        switch name {
        case "fresh": return DeviceLedger(kind: .background)
        case "late":
            let device = Device(BudgetPolicy.standard.with(confirmsLaunches: true))
            for second in [0.0, 2_000, 90_000] { _ = device.send(at: second) }
            device.confirm(at: 90_002, sentAt: 0, launchedAt: 1)
            return device.ledger
        case "busy":
            let device = Device(BudgetPolicy.standard.with(confirmsLaunches: true))
            for second in [0.0, 2_000, 90_000] { _ = device.send(at: second) }
            device.confirm(at: 90_002)
            _ = device.report(.foreground, at: 90_100)
            _ = device.report(.lowPowerMode(true), at: 90_200)
            _ = device.report(.battery(percent: 17, isCharging: true), at: 90_300)
            _ = device.report(.forceQuit, at: 90_400)
            _ = device.report(.backgroundAppRefresh(true), at: 90_500)
            _ = device.ask(at: 90_600, .deferrable, expiresAt: 99_000)
            _ = device.ask(at: 90_601, .urgent, coalescing: .union, expiresAt: 98_000)
            return device.ledger
        default:
            var ledger = DeviceLedger(kind: .voip)
            for (number, second) in [0.0, 5, 12.345].enumerated() {
                let call = BudgetRequest.voip(CallFingerprint("call \(number)"))
                _ = ledger.admit(call, policy: .standard, at: Device.at(second))
            }
            return ledger
        }
    }

    static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 0xf, radix: 16) }.joined()
    }

    static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8)
        return stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
    }

    @Test("what earlier versions knew of launches and late receipts is read, and believed at most")
    func earlierKnowledge() throws {
        let written = Self.bytes(Self.busy(3))
        for (interval, lateness, missing) in [(2_400, 0, 0), (2_401, 15, 0), (65_535, 16, 255)] {
            var bytes = written
            bytes[26] = UInt8(interval & 0xff)
            bytes[27] = UInt8(interval >> 8)
            bytes[28] = UInt8(lateness)
            let read = try DeviceLedger(decoding: bytes)
            #expect(read.encoded()[26...28].elementsEqual([0x60, 0x09, UInt8(missing)]))
        }
    }

    @Test("each is read as ever, and the earliest that says all is written", arguments: fixtures)
    func versions(name: String, version: UInt8, hex: String) throws {
        let ledger = Self.ledger(name)
        let read = try DeviceLedger(decoding: Self.bytes(hex))
        if version == ledger.encoded()[0] {
            #expect(Self.hex(ledger.encoded()) == hex)
            #expect(read == ledger)
        } else {
            // It did not count debits, which matter for no decision but that on a wake's return.
            #expect(
                read.explain(policy: .standard, at: Device.at(90_700))
                    == ledger.explain(policy: .standard, at: Device.at(90_700)))
            #expect(read.pending == ledger.pending)
        }
    }

    @Test("bytes that are no ledger are refused, with the reason")
    func refusals() {
        let busy = Self.ledger("busy").encoded()
        func error(_ bytes: [UInt8]) -> LedgerDecodingError? {
            do throws(LedgerDecodingError) {
                _ = try DeviceLedger(decoding: bytes)
                return nil
            } catch {
                return error
            }
        }
        #expect(error([]) == .truncated)
        #expect(error([1]) == .truncated)
        #expect(error([0] + busy.dropFirst()) == .unknownVersion(0))
        #expect(error([6] + busy.dropFirst()) == .unknownVersion(6))
        #expect(error([1, 3] + busy.dropFirst(2)) == .unknownKind(3))
        #expect(error(busy + [UInt8](repeating: 1, count: 60)) == .overlong)
        var damaged = busy
        damaged[10] = 200
        #expect(error(damaged) == .inconsistent("the times of sends hold what is none"))
        let version = LedgerDecodingError.unknownVersion(9).description
        #expect(version.contains("version 9") && version.contains("up to 5"))
    }

    @Test("a charge is kept with its lease, and settles as if it had never been stored")
    func debits() throws {
        let device = Device()
        _ = device.ask(at: 0, .urgent, expiresAt: 5_000)
        let debit = try device.debit(at: 0.5)
        let bytes = debit.encoded()
        #expect(Self.hex(bytes) == "040001d2496b0000000000d2496b88e5496b02010000d2496b0001")
        let stored = try BudgetDebit(decoding: bytes)
        #expect(stored == debit)
        let first = try BudgetDebit(
            decoding: Self.bytes("010001d2496b0000000000d2496b88e5496b02010000d2496b"))
        #expect(first.at == debit.at && first.wake == debit.wake)
        #expect(device.settle(stored, as: .notSent, returns: true) == .pending)
        #expect(device.due(at: 2) == 2)
        let damaged: [[UInt8]] = [
            [], [1], [6] + bytes.dropFirst(), Array(bytes.prefix(10)), bytes + [0, 0, 9],
        ]
        for bad in damaged {
            #expect(throws: LedgerDecodingError.self) { try BudgetDebit(decoding: bad) }
        }
    }

    @Test("whatever the bytes are, nothing that is read is broken", arguments: 1...8)
    func damage(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var readable = 0
        let originals = ["busy", "calls"].map { Self.ledger($0).encoded() }
        for _ in 0..<10_000 {
            var bytes = originals[Int(generator.next() % 2)]
            for _ in 0..<(1 + generator.next() % 4) {
                bytes[Int(generator.next() % UInt64(bytes.count))] = UInt8(generator.next() & 0xff)
            }
            if generator.next() % 4 == 0 { bytes.removeLast(Int(generator.next() % 32)) }
            guard let ledger = try? DeviceLedger(decoding: bytes) else { continue }
            readable += 1
            let now = WallInstant(millisecondsSinceEpoch: Int64(bitPattern: generator.next()))
            var copy = ledger
            _ = copy.report(.foreground, at: now)
            _ = copy.explain(policy: .standard, at: Device.start).sentences
            guard ledger.invariantsBroken().isEmpty, copy.invariantsBroken().isEmpty else {
                Issue.record("seed \(seed): \(Self.hex(bytes)) was read")
                return
            }
        }
        #expect(readable > 0)
    }
}
