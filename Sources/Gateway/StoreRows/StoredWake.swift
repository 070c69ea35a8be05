// SPDX-License-Identifier: Apache-2.0

package import Gateway
import WakeBudget
package import WakeModel

// The encoding of a wake in the column `rest`, in this order: the version; the bits of `Parts`; the
// low 64 bits of the id; the device (version 1 only); the queue; the distance to the previous wake
// of its device; the acceptance; the decision; urgency and coalescing; the due time, the earliest
// time, and the deadline; the delay reasons; the fencing token; the number of attempts; and then
// the optional parts, in the order of their bits, except that the ref and the priority follow the
// collapse id. Instants are relative to the acceptance, and the acceptance to the number, so that
// most take few bytes. Values for operators have their own columns, or are in the views of
// ``StoreSchema``.

/// The optional fields of a wake, as bits. They are part of the file format; their meaning must not
/// change.
private struct Parts: OptionSet {
    let rawValue: UInt64

    static let call = Parts(rawValue: 1 << 0)
    static let expiration = Parts(rawValue: 1 << 1)
    static let collapseID = Parts(rawValue: 1 << 2)
    static let claimedAt = Parts(rawValue: 1 << 3)
    static let lease = Parts(rawValue: 1 << 4)
    static let debit = Parts(rawValue: 1 << 5)
    static let previousReason = Parts(rawValue: 1 << 6)
    static let carrier = Parts(rawValue: 1 << 7)
    static let endedAt = Parts(rawValue: 1 << 8)
    static let status = Parts(rawValue: 1 << 9)
    static let reason = Parts(rawValue: 1 << 10)
    static let since = Parts(rawValue: 1 << 11)
    static let detail = Parts(rawValue: 1 << 12)
    static let launchedAt = Parts(rawValue: 1 << 13)
    static let ref = Parts(rawValue: 1 << 14)
    static let priority = Parts(rawValue: 1 << 15)
    /// Whether the carrier is the successor of a cancelled wake.
    static let successor = Parts(rawValue: 1 << 16)

    init(rawValue: UInt64) { self.rawValue = rawValue }

    init(_ wake: borrowing WakeRow, _ end: EndColumns) {
        var bits: UInt64 = 0
        func add(_ part: Parts, if isThere: Bool) { if isThere { bits |= part.rawValue } }
        add(.call, if: wake.call != nil)
        if case .at = wake.expiration { bits |= Parts.expiration.rawValue }
        add(.collapseID, if: wake.collapseID != nil)
        add(.claimedAt, if: wake.claimedAt.millisecondsSinceEpoch != 0)
        add(.lease, if: wake.state == .claimed)
        add(.debit, if: wake.debit != nil && !wake.state.isEnd)
        add(.previousReason, if: wake.previousReason != nil)
        add(.carrier, if: end.carrier != nil)
        add(.endedAt, if: wake.endedAt != nil)
        add(.status, if: end.status != nil)
        add(.reason, if: end.reason != nil)
        add(.since, if: end.since != nil)
        add(.detail, if: end.detail != nil)
        add(.launchedAt, if: wake.launchedAt != nil)
        add(.ref, if: wake.ref != nil)
        add(.priority, if: wake.priority != nil)
        add(.successor, if: wake.successor != nil)
        rawValue = bits
    }
}

/// The version that is written: the device has its own column.
private let restVersion: UInt8 = 2
/// The version whose rows contain the device.
private let restVersionWithDevice: UInt8 = 1

extension WakeRow {
    /// The instant from which the number of a wake is derived.
    package static func instant(of number: Int64) -> WallInstant {
        WallInstant(millisecondsSinceEpoch: number >> 12)
    }

    /// The urgency in bits 0 and 1, the coalescing in bit 2.
    fileprivate var traits: UInt8 { urgency.rawValue | coalescing.rawValue << 2 }
}

extension ByteWriter {
    /// Writes a wake without its number, state, device and payload.
    package mutating func put(_ wake: borrowing WakeRow) {
        var end = EndColumns(wake.end)
        // The decision to merge refers to the carrier, even if the wake has ended otherwise.
        if end.carrier == nil { end.carrier = wake.successor ?? wake.decision.carrier }
        let parts = Parts(wake, end)
        let accepted = wake.acceptedAt
        put(byte: restVersion)
        put(parts.rawValue)
        put(word: UInt64(bitPattern: wake.id.low))
        put(UInt64(bitPattern: wake.queue))
        put(signed: wake.previous == 0 ? 0 : wake.number &- wake.previous)
        put(accepted, from: WakeRow.instant(of: wake.number))
        put(UInt64(bitPattern: PackedDecision(wake.decision).bits))
        put(byte: wake.traits)
        put(wake.dueAt, from: accepted)
        put(wake.notBefore, from: accepted)
        put(wake.deadline, from: accepted)
        put(UInt64(wake.holds.rawValue))
        put(signed: wake.fence)
        put(signed: Int64(wake.tries))
        putRequest(wake)
        putAttempt(wake, parts)
        putEnd(wake, end)
    }

    private mutating func putRequest(_ wake: borrowing WakeRow) {
        if let call = wake.call { put(word: call.bits) }
        if case .at(let instant) = wake.expiration { put(instant, from: wake.acceptedAt) }
        if let collapseID = wake.collapseID { put(collapseID.value) }
        if let ref = wake.ref { put(ref.value) }
        if let priority = wake.priority { put(byte: priority.rawValue) }
    }

    private mutating func putAttempt(_ wake: borrowing WakeRow, _ parts: Parts) {
        if parts.contains(.claimedAt) { put(wake.claimedAt, from: wake.acceptedAt) }
        if parts.contains(.lease) { put(wake.leaseUntil, from: wake.acceptedAt) }
        if parts.contains(.debit), let debit = wake.debit { put(debit.encoded()) }
        if let reason = wake.previousReason { put(reason.rawValue) }
    }

    private mutating func putEnd(_ wake: borrowing WakeRow, _ end: EndColumns) {
        if let carrier = end.carrier {
            put(word: UInt64(bitPattern: carrier.number))
            put(word: UInt64(bitPattern: carrier.low))
        }
        if let instant = wake.endedAt { put(instant, from: wake.acceptedAt) }
        if let status = end.status { put(signed: status) }
        if let reason = end.reason { put(reason) }
        if let since = end.since { put(signed: since) }
        if let detail = end.detail { put(detail) }
        if let instant = wake.launchedAt { put(instant, from: wake.acceptedAt) }
    }
}

extension WakeDecision {
    /// The wake into which it was merged.
    fileprivate var carrier: WakeID? {
        if case .coalesced(let carrier, _, _, _) = self { carrier } else { nil }
    }
}

extension ByteReader {
    /// The valid range of counts; its upper bound is far below an overflow.
    package static let counts: ClosedRange<Int64> = 0...(1 << 48)

    /// Reads a wake that ``ByteWriter`` wrote, without its payload. `column` is the device, if it
    /// has its own column. Throws `damaged` for invalid bytes.
    package mutating func wake(
        number: Int64, state: WakeState, device column: Int64?
    ) throws(StoreFailure) -> WakeRow {
        let version = byte()
        guard version == restVersion || version == restVersionWithDevice else {
            throw .damaged("version")
        }
        let parts = Parts(rawValue: self.number())
        let low = Int64(bitPattern: word())
        let kept = version == restVersionWithDevice ? Int64(bitPattern: word()) : column
        guard let device = kept else { throw .damaged("device") }
        let queue = Int64(bitPattern: self.number())
        let distance = signed()
        let accepted = instant(from: WakeRow.instant(of: number))
        let decision = PackedDecision(bits: Int64(bitPattern: self.number()))
        let traits = byte()
        let due = instant(from: accepted)
        let notBefore = instant(from: accepted)
        let deadline = instant(from: accepted)
        let holds = DelayReasons(rawValue: UInt32(truncatingIfNeeded: self.number()))
        let fence = signed()
        let tries = Int(clamping: signed())
        let call = parts.contains(.call) ? CallFingerprint(bits: word()) : nil
        let expiration: Expiration =
            parts.contains(.expiration) ? .at(instant(from: accepted)) : .immediately
        let collapseID = parts.contains(.collapseID) ? try collapseID() : nil
        let ref = parts.contains(.ref) ? try ref() : nil
        let priority = parts.contains(.priority) ? try priority() : nil
        let attempt = try attempt(parts, from: accepted)
        let end = end(parts, from: accepted)
        guard let urgency = Urgency(rawValue: traits & 3) else { throw .damaged("urgency") }
        guard isWhole else { throw .damaged("length") }
        // The previous wake of a device has a smaller number. Otherwise the chain could be a cycle.
        guard distance >= 0, distance <= max(0, number) else { throw .damaged("chain") }
        guard Self.counts.contains(fence), Self.counts.contains(Int64(tries)) else {
            throw .damaged("count")
        }
        var wake = WakeRow(
            id: WakeID(number: number, low: low), device: device, queue: queue,
            previous: distance == 0 ? 0 : number &- distance, acceptedAt: accepted,
            decision: try decision.decision(carrier: end.columns.carrier),
            coalescing: traits & 4 == 0 ? .replace : .union, ref: ref, call: call,
            urgency: urgency, state: state, dueAt: due, notBefore: notBefore, deadline: deadline,
            holds: holds, payload: [], expiration: expiration, collapseID: collapseID,
            priority: priority)
        wake.fence = fence
        wake.tries = tries
        wake.claimedAt = attempt.claimedAt
        wake.leaseUntil = attempt.leaseUntil
        wake.debit = attempt.debit
        wake.previousReason = attempt.previousReason
        wake.endedAt = end.endedAt
        if state.isEnd { wake.end = try end.columns.end(state) }
        wake.launchedAt = end.launchedAt
        if parts.contains(.successor) { wake.successor = end.columns.carrier }
        return wake
    }

    mutating func collapseID() throws(StoreFailure) -> CollapseID {
        do throws(InvalidField) {
            return try CollapseID(text())
        } catch {
            throw .damaged("collapse id")
        }
    }

    private mutating func priority() throws(StoreFailure) -> Priority {
        guard let priority = Priority(rawValue: byte()) else { throw .damaged("priority") }
        return priority
    }

    private mutating func ref() throws(StoreFailure) -> WakeRef {
        do throws(InvalidField) {
            return try WakeRef(text())
        } catch {
            throw .damaged("ref")
        }
    }

    private struct Attempt {
        var claimedAt = WallInstant(millisecondsSinceEpoch: 0)
        var leaseUntil = WallInstant(millisecondsSinceEpoch: 0)
        var debit: BudgetDebit?
        var previousReason: RejectionReason?
    }

    private mutating func attempt(
        _ parts: Parts, from accepted: WallInstant
    ) throws(StoreFailure) -> Attempt {
        var attempt = Attempt()
        if parts.contains(.claimedAt) { attempt.claimedAt = instant(from: accepted) }
        if parts.contains(.lease) { attempt.leaseUntil = instant(from: accepted) }
        if parts.contains(.debit) {
            do throws(LedgerDecodingError) {
                attempt.debit = try BudgetDebit(decoding: part())
            } catch {
                throw .damaged("charge")
            }
        }
        if parts.contains(.previousReason) {
            attempt.previousReason = RejectionReason(rawValue: text())
        }
        return attempt
    }

    private struct End {
        var columns = EndColumns(nil)
        var endedAt: WallInstant?
        var launchedAt: WallInstant?
    }

    private mutating func end(_ parts: Parts, from accepted: WallInstant) -> End {
        var end = End()
        if parts.contains(.carrier) {
            let number = Int64(bitPattern: word())
            end.columns.carrier = WakeID(number: number, low: Int64(bitPattern: word()))
        }
        if parts.contains(.endedAt) { end.endedAt = instant(from: accepted) }
        if parts.contains(.status) { end.columns.status = signed() }
        if parts.contains(.reason) { end.columns.reason = text() }
        if parts.contains(.since) { end.columns.since = signed() }
        if parts.contains(.detail) { end.columns.detail = text() }
        if parts.contains(.launchedAt) { end.launchedAt = instant(from: accepted) }
        return end
    }
}
