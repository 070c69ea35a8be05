// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeModel

/// The result of a broadcast, a label of its counter.
enum BroadcastResult: String, CaseIterable {
    /// APNs accepted it.
    case sent
    /// APNs rejected it.
    case rejected
    /// No answer, and APNs cannot have received it.
    case notSent = "not-sent"
    /// No answer, and APNs may have received it.
    case unknown

    /// Whether APNs gave an answer.
    var isAnswer: Bool { self == .sent || self == .rejected }

    /// Returns the result and the reason of a rejection: one of Apple's table or `other`; empty if
    /// APNs did not reject it.
    static func read<Value>(_ result: ChannelResult<Value>) -> (BroadcastResult, reason: String) {
        switch result {
        case .success(.done): (.sent, "")
        case .success(.rejected(let rejection)):
            (.rejected, rejection.reason?.channelEntry?.reason.rawValue ?? "other")
        case .failure(let failure): (failure.certainty == .notSent ? .notSent : .unknown, "")
        }
    }

    /// The labels of its counter, after those of its app.
    func labels(of app: [(String, String)], _ reason: String = "") -> [(String, String)] {
        app + [("result", rawValue), ("reason", reason)]
    }
}
