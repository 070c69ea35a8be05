// SPDX-License-Identifier: Apache-2.0

extension DeviceLedger {
    /// The version of the encoding that ``encoded()`` writes. Every earlier one is read as well.
    public static let encodingVersion: UInt8 = 1

    /// The ledger as bytes, for a store.
    ///
    /// Version 1: the version, the kind (0 background, 1 VoIP), then the fields in their order,
    /// little-endian; zero bytes at the end are left out, so that an idle ledger is short.
    public func encoded() -> [UInt8] {
        var writer = LedgerWriter()
        writer.put(Self.encodingVersion)
        switch books {
        case .background(let ledger):
            writer.put(UInt8(0))
            writer.put(ledger)
        case .voip(let ledger):
            writer.put(UInt8(1))
            writer.put(ledger)
        }
        return writer.trimmed()
    }

    /// Reads what ``encoded()`` of this or an earlier version wrote.
    ///
    /// Throws ``LedgerDecodingError``; nothing that it accepts breaks an invariant.
    public init(decoding bytes: [UInt8]) throws(LedgerDecodingError) {
        guard bytes.count >= 2 else { throw .truncated }
        guard bytes[0] == Self.encodingVersion else { throw .unknownVersion(bytes[0]) }
        var reader = LedgerReader(bytes: bytes, offset: 2)
        switch bytes[1] {
        case 0: books = .background(try reader.background())
        case 1: books = .voip(try reader.calls())
        default: throw .unknownKind(bytes[1])
        }
        guard reader.isAtEnd else { throw .overlong }
        if let broken = invariantsBroken().first { throw .inconsistent(broken) }
    }
}

/// Why bytes are not a ledger.
public enum LedgerDecodingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There are fewer bytes than every ledger has.
    case truncated
    /// There are more bytes than a ledger of this version has.
    case overlong
    /// A newer Rouse wrote them.
    case unknownVersion(UInt8)
    /// The second byte names no kind of push.
    case unknownKind(UInt8)
    /// They break this invariant.
    case inconsistent(String)

    /// What is wrong, and what to do about it.
    public var description: String {
        switch self {
        case .truncated: "The ledger is cut off. Drop it; the device then begins afresh."
        case .overlong: "The ledger has bytes to spare. Drop it; the device then begins afresh."
        case .unknownVersion(let version):
            "The ledger has version \(version), and this Rouse reads up to "
                + "\(DeviceLedger.encodingVersion). Use the Rouse that wrote it, or a newer one."
        case .unknownKind(let kind):
            "The ledger is for the unknown kind \(kind). Drop it; the device then begins afresh."
        case .inconsistent(let broken):
            "The ledger is damaged: \(broken). Drop it; the device then begins afresh."
        }
    }
}

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
        put(ledger.reports.rawValue)
        put(ledger.foregroundAt)
        put(ledger.launchAt)
        put(ledger.launchInterval)
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
        // A pending wake stands for at least one request, so none is all zeros.
        put(ledger.pending?.since ?? 0)
        put(ledger.pending?.expiry ?? 0)
        put(ledger.pending?.urgency.rawValue ?? 0)
        put(ledger.pending?.requests ?? 0)
        put(ledger.pending?.newest ?? 0)
    }

    mutating func put(_ ledger: CallLedger) {
        put(ledger.clock)
        put(ledger.marks.count)
        for index in 0..<Int(ledger.marks.count) { put(ledger.marks[index]) }
    }
}

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

    private mutating func uint8() -> UInt8 { UInt8(truncatingIfNeeded: lowBytes(1)) }
    private mutating func uint16() -> UInt16 { UInt16(truncatingIfNeeded: lowBytes(2)) }
    private mutating func uint32() -> UInt32 { UInt32(truncatingIfNeeded: lowBytes(4)) }
    private mutating func uint64() -> UInt64 { lowBytes(8) }
    private mutating func int64() -> Int64 { Int64(bitPattern: lowBytes(8)) }

    mutating func background() throws(LedgerDecodingError) -> BackgroundLedger {
        var ledger = BackgroundLedger()
        ledger.clock = int64()
        let count = uint8()
        let latest = uint32()
        ledger.unconfirmed = uint8()
        ledger.reports = BackgroundLedger.Reports(rawValue: uint8())
        ledger.foregroundAt = uint32()
        ledger.launchAt = uint32()
        ledger.launchInterval = uint16()
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

    private mutating func pending() throws(LedgerDecodingError) -> PendingWake? {
        let (since, expiry) = (uint32(), uint32())
        guard let urgency = Urgency(rawValue: uint8()) else {
            throw .inconsistent("the urgency of the pending wake is unknown")
        }
        let requests = uint16()
        let newest = uint32()
        guard requests > 0 else {
            guard since == 0, newest == 0, expiry == 0, urgency == .deferrable else {
                throw .inconsistent("a pending wake stands for no request")
            }
            return nil
        }
        return PendingWake(
            since: since, newest: newest, expiry: expiry, urgency: urgency, requests: requests)
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
