// SPDX-License-Identifier: Apache-2.0

import AdminAPI
import Logging
import ServiceLifecycle
import Synchronization
import WakeModel

/// Applies changes by `rouse keys` while the gateway runs, without a signal, and records the uses
/// of keys.
///
/// It checks the keys' file every ``interval``, and immediately when a request has an unknown
/// secret: so a new key is accepted with its first request, and a revoked one is refused after at
/// most one interval. A check is one call of stat(2); the file is read when it was replaced or
/// written. Each change replaces the file, so its inode or its times differ.
final class KeysFileWatcher: Service {
    /// The interval of checks of the file.
    static let interval = Duration.milliseconds(250)

    private struct State {
        var path: String
        /// The keys of the configuration.
        var configured: [APIKey]
        /// The keys of the file.
        var file: [APIKey]
        /// The stamp of the file at the last check; `nil` before the first.
        var stamp: FileStamp?
        /// The reason why the last check could not read the file; `nil` when it could.
        var failure: String?
        var uses: KeyUses
    }

    /// The record of uses, as this gateway last left it.
    private struct Record {
        /// Whether uses are not in the file yet, because another gateway wrote it.
        var isBehind = false
        /// Whether the last attempt to write failed, which is logged once.
        var cannotWrite = false
    }

    private let ring: KeyRing
    private let state: Mutex<State>
    /// Held for the time of a write, which so delays no check of the keys.
    private let record = Mutex(Record())
    private let audit: AuditLog
    private let logger: Logger

    /// Creates a watcher of the file of `plan`, for a ring with the keys of `plan`.
    init(_ ring: KeyRing, plan: ServePlan, audit: AuditLog, logger: Logger) {
        self.ring = ring
        self.audit = audit
        self.logger = logger
        let path = plan.configuration.effectiveKeysPath
        // Without a stamp, so that the first check finds changes since the plan was made.
        state = Mutex(
            State(
                path: path, configured: plan.configuredKeys, file: plan.fileKeys,
                uses: KeyUses(besideKeysFile: path)))
        ring.whenUnknown { [weak self] in self?.lookUnlessLooking() }
    }

    /// Checks until the service group shuts down.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                self.look()
                _ = self.writeUses()
                // A cancelled sleep ends the loop.
                try? await Task.sleep(for: Self.interval)
            }
        }
        // Another gateway may be writing for a moment.
        for _ in 0..<5 where !writeUses() { try? await Task.sleep(for: .milliseconds(50)) }
    }

    /// Applies the keys of a reloaded configuration.
    func replace(with plan: ServePlan) {
        state.withLock { state in
            state.path = plan.configuration.effectiveKeysPath
            state.configured = plan.configuredKeys
            state.file = plan.fileKeys
            state.stamp = nil
            // The file may have changed since the plan was made.
            if !look(&state, by: "SIGHUP") { use(state, by: "SIGHUP") }
        }
    }

    /// Checks whether the file has changed, and applies its keys then.
    ///
    /// A file that could not be read is read again, even if it has not changed: it may revoke a
    /// key, and the obstacle may be gone.
    func look() {
        state.withLock { _ = look(&$0, by: "keys-file", readsAgain: $0.failure != nil) }
    }

    /// The same for a request, which does not wait for another's check.
    private func lookUnlessLooking() {
        _ = state.withLockIfAvailable { look(&$0, by: "keys-file") }
    }

    /// Whether the file was read, and its keys were applied.
    private func look(
        _ state: inout State, by actor: String, readsAgain: Bool = false
    ) -> Bool {
        // Before the file is read, so that the next check finds later changes.
        let stamp = FileStamp(paths: [state.path])
        let isNew = stamp != state.stamp
        guard isNew || readsAgain else { return false }
        let isFirst = state.stamp == nil
        state.stamp = stamp
        guard !stamp.isMissing else {
            state.failure = nil
            if !isFirst || !state.file.isEmpty {
                logger.error(
                    "the keys' file is gone; its keys are taken until a reload",
                    metadata: ["path": "\(state.path)"])
            }
            return false
        }
        do throws(CommandFailure) {
            guard let file = try KeysFile.ifPresent(at: state.path) else {
                // It was removed since; the next check finds it missing, or reads it.
                state.stamp = nil
                return false
            }
            state.file = try failing(with: .configuration) { () throws(InvalidField) in
                try file.activeKeys()
            }
            state.failure = nil
            use(state, by: actor)
            return true
        } catch {
            if isNew || state.failure != error.message {
                logger.error(
                    "reload of the keys file failed; keeping the current keys",
                    metadata: ["error": "\(error.message)"])
            }
            state.failure = error.message
            return false
        }
    }

    /// Uses all keys except those of the file that conflict with a key of the configuration.
    private func use(_ state: State, by actor: String) {
        var keys = state.configured + state.file
        let areTaken = APIKey.conflict(among: keys) == nil
        if !areTaken { keys = state.configured }
        for key in state.file where !areTaken {
            if let conflict = APIKey.conflict(among: keys + [key]) {
                logger.error(
                    "a key of the keys' file is not taken",
                    metadata: ["key": "\(key.name)", "error": "\(conflict)"])
            } else {
                keys.append(key)
            }
        }
        let change = ring.replace(with: keys)
        for (names, what) in [
            (change.added, "api key added"), (change.removed, "api key removed"),
            (change.changed, "api key changed"),
        ] {
            for name in names { audit.note(what, by: actor, from: state.path, to: name) }
        }
    }

    /// Writes what is not written yet. Returns false when another gateway writes just now.
    private func writeUses() -> Bool {
        let uses = ring.uses
        guard !uses.isEmpty else { return true }
        let (path, known, areNews) = state.withLock { state in
            let known = Set((state.configured + state.file).flatMap(\.digests))
            return (state.path, known, state.uses.merge(uses, known: known))
        }
        return record.withLock { record in
            guard areNews || record.isBehind else { return true }
            do throws(CommandFailure) {
                record.isBehind = try !KeyUses.merge(uses, known: known, besideKeysFile: path)
                record.cannotWrite = false
            } catch {
                if !record.cannotWrite {
                    logger.warning(
                        "when keys are used is not written down",
                        metadata: ["error": "\(error.message)"])
                }
                record.cannotWrite = true
            }
            return !record.isBehind
        }
    }
}
