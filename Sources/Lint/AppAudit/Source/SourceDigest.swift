// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// What one source file says, whatever the target that it is built into. Constants of other files
/// are put in for each target.
struct SourceDigest: Sendable {
    /// Something that was seen, and the constant that names its identifier.
    struct Entry: Sendable {
        var observation: SourceObservation
        var reference: ConstantReference?

        /// Gives it the identifier that a literal says.
        mutating func name(_ identifier: String) {
            observation.subject = observation.subject.named(identifier)
        }
    }

    /// What was seen, in the order of places.
    var entries: [Entry] = []

    /// Says that the file is built into other targets too.
    mutating func markShared() {
        for index in entries.indices { entries[index].observation.isShared = true }
    }

    /// The names of the constants that have to be looked for.
    var wantedNames: Set<String> { Set(entries.compactMap(\.reference?.name)) }

    /// What was seen, with the identifiers that constants give.
    func observations(_ constants: SourceConstants) -> [SourceObservation] {
        entries.map { entry in
            guard let reference = entry.reference else { return entry.observation }
            var observation = entry.observation
            observation.subject = observation.subject.named(constants.value(of: reference))
            return observation
        }
    }
}

extension SourceObservation.Subject {
    /// The same with this identifier.
    fileprivate func named(_ identifier: String?) -> SourceObservation.Subject {
        switch self {
        case .registeredTask(_, let occasion): .registeredTask(identifier, occasion)
        case .requestedTask(_, let work): .requestedTask(identifier, work)
        case .sceneTask: .sceneTask(identifier)
        default: self
        }
    }
}
