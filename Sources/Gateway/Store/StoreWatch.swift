// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization

/// Remembers whether the store's last answer was a failure, for readiness, and logs each change.
final class StoreWatch: Sendable {
    private let failure = Mutex<StoreFailure?>(nil)
    private let logger: Logger

    /// The store counts as well until it fails.
    init(logger: Logger) { self.logger = logger }

    /// The failure, while it lasts.
    var currentFailure: StoreFailure? { failure.withLock { $0 } }

    /// Runs one verb of the store and takes note of how it went.
    func observe<Answer>(
        _ verb: () async throws(StoreFailure) -> Answer
    ) async throws(StoreFailure) -> Answer {
        do throws(StoreFailure) {
            let answer = try await verb()
            note(nil)
            return answer
        } catch {
            note(error)
            throw error
        }
    }

    private func note(_ new: StoreFailure?) {
        let old = failure.withLock { failure in
            let old = failure
            failure = new
            return old
        }
        guard old?.kind != new?.kind else { return }
        if let new {
            logger.info(
                "the store fails",
                metadata: ["kind": "\(new.kind.rawValue)", "reason": "\(new.message)"])
        } else {
            logger.info("the store works again")
        }
    }
}
