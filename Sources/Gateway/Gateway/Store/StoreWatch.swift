// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization

/// Remembers whether the store fails, for readiness, and logs each change.
///
/// On a full disk all reading works. So a failed write is recorded until one has succeeded. Some
/// writes work there too, those that find room in pages that are there; so a full store is recorded
/// until a trial has shown that it has room again.
final class StoreWatch: Sendable {
    private struct Failures {
        var reading: StoreFailure?
        var writing: StoreFailure?
        /// What was logged since the store worked last: each once, so that a failure whose cause
        /// changes to and fro does not fill the log.
        var logged: Set<StoreFailure> = []

        var current: StoreFailure? { writing ?? reading }
    }

    /// The most causes of one failure that are logged.
    private static let loggedCauseCount = 16

    private let failures = Mutex(Failures())
    private let logger: Logger

    /// The store counts as well until it fails.
    init(logger: Logger) { self.logger = logger }

    /// The failure, while it lasts.
    var currentFailure: StoreFailure? { failures.withLock { $0.current } }

    /// Whether a write failed and none has worked since.
    var failsToWrite: Bool { failures.withLock { $0.writing != nil } }

    /// Runs one command of the store and takes note of how it went.
    func observe<Answer>(
        _ access: CommandProfile.Access, isTrial: Bool = false,
        _ verb: () async throws(StoreFailure) -> Answer
    ) async throws(StoreFailure) -> Answer {
        do throws(StoreFailure) {
            let answer = try await verb()
            note(access, nil, isTrial: isTrial)
            return answer
        } catch {
            note(access, error, isTrial: isTrial)
            throw error
        }
    }

    /// Records the result of a command. The success of one that writes only when it finds something
    /// to do proves that reading works, and possibly no more. `isTrial` is for ``TryWriting``.
    func note(_ access: CommandProfile.Access, _ new: StoreFailure?, isTrial: Bool = false) {
        // An overloaded store does not show whether it works, and one damaged row nothing about the
        // others.
        guard new?.kind != .overloaded, new?.kind != .damaged else { return }
        let (new, isNew) = failures.withLock { failures in
            let old = failures.current
            switch (access, new) {
            case (.read, let failure?): failures.reading = failure
            case (_, let failure?): failures.writing = failure
            case (.write, nil) where isTrial || failures.writing?.kind != .full:
                failures = Failures()
            case (_, nil): failures.reading = nil
            }
            guard let current = failures.current else {
                failures.logged = []
                return (nil as StoreFailure?, old != nil)
            }
            let isNew =
                old?.kind != current.kind
                || failures.logged.count < Self.loggedCauseCount
                    && !failures.logged.contains(current)
            if isNew { failures.logged.insert(current) }
            return (current, isNew)
        }
        guard isNew else { return }
        if let new {
            logger.error(
                "the store fails",
                metadata: ["kind": "\(new.kind.rawValue)", "reason": "\(new)"])
        } else {
            logger.notice("the store works again")
        }
    }
}
