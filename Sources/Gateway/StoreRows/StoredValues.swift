// SPDX-License-Identifier: Apache-2.0

package import Gateway
import WakeBudget
package import WakeModel

// The numbers of enumerations in columns. They are part of the file format and must not be reused.

extension WakeState {
    /// The number in the store.
    package var number: Int64 {
        switch self {
        case .pending: 0
        case .claimed: 1
        case .sent: 2
        case .expired: 3
        case .rejected: 4
        case .undeliverable: 5
        case .failed: 6
        case .coalesced: 7
        case .superseded: 8
        case .suppressed: 9
        case .cancelled: 10
        case .damaged: 11
        }
    }

    /// The state with this number. Throws `damaged` for an unknown one.
    package init(number: Int64) throws(StoreFailure) {
        switch number {
        case 0: self = .pending
        case 1: self = .claimed
        case 2: self = .sent
        case 3: self = .expired
        case 4: self = .rejected
        case 5: self = .undeliverable
        case 6: self = .failed
        case 7: self = .coalesced
        case 8: self = .superseded
        case 9: self = .suppressed
        case 10: self = .cancelled
        case 11: self = .damaged
        default: throw .damaged("state")
        }
    }
}

extension WakeKind {
    /// The number in the store.
    package var number: Int64 {
        switch self {
        case .voip: 0
        case .background: 1
        case .alert: 2
        case .liveactivity: 3
        case .location: 4
        case .complication: 5
        case .fileprovider: 6
        case .mdm: 7
        case .widgets: 8
        case .controls: 9
        case .pushtotalk: 10
        }
    }

    /// The kind with this number. Throws `damaged` for an unknown one.
    package init(number: Int64) throws(StoreFailure) {
        guard let kind = Self.allCases.first(where: { $0.number == number }) else {
            throw .damaged("kind")
        }
        self = kind
    }
}

extension WakeID {
    /// The id from its two columns.
    package init(number: Int64, low: Int64) {
        self.init(number: number, entropy: UInt64(bitPattern: low))
    }

    /// The low 64 bits, the column beside the number.
    package var low: Int64 { Int64(bitPattern: apnsID.low) }
}

/// A decision in 64 bits, from the highest: whether the rate of plain pushes is a reason (1), the
/// type (3), the coalescing (1), the reasons 0 to 10 (11), the reasons 11 to 14 (4), and the
/// instant in milliseconds (44, until the year 2527).
struct PackedDecision {
    private enum Word: Int64 {
        case send = 0
        case deferred = 1
        case coalesced = 2
        case expired = 3
        case refreshOff = 4
        case tooManyCalls = 5
        case tokenDead = 6
        case sameCall = 7
    }

    let bits: Int64

    init(bits: Int64) { self.bits = bits }

    /// Packs a decision. The other wake of a merge or of the same call is stored separately.
    init(_ decision: WakeDecision) {
        switch decision {
        case .send: bits = Self.pack(.send)
        case .sameCall: bits = Self.pack(.sameCall)
        case .deferred(let until, let holds): bits = Self.pack(.deferred, holds, until)
        case .coalesced(_, let coalescing, let until, let holds):
            bits = Self.pack(.coalesced, holds, until, coalescing)
        case .expired(let earliest, let holds): bits = Self.pack(.expired, holds, earliest)
        case .suppressed(.backgroundAppRefreshOff(let until)):
            bits = Self.pack(.refreshOff, [], until)
        case .suppressed(.tooManyCalls(let until)): bits = Self.pack(.tooManyCalls, [], until)
        case .suppressed(.deviceTokenDead(let since)): bits = Self.pack(.tokenDead, [], since)
        }
    }

    /// The latest instant, and the mask of the instant's bits.
    private static let instants: Int64 = (1 << 44) - 1

    private static let rate = DelayReasons(.rate)

    private static func pack(
        _ word: Word, _ holds: DelayReasons = [], _ instant: WallInstant? = nil,
        _ coalescing: Coalescing = .replace
    ) -> Int64 {
        let milliseconds = max(0, min(instant?.millisecondsSinceEpoch ?? 0, instants))
        return word.rawValue << 60 | Int64(coalescing.rawValue) << 59
            | Int64(holds.rawValue & 0x7ff) << 48 | Int64(holds.rawValue >> 11 & 0xf) << 44
            | milliseconds | (holds.contains(rate) ? Int64.min : 0)
    }

    /// Unpacks the decision. `carrier` is the wake into which it was merged, or that has the same
    /// call. Throws `damaged` for an unknown type or a missing carrier.
    func decision(carrier: WakeID?) throws(StoreFailure) -> WakeDecision {
        let instant = WallInstant(millisecondsSinceEpoch: bits & Self.instants)
        var holds = DelayReasons(
            rawValue: UInt32(bits >> 48 & 0x7ff) | UInt32(bits >> 44 & 0xf) << 11)
        if bits < 0 { holds.formUnion(Self.rate) }
        switch Word(rawValue: bits >> 60 & 7) {
        case .send: return .send
        case .deferred: return .deferred(until: instant, because: holds)
        case .coalesced:
            guard let carrier else { throw .damaged("carrier") }
            let coalescing: Coalescing = bits >> 59 & 1 == 0 ? .replace : .union
            return .coalesced(into: carrier, coalescing, until: instant, because: holds)
        case .expired: return .expired(earliest: instant, because: holds)
        case .refreshOff: return .suppressed(.backgroundAppRefreshOff(until: instant))
        case .tooManyCalls: return .suppressed(.tooManyCalls(until: instant))
        case .tokenDead: return .suppressed(.deviceTokenDead(since: instant))
        case .sameCall:
            guard let carrier else { throw .damaged("carrier") }
            return .sameCall(carrier)
        case nil: throw .damaged("decision")
        }
    }
}

/// The columns of a wake's end, besides its state.
package struct EndColumns {
    package var status: Int64?
    package var reason: String?
    package var since: Int64?
    package var detail: String?
    package var carrier: WakeID?

    package init(_ end: WakeEnd?) {
        switch end {
        case nil, .expired, .superseded, .cancelled, .damaged: break
        case .sent(let apnsUniqueID): detail = apnsUniqueID
        case .coalesced(let into): carrier = into
        case .failed(let cause): detail = cause.rawValue
        case .rejected(let refusal), .undeliverable(let refusal): set(refusal)
        case .suppressed(let suppression):
            detail = suppression.word
            switch suppression {
            case .backgroundAppRefreshOff(let instant), .tooManyCalls(let instant),
                .deviceTokenDead(let instant):
                since = instant.millisecondsSinceEpoch
            }
        }
    }

    package init(
        status: Int64?, reason: String?, since: Int64?, detail: String?, carrier: WakeID?
    ) {
        self.status = status
        self.reason = reason
        self.since = since
        self.detail = detail
        self.carrier = carrier
    }

    private mutating func set(_ refusal: Refusal) {
        status = Int64(refusal.status)
        reason = refusal.reason?.rawValue
        since = refusal.tokenDeadSince?.millisecondsSinceEpoch
    }

    package var refusal: Refusal {
        Refusal(
            status: Int(status ?? 0), reason: reason.map { RejectionReason(rawValue: $0) },
            tokenDeadSince: since.map { WallInstant(millisecondsSinceEpoch: $0) })
    }

    /// The end of a wake in this state.
    func end(_ state: WakeState) throws(StoreFailure) -> WakeEnd? {
        switch state {
        case .pending, .claimed: return nil
        case .sent: return .sent(apnsUniqueID: detail)
        case .expired: return .expired
        case .superseded: return .superseded
        case .cancelled: return .cancelled
        case .damaged: return .damaged
        case .rejected: return .rejected(refusal)
        case .undeliverable: return .undeliverable(refusal)
        case .coalesced:
            guard let carrier else { throw .damaged("carrier") }
            return .coalesced(into: carrier)
        case .failed:
            guard let cause = FailureCause(rawValue: detail ?? "") else {
                throw .damaged("detail")
            }
            return .failed(cause)
        case .suppressed:
            let instant = WallInstant(millisecondsSinceEpoch: since ?? 0)
            let all: [WakeSuppression] = [
                .backgroundAppRefreshOff(until: instant), .tooManyCalls(until: instant),
                .deviceTokenDead(since: instant),
            ]
            guard let suppression = all.first(where: { $0.word == detail }) else {
                throw .damaged("detail")
            }
            return .suppressed(suppression)
        }
    }
}

extension DeviceToken {
    /// The bytes of the token.
    package var bytes: [UInt8] {
        var hex = hex
        // SAFETY: the capacity is half the number of digits, which is even, and the loop
        // initializes each index once.
        return hex.withUTF8 { digits in
            [UInt8](unsafeUninitializedCapacity: digits.count / 2) { bytes, count in
                for index in 0..<digits.count / 2 {
                    bytes[index] =
                        Self.value(digits[2 * index]) << 4 | Self.value(digits[2 * index + 1])
                }
                count = digits.count / 2
            }
        }
    }

    /// The value of a lowercase hexadecimal digit; `hex` contains no other characters. Bit 6 is set
    /// in letters only. Without a branch, because random digits would be mispredicted half of the
    /// time.
    private static func value(_ digit: UInt8) -> UInt8 { (digit & 0xf) &+ 9 &* (digit &>> 6) }

    /// The token in a column. Throws `damaged` if it is invalid.
    package init(stored bytes: [UInt8]) throws(StoreFailure) {
        do throws(InvalidField) {
            try self.init(bytes: bytes)
        } catch {
            throw .damaged("token")
        }
    }
}

extension WakeQueueKey {
    /// The queue in three columns. Throws `damaged` if it is invalid.
    package init(
        stored bundleID: String?, _ environment: String?, _ kind: Int64
    ) throws(StoreFailure) {
        guard let environment = APNsEnvironment(rawValue: environment ?? "") else {
            throw .damaged("environment")
        }
        let app: AppIdentity
        do throws(InvalidField) {
            app = AppIdentity(bundleID: try BundleID(bundleID ?? ""), environment: environment)
        } catch {
            throw .damaged("bundle id")
        }
        self.init(app: app, kind: try WakeKind(number: kind))
    }
}

extension StoreFailure {
    /// The failure for a row with a value that no version of this module writes.
    package static func damaged(_ column: String) -> StoreFailure {
        StoreFailure(
            kind: .damaged, message: "bad \(column)")
    }
}

extension StoreCounter {
    /// The counter's name in the store.
    package var name: String {
        switch self {
        case .accepted: "accepted"
        case .pruned: "pruned"
        case .ended(let state): "ended \(state.rawValue)"
        case .webhooks(let endpoint): "webhooks \(endpoint.rawValue)"
        case .webhooksDropped(let endpoint): "webhooks dropped \(endpoint.rawValue)"
        case .trials: "trials"
        case .absentSince(let endpoint): "absent endpoint \(endpoint.rawValue)"
        case .aheadNumber: "ahead number"
        case .aheadSince: "ahead since"
        }
    }
}

extension UserID {
    /// The user in a column; `nil` for none. Throws `damaged` if it is invalid.
    package init?(stored text: String?) throws(StoreFailure) {
        guard let text else { return nil }
        do throws(InvalidField) {
            try self.init(text)
        } catch {
            throw .damaged("user")
        }
    }
}
