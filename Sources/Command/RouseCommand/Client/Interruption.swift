// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization

/// What Ctrl-C (SIGINT) and SIGTERM do while the command waits for a server: it reports the
/// progress, and the process ends by the signal, as shells expect. Used by one task; the report is
/// made on a queue of its own, because the task itself may wait for long.
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
    /// Without a signal that the process was started to ignore, as a script's `&` does with SIGINT.
    private let sources: [any DispatchSourceSignal]

    /// Handles the signals as long as the object exists. `tell` gets the last noted value, if there
    /// is one.
    init(_ tell: @escaping @Sendable (Standing) -> Void) {
        let queue = DispatchQueue(label: "rouse.interruption")
        sources = [SIGINT, SIGTERM].filter { !isIgnored($0) }.map { [latest] number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                if let standing = latest.latest {
                    ProgressBar.wipe()
                    tell(standing)
                }
                endBySignal(number)
            }
            source.resume()
            return source
        }
    }

    deinit { for source in sources { source.cancel() } }

    /// Stores the progress to report, in case of a signal from now on.
    func note(_ standing: Standing) { latest.latest = standing }

    /// From now on the signal reports nothing, and ends the process.
    func end() { latest.latest = nil }
}

/// Whether the process ignores a signal.
func isIgnored(_ number: CInt) -> Bool {
    var present = sigaction()
    // Without a new action nothing changes, and no signal is lost.
    guard sigaction(number, nil, &present) == 0 else { return false }
    // SAFETY: both are addresses of functions, or constants that are none; they are only compared.
    return unsafeBitCast(present.__sigaction_handler.sa_handler, to: Int.self)
        == unsafeBitCast(SIG_IGN, to: Int.self)
}

/// Ends the process as the signal would without a handler.
private func endBySignal(_ number: CInt) {
    signal(number, SIG_DFL)
    // The threads of a queue block signals.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, number)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    raise(number)
}
