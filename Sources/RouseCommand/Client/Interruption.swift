// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// What Ctrl-C (SIGINT) does while something is under way that waits for a server: it is told how
/// it stands, and the process ends as by the signal, which is what a shell wants to see. Used by
/// one task; the telling is done on a queue of its own, for the task itself may wait for long.
final class Interruption<Standing: Sendable> {
    /// What was noted last.
    private final class Note: Sendable {
        private let standing = Mutex<Standing?>(nil)

        var latest: Standing? {
            get { standing.withLock { $0 } }
            set { standing.withLock { $0 = newValue } }
        }
    }

    private let latest = Note()
    private let source: any DispatchSourceSignal

    /// Listens as long as the object is there. `tell` is given what was noted last, if anything
    /// was.
    init(_ tell: @escaping @Sendable (Standing) -> Void) {
        source = DispatchSource.makeSignalSource(
            signal: SIGINT, queue: DispatchQueue(label: "rouse.interruption"))
        source.setEventHandler { [latest] in
            if let standing = latest.latest {
                ProgressBar.wipe()
                tell(standing)
            }
            endBySignal(SIGINT)
        }
        source.resume()
    }

    deinit { source.cancel() }

    /// Notes how it stands, in case of a signal from now on.
    func note(_ standing: Standing) { latest.latest = standing }

    /// From now on the signal tells nothing, and ends the process.
    func end() { latest.latest = nil }
}

/// Ends the process as if nobody had listened for the signal.
private func endBySignal(_ number: CInt) {
    signal(number, SIG_DFL)
    // The threads of a queue block signals.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, number)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    raise(number)
}
