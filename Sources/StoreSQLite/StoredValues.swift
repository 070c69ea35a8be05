// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Gateway
import WakeModel

// How the nouns stand in columns. The numbers are on disk: none is ever given another meaning.

extension WakeState {
    /// The state's number on disk.
    var number: Int64 {
        switch self {
        case .pending: 0
        case .claimed: 1
        case .sent: 2
        case .expired: 3
        case .rejected: 4
        case .undeliverable: 5
        case .failed: 6
        }
    }

    /// The state with this number, or `nil`.
    init?(number: Int64) {
        guard let state = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = state
    }
}

extension WakeKind {
    /// The kind's number on disk.
    var number: Int64 { self == .voip ? 0 : 1 }

    /// The kind with this number, or `nil`.
    init?(number: Int64) {
        guard let kind = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = kind
    }
}

extension WakeID {
    /// The sixteen bytes of the id, big-endian.
    var data: Data {
        var data = Data(capacity: 16)
        for word in [apnsID.high, apnsID.low] {
            withUnsafeBytes(of: word.bigEndian) { data.append(contentsOf: $0) }
        }
        return data
    }

    /// The id from its sixteen bytes, or `nil` for another number of bytes.
    init?(data: Data) {
        guard data.count == 16 else { return nil }
        let high = data.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let low = data.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        self.init(APNsID(high: high, low: low))
    }
}

extension DeviceToken {
    /// The token's raw bytes.
    var data: Data {
        var data = Data(capacity: hex.utf8.count / 2)
        var high: UInt8?
        for digit in hex.utf8 {
            // `hex` holds lower-case hexadecimal digits only; its type sees to that.
            let value = digit < UInt8(ascii: "a") ? digit - 48 : digit - 87
            if let first = high {
                data.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return data
    }
}

/// A row holds what no version of this room writes.
struct DamagedRow: Error {
    let column: String
}

extension Row {
    /// The instant in a column, or `nil` for NULL.
    func instant(_ column: String) -> WallInstant? {
        (self[column] as Int64?).map { WallInstant(millisecondsSinceEpoch: $0) }
    }

    /// The instant in a column that is never NULL.
    func requiredInstant(_ column: String) throws -> WallInstant {
        guard let instant = instant(column) else { throw DamagedRow(column: column) }
        return instant
    }

    /// The wake's id.
    func wakeID(_ column: String = "id") throws -> WakeID {
        guard let id = WakeID(data: self[column]) else { throw DamagedRow(column: column) }
        return id
    }

    /// The device token.
    func deviceToken() throws -> DeviceToken {
        try DeviceToken(bytes: self["device_token"] as Data)
    }

    /// The refusal in `status`, `reason` and `token_dead_since`.
    func refusal() -> Refusal {
        Refusal(
            status: self["status"] ?? 0,
            reason: (self["reason"] as String?).map { RejectionReason(rawValue: $0) },
            tokenDeadSince: instant("token_dead_since"))
    }
}
