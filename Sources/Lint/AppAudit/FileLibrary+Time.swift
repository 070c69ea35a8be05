// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Looks for time in the background in other files.
extension FileLibrary {
    /// The functions of the system that ask for time.
    private static let askers: Set = [
        "beginBackgroundTask", "beginBackgroundTaskWithName",
        "beginBackgroundTaskWithExpirationHandler", "performExpiringActivity",
        "performExpiringActivityWithReason",
    ]

    /// Takes back the timers that start when the app leaves the foreground, if a source file or a
    /// header asks for time: it may do so at the same moment.
    func dropTimers(in digests: inout [SourceDigest], besides files: [String]) {
        let hasTimers = digests.contains { digest in
            digest.entries.contains { $0.observation.subject == .fault(.timerInBackground) }
        }
        guard hasTimers else { return }
        let words = tree.index.words(Self.askers)
        let asks = { [tree] (path: String) in
            tree.index.words(words, .named, in: path)?.isEmpty != true
        }
        let headers = { [self] in
            folders.flatMap { tree.files(below: $0) }.filter(Self.isHeader)
        }
        guard files.contains(where: asks) || headers().contains(where: asks) else { return }
        for index in digests.indices {
            digests[index].entries.removeAll {
                $0.observation.subject == .fault(.timerInBackground)
            }
        }
    }

    /// Whether sources include a file, by its name.
    private static func isHeader(_ path: String) -> Bool {
        [".h", ".hpp", ".pch"].contains(where: path.hasSuffix)
    }
}
