// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds subscriptions of CloudKit that ask for silent pushes.
extension SourceReader {
    /// Reads what sets `shouldSendContentAvailable`. A value that is taken back in the file, a
    /// property of the app's own, and what the background modes decide tell of no push.
    mutating func readSubscription(_ index: Int) {
        let name = "shouldSendContentAvailable"
        let text = text
        func isSet(_ place: Int, _ values: [String]) -> Bool {
            (text.sees("=", at: place + 1) || text.sees(":", at: place + 1))
                && values.contains { text.sees($0, at: place + 2) }
        }
        let isOfInfo =
            text.sees(".", at: index - 1) || text.sees("(", at: index - 1)
            || text.sees(",", at: index - 1) || text.isObjectiveC
        guard isOfInfo, isSet(index, ["true", "YES"]), !asksForModes(before: index),
            Self.subscriptionTypes.contains(where: { !text.places(of: $0).isEmpty })
        else { return }
        let isOwnOrTakenBack = text.places(of: name).prefix(AuditLimits.headWords).contains {
            text.sees("var", at: $0 - 1) || text.sees("let", at: $0 - 1)
                || isSet($0, ["false", "NO"])
        }
        guard !isOwnOrTakenBack else { return }
        let seen = digest.entries.count
        see(.silentPushCheck, at: index)
        guard digest.entries.count > seen else { return }
        // One in a function that nothing calls asks for nothing.
        digest.entries[seen].callers = callChain(of: index)
        noteCallers(of: index)
    }

    private static let subscriptionTypes = [
        "CKSubscription", "CKQuerySubscription", "CKDatabaseSubscription",
        "CKRecordZoneSubscription", "CKNotificationInfo",
    ]
}
