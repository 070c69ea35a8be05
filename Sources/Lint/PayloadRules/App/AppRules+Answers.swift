// SPDX-License-Identifier: Apache-2.0

/// What handlers of silent pushes and of background fetch answer.
extension AppRules {
    /// Whether the same answer comes too early, which is told of by itself.
    static func isEarly(
        _ seen: SourceObservation, _ bundle: AppFacts.Bundle, _ early: SourceObservation.Fault
    ) -> Bool {
        bundle.observations.contains {
            $0.subject == .fault(early) && $0.place.file == seen.place.file
                && $0.place.line == seen.place.line
        }
    }

    static let newDataAlways =
        "the handler of silent pushes answers `newData` whatever happened"

    /// Reports what handlers of background fetch answer, if iOS calls them.
    static func fetchAnswers(_ facts: AppFacts, _ findings: inout AppFindings) {
        eachObservation(in: facts) { bundle, seen in
            guard bundle.platform != .macOS, isFetched(bundle) else { return }
            switch seen.subject {
            case .fault(.earlyFetchAnswer):
                findings.report(
                    bundle, at: seen.place,
                    "the handler of background fetch answers before its own work has ended")
            case .alwaysNewFetch
            where !seen.isUncalled && !isEarly(seen, bundle, .earlyFetchAnswer):
                findings.report(
                    bundle, at: seen.place,
                    "the handler of background fetch answers `newData` whatever happened")
            default: return
            }
        }
    }
}
