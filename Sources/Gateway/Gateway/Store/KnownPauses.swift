// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// The last pause of each app that this gateway knows of. A wake whose deadline came in a pause may
/// be found only after the resume, and is recorded with its cause all the same.
struct KnownPauses: Sendable {
    private struct Span {
        let start: WallInstant
        /// When this gateway learned that the app goes on; `nil` while it is paused.
        var end: WallInstant?
    }

    private var spans: [AppIdentity: Span] = [:]

    /// Takes over which apps are paused now.
    mutating func follow(_ paused: [AppIdentity: QueuePause], at now: WallInstant) {
        for (app, span) in spans where span.end == nil && paused[app] == nil {
            spans[app]?.end = now
        }
        for (app, pause) in paused where spans[app]?.end != nil || spans[app] == nil {
            spans[app] = Span(start: pause.at)
        }
    }

    /// Whether an app was paused at this instant.
    func contains(_ instant: WallInstant, of app: AppIdentity) -> Bool {
        guard let span = spans[app], instant >= span.start else { return false }
        return span.end.map { instant <= $0 } ?? true
    }
}
