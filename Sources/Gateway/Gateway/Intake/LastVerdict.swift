// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import WakeModel

/// Checks requests one after the other. One that differs from the one before in its device token
/// alone has its verdict, so that what goes to many devices is checked once.
struct LastVerdict {
    private let validator: WakeValidator
    /// The most findings that are told of a request.
    private let findingCount: Int
    private var last: (request: WakeRequest, now: WallInstant, verdict: Verdict)?

    init(_ validator: WakeValidator, findingCount: Int) {
        self.validator = validator
        self.findingCount = findingCount
    }

    /// What the rules say of a request as of `now`.
    mutating func verdict(on request: WakeRequest, now: WallInstant) -> Verdict {
        if let last, last.now == now {
            var same = last.request
            same.deviceToken = request.deviceToken
            if same == request {
                guard case .valid(let wake, let remarks) = last.verdict else { return last.verdict }
                return .valid(wake.addressed(to: request.deviceToken), remarks: remarks)
            }
        }
        let verdict = validator.validate(request, now: now, most: findingCount)
        last = (request, now, verdict)
        return verdict
    }
}
