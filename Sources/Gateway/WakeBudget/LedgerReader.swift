// SPDX-License-Identifier: Apache-2.0

/// Reads fields one after the other; what lies behind the last byte reads as zero.
struct LedgerReader {
    let bytes: [UInt8]
    var offset: Int

    /// Whether no byte is left.
    var isAtEnd: Bool { offset >= bytes.count }

    private mutating func lowBytes(_ count: Int) -> UInt64 {
        defer { offset += count }
        var number: UInt64 = 0
        for index in 0..<count where offset + index < bytes.count {
            number |= UInt64(bytes[offset + index]) << UInt64(8 * index)
        }
        return number
    }

    mutating func uint8() -> UInt8 { UInt8(truncatingIfNeeded: lowBytes(1)) }
    private mutating func uint16() -> UInt16 { UInt16(truncatingIfNeeded: lowBytes(2)) }
    private mutating func uint32() -> UInt32 { UInt32(truncatingIfNeeded: lowBytes(4)) }
    private mutating func uint64() -> UInt64 { lowBytes(8) }
    mutating func int64() -> Int64 { Int64(bitPattern: lowBytes(8)) }

    mutating func background(version: UInt8) throws(LedgerDecodingError) -> BackgroundLedger {
        var ledger = BackgroundLedger()
        ledger.clock = int64()
        let count = uint8()
        let latest = uint32()
        ledger.unconfirmed = uint8()
        if version >= 2 { ledger.debits = uint8() }
        ledger.reports = BackgroundLedger.Reports(rawValue: uint8())
        ledger.foregroundAt = uint32()
        ledger.launchAt = uint32()
        ledger.holdSeconds = min(uint16(), UInt16(BudgetLimits.longestHoldSeconds))
        if version >= 3 { ledger.missingReceipts = uint8() }
        if version >= 5 { ledger.lateSeconds = uint16() }
        if version < 4 {
            // The distance of launches, up to 40 minutes, and how late receipts come, in minutes.
            ledger.holdSeconds = min(ledger.holdSeconds, 2_400)
            ledger.missingReceipts = ledger.missingReceipts > 15 ? .max : 0
        }
        let start = uint32()
        ledger.day = DayRing(words: (uint64(), uint64(), uint64(), uint64()), start: start)
        ledger.sends = SendTimes(
            gaps: (uint64(), uint64(), uint64()), latest: latest, count: count)
        ledger.inFlight = uint8()
        ledger.corrections = uint8()
        ledger.lowPowerModeAt = uint32()
        ledger.batteryAt = uint32()
        ledger.batteryPercent = uint8()
        ledger.refreshOffAt = uint32()
        ledger.forceQuitAt = uint32()
        ledger.pending = try pending()
        return ledger
    }

    mutating func pending() throws(LedgerDecodingError) -> PendingWake? {
        let (since, expiry) = (uint32(), uint32())
        guard let urgency = Urgency(rawValue: uint8()) else {
            throw .inconsistent("the urgency of the pending wake is unknown")
        }
        let requests = uint16()
        let newest = uint32()
        // Not in version 1: it reads as zero.
        let traits = uint8()
        guard let coalescing = Coalescing(rawValue: traits & ~PendingWake.repeatBit) else {
            throw .inconsistent("the coalescing of the pending wake is unknown")
        }
        guard requests > 0 else {
            guard since == 0, newest == 0, expiry == 0, urgency == .deferrable, traits == 0 else {
                throw .inconsistent("a pending wake carries no request")
            }
            return nil
        }
        return PendingWake(
            since: since, newest: newest, expiry: expiry, requests: requests, urgency: urgency,
            coalescing: coalescing, isRepeat: traits & PendingWake.repeatBit != 0)
    }

    mutating func calls() throws(LedgerDecodingError) -> CallLedger {
        var ledger = CallLedger()
        ledger.clock = int64()
        let count = Int(uint8())
        guard count <= CallLedger.capacity else {
            throw .inconsistent("it holds \(count) calls, more than \(CallLedger.capacity)")
        }
        for _ in 0..<count { ledger.marks.append(uint64()) }
        return ledger
    }
}
