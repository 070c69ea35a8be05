// SPDX-License-Identifier: Apache-2.0

import Gateway
import StoreRows
import WakeBudget
import WakeModel

/// Adds the calls that their ledgers count to the devices of an earlier version.
enum CallMigration {
    /// The time after its acceptance for which a call is needed, in seconds: the longest deadline.
    private static let lifeSeconds = Int64(BudgetLimits.callDeadlineSeconds.upperBound)

    /// Walks back from each VoIP device's latest wake through all calls that may be needed.
    static func run(_ connection: Connection) throws(StoreFailure) {
        let first = WakeID.firstNumber(
            at: WakeRow.instant(of: try latestWake(connection)).advanced(bySeconds: -lifeSeconds))
        let save = try connection.prepare("UPDATE device SET calls = ? WHERE number = ?")
        for (device, latest) in try phones(called: first, connection) {
            var calls: [CountedCall] = []
            var number = latest
            while number >= first, let wake = try wake(number, connection) {
                if let call = wake.call, wake.isCountedCall {
                    calls.append(CountedCall(call: call, wake: wake.id))
                }
                number = wake.previous
            }
            guard !calls.isEmpty else { continue }
            save.bind(1, CountedCall.encoded(calls))
            save.bind(2, device)
            try save.run()
        }
    }

    private static func latestWake(_ connection: Connection) throws(StoreFailure) -> Int64 {
        try connection.number("SELECT coalesce(max(number), 0) FROM wake")
    }

    private static func phones(
        called first: Int64, _ connection: Connection
    ) throws(StoreFailure) -> [(device: Int64, latest: Int64)] {
        let statement = try connection.prepare(
            """
            SELECT device.number, device.latest FROM device
            JOIN lane ON lane.number = device.lane
            WHERE lane.kind = ? AND device.latest >= ?
            """)
        defer { statement.reset() }
        statement.bind(1, WakeKind.voip.number)
        statement.bind(2, first)
        var phones: [(device: Int64, latest: Int64)] = []
        while try statement.step() { phones.append((statement.int64(0), statement.int64(1))) }
        return phones
    }

    private static func wake(
        _ number: Int64, _ connection: Connection
    ) throws(StoreFailure) -> WakeRow? {
        let statement = try connection.prepare("SELECT state, rest FROM wake WHERE number = ?")
        defer { statement.reset() }
        statement.bind(1, number)
        guard try statement.step() else { return nil }
        // The chain ends at one that cannot be read.
        guard let state = try? WakeState(number: statement.int64(0)) else { return nil }
        var reader = ByteReader(statement.bytes(1))
        return try? reader.wake(number: number, state: state, device: nil)
    }
}

extension WakeRow {
    /// Whether its device's ledger counts it: one that certainly was not sent was refunded.
    fileprivate var isCountedCall: Bool {
        switch state {
        case .pending, .claimed, .sent: true
        case .failed where end == .failed(.fateUnknown): true
        default: tries > 0
        }
    }
}
