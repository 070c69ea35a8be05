// SPDX-License-Identifier: Apache-2.0

/// Writes fields one after the other.
struct LedgerWriter {
    private var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(128) }

    mutating func put(_ number: UInt8) { bytes.append(number) }
    mutating func put(_ number: UInt16) { putLowBytes(UInt64(number), count: 2) }
    mutating func put(_ number: UInt32) { putLowBytes(UInt64(number), count: 4) }
    mutating func put(_ number: UInt64) { putLowBytes(number, count: 8) }
    mutating func put(_ number: Int64) { put(UInt64(bitPattern: number)) }

    private mutating func putLowBytes(_ number: UInt64, count: Int) {
        for index in 0..<count {
            bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * index)))
        }
    }

    /// The bytes without the zeros at their end, but never without version and kind.
    func trimmed() -> [UInt8] {
        var end = bytes.count
        while end > 2 && bytes[end - 1] == 0 { end -= 1 }
        return Array(bytes[..<end])
    }

    mutating func put(_ ledger: BackgroundLedger) {
        put(ledger.clock)
        put(ledger.sends.count)
        put(ledger.sends.latest)
        put(ledger.unconfirmed)
        put(ledger.debits)
        put(ledger.reports.rawValue)
        put(ledger.foregroundAt)
        put(ledger.launchAt)
        put(ledger.holdSeconds)
        put(ledger.missingReceipts)
        if ledger.lateSeconds > 0 { put(ledger.lateSeconds) }
        put(ledger.day.start)
        for word in [ledger.day.word0, ledger.day.word1, ledger.day.word2, ledger.day.word3] {
            put(word)
        }
        for word in [ledger.sends.gaps0, ledger.sends.gaps1, ledger.sends.gaps2] { put(word) }
        put(ledger.inFlight)
        put(ledger.corrections)
        put(ledger.lowPowerModeAt)
        put(ledger.batteryAt)
        put(ledger.batteryPercent)
        put(ledger.refreshOffAt)
        put(ledger.forceQuitAt)
        // Last of all; it represents at least one request, so that no bytes mean no pending wake.
        if let pending = ledger.pending { put(pending) }
    }

    mutating func put(_ wake: PendingWake) {
        put(wake.since)
        put(wake.expiry)
        put(wake.urgency.rawValue)
        put(wake.requests)
        put(wake.newest)
        put(wake.coalescing.rawValue | (wake.isRepeat ? PendingWake.repeatBit : 0))
    }

    mutating func put(_ ledger: CallLedger) {
        put(ledger.clock)
        put(ledger.marks.count)
        for index in 0..<Int(ledger.marks.count) { put(ledger.marks[index]) }
    }
}

extension PendingWake {
    /// The bit beside its coalescing that says ``isRepeat``.
    static let repeatBit: UInt8 = 2
}
