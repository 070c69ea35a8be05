// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeModel

/// What became of a broadcast, as it is counted.
enum BroadcastResult: String, CaseIterable {
    /// APNs accepted it.
    case sent
    /// APNs refused it.
    case rejected
    /// APNs gave no answer, and cannot have had it.
    case notSent = "not-sent"
    /// APNs gave no answer, and may have had it.
    case unknown

    /// Whether APNs gave an answer.
    var isAnswer: Bool { self == .sent || self == .rejected }

    /// The result and the reason of APNs, one of Apple's table or `other`; empty unless it refused.
    static func read<Value>(_ result: ChannelResult<Value>) -> (BroadcastResult, reason: String) {
        switch result {
        case .success(.done): (.sent, "")
        case .success(.rejected(let rejection)):
            (.rejected, rejection.reason?.channelEntry?.reason.rawValue ?? "other")
        case .failure(let failure): (failure.certainty == .notSent ? .notSent : .unknown, "")
        }
    }

    /// The labels of its counter, behind those of its app.
    func labels(of app: [(String, String)], _ reason: String = "") -> [(String, String)] {
        app + [("result", rawValue), ("reason", reason)]
    }
}
