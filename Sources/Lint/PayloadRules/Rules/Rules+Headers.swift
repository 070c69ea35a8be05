// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// Rules about header values that a request can violate. Types prevent other faults; see
/// ``upheldByConstruction``.
extension Rules {
    static let headers: [Rule] = [
        Rule(
            "H011", .error, "apns-expiration is a number of seconds from now",
            why: "The header is an absolute time, so this one passed decades ago.",
            from: [.relativeExpiration], fix: "Add it to the current time in epoch seconds.",
            in: .headers
        ) { push, findings in
            guard case .relative(let seconds) = expiration(of: push) else { return }
            guard seconds < shortestSpanSeconds else {
                findings.report(.header(expirationHeader))
                return
            }
            findings.report(
                .header(expirationHeader), "apns-expiration is \(seconds) s into the year 1970",
                fix: "Use 0 to try once, or add it to the current time in epoch seconds.")
        },
        Rule(
            "H012", .warning, "apns-expiration is in milliseconds",
            why: "The header counts seconds, so this one is thousands of years ahead.",
            from: [.proposal], fix: "Divide it by 1000.", in: .headers
        ) { push, findings in
            if case .milliseconds = expiration(of: push) {
                findings.report(.header(expirationHeader))
            }
        },
        Rule(
            "H013", .warning, "apns-expiration is in the past",
            why: "The push expires at once.", from: [.sending],
            fix: "Use 0 for \"now or never\", or a time ahead.", in: .headers
        ) { push, findings in
            if case .ahead(let seconds) = expiration(of: push), seconds < 0 {
                findings.report(.header(expirationHeader))
            }
        },
        Rule(
            "H014", .note, "apns-expiration is more than 30 days ahead",
            why: "APNs keeps a push for 30 days at most.", from: [.metrics],
            fix: "Use a time within the next 30 days.", in: .headers
        ) { push, findings in
            if case .ahead(let seconds) = expiration(of: push), seconds > storageLimitSeconds {
                findings.report(.header(expirationHeader))
            }
        },
    ]

    static let expirationHeader = "apns-expiration"
    static let collapseIDHeader = "apns-collapse-id"

    /// A smaller value may stand for "now or never", in seconds.
    private static let shortestSpanSeconds: Int64 = 60

    /// The maximum time for which APNs stores a push, in seconds: 30 days (rule H014).
    private static let storageLimitSeconds: Int64 = 30 * 86_400

    /// The expiration that would be sent; unknown for a payload without headers.
    static func expiration(of push: ValidationContext) -> ExpirationReading {
        push.headers?.expiration ?? .unstated
    }
}
