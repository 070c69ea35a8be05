// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import WakeModel

/// Checks requests one after the other. One that differs from the previous one only in its device
/// token gets its verdict, so that a wake for many devices is checked once for each instant.
struct LastVerdict {
    /// The number of instants of which the verdicts on a request are kept.
    private static let instantCount = 64

    private let validator: WakeValidator
    /// The most findings that are returned for a request.
    private let findingCount: Int
    private var last: (request: WakeRequest, now: WallInstant, verdict: Verdict)?
    /// The verdicts on the last request as of other instants.
    private var others: [WallInstant: Verdict] = [:]

    init(_ validator: WakeValidator, findingCount: Int) {
        self.validator = validator
        self.findingCount = findingCount
    }

    /// The verdict of the rules on a request as of `now`.
    mutating func verdict(on request: WakeRequest, now: WallInstant) -> Verdict {
        if let last {
            var same = last.request
            same.deviceToken = request.deviceToken
            if same == request {
                if let known = last.now == now ? last.verdict : others[now] {
                    guard case .valid(let wake, let remarks) = known else { return known }
                    return .valid(wake.addressed(to: request.deviceToken), remarks: remarks)
                }
                if others.count < Self.instantCount { others[last.now] = last.verdict }
            } else if !others.isEmpty {
                others.removeAll()
            }
        }
        let verdict = validator.validate(request, now: now, most: findingCount)
        last = (request, now, verdict)
        return verdict
    }
}
