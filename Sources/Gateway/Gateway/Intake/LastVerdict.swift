// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import WakeModel

/// Checks requests one after the other. One that differs from the one before in its device token
/// alone has its verdict, so that what goes to many devices is checked once for each instant.
struct LastVerdict {
    /// Of how many instants the verdicts on one request are kept.
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

    /// What the rules say of a request as of `now`.
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
