// SPDX-License-Identifier: Apache-2.0

import Gateway
import Synchronization
import WakeModel

/// Measures how long calls take from their acceptance, which stands in their ids to the
/// millisecond, to the answer of APNs.
final class Stopwatch: WakeSender {
    private let sender: any WakeSender
    private let times = Mutex<[UInt32]>([])

    init(_ sender: any WakeSender) { self.sender = sender }

    func send(
        _ batch: [Claim], at now: WallInstant, report: @escaping @Sendable (SendReport) -> Void
    ) async {
        let starts = Dictionary(
            uniqueKeysWithValues: batch.filter { $0.kind == .voip }.map {
                ($0.ticket, $0.id.number >> 12)
            })
        await sender.send(batch, at: now) { answer in
            if let start = starts[answer.ticket] { self.note(since: start) }
            report(answer)
        }
    }

    private func note(since start: Int64) {
        let now = SystemGatewayClock().now().millisecondsSinceEpoch
        times.withLock { $0.append(UInt32(clamping: (now - start) * 1000)) }
    }

    /// The times so far, sorted; from here on anew.
    func takeTimes() -> [UInt32] {
        times.withLock { times in
            defer { times = [] }
            return times.sorted()
        }
    }

    /// The payload of a call; each number is another call.
    static func callPayload(_ number: Int) -> [UInt8] {
        let digits = String(0x1000_0000_0000 + number, radix: 16)
        return Array(
            #"{"aps":{},"callUUID":"3fae9b5c-94d6-4be5-b4f2-\#(digits)","caller":"Ann"}"#.utf8)
    }
}
