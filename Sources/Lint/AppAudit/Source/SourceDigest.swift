// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// The observations in one source file, regardless of the target. Constants of other files are
/// resolved for each target.
struct SourceDigest: Sendable {
    /// An observation, and the constant for its identifier.
    struct Entry: Sendable {
        var observation: SourceObservation
        var reference: ConstantReference?
        /// The function that lacks an expiration handler, unless its caller sets it.
        var function: String?

        /// Sets the identifier from a literal.
        mutating func name(_ identifier: String) {
            observation.subject = observation.subject.named(identifier)
        }
    }

    /// The observations, in the order of places.
    var entries: [Entry] = []
    /// The calls that hand a completion handler on to other files.
    var handovers: [Handover] = []
    /// The functions that get a task whose expiration handler is set.
    var guarded: Set<String> = []

    /// Marks the file as part of other targets too.
    mutating func markShared() {
        for index in entries.indices { entries[index].observation.isShared = true }
    }

    /// The names of the constants to resolve.
    var wantedNames: Set<String> { Set(entries.compactMap(\.reference?.name)) }

    /// The observations, with identifiers from constants.
    func observations(
        _ constants: SourceConstants, guarded: Set<String> = []
    ) -> [SourceObservation] {
        entries.compactMap { entry in
            if let function = entry.function, guarded.contains(function) { return nil }
            guard let reference = entry.reference else { return entry.observation }
            var observation = entry.observation
            observation.subject = observation.subject.named(constants.value(of: reference))
            return observation
        }
    }
}

extension SourceObservation.Subject {
    /// The subject with this identifier.
    fileprivate func named(_ identifier: String?) -> SourceObservation.Subject {
        switch self {
        case .registeredTask(_, let occasion): .registeredTask(identifier, occasion)
        case .requestedTask(_, let work): .requestedTask(identifier, work)
        case .sceneTask: .sceneTask(identifier)
        default: self
        }
    }
}
