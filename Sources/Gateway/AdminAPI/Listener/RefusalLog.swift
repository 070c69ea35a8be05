// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization

/// Logs refusals of strangers: a line for the first refusal of a peer, then at most one for each
/// peer and interval, with a count. A line for each would let any caller fill the disk.
///
/// May be used from any thread.
final class RefusalLog: Sendable {
    /// The maximum number of peers with separate lines; further ones share a line.
    static let peerCount = 256

    private struct Subject: Hashable {
        let peer: PeerAddress
        let status: Int
    }

    private struct State {
        /// The number of refusals that have not been written yet.
        var counts: [Subject: Int] = [:]
        var otherCount = 0
    }

    private let state = Mutex(State())
    private let logger: Logger
    private let intervalSeconds: Int

    init(_ logger: Logger, intervalSeconds: Int) {
        self.logger = logger
        self.intervalSeconds = intervalSeconds
    }

    /// Records that a request without an accepted key was answered with this status, or that a
    /// connection was closed before it made one (0).
    func note(_ peer: PeerAddress, status: Int) {
        let subject = Subject(peer: peer, status: status)
        let isFirst = state.withLock { state in
            if let count = state.counts[subject] {
                state.counts[subject] = count + 1
                return false
            }
            guard state.counts.count < Self.peerCount else {
                state.otherCount += 1
                return false
            }
            state.counts[subject] = 0
            return true
        }
        if isFirst { write(subject, count: 1) }
    }

    /// Writes refusals at the end of each interval until the task is cancelled, and then the rest.
    func run() async {
        while (try? await Task.sleep(for: .seconds(intervalSeconds))) != nil { flush() }
        flush()
    }

    /// Ends an interval.
    func flush() {
        let (counts, otherCount) = state.withLock { state in
            defer {
                // A peer that continues is not new in the next interval.
                state.counts = state.counts.filter { $0.value > 0 }.mapValues { _ in 0 }
                state.otherCount = 0
            }
            return (state.counts.filter { $0.value > 0 }, state.otherCount)
        }
        for (subject, count) in counts.sorted(by: {
            ($0.key.peer.description, $0.key.status) < ($1.key.peer.description, $1.key.status)
        }) {
            write(subject, count: count)
        }
        if otherCount > 0 {
            logger.info(
                "requests without an accepted API key were refused",
                metadata: ["peer": "others", "count": "\(otherCount)"])
        }
    }

    private func write(_ subject: Subject, count: Int) {
        guard subject.status > 0 else {
            logger.info(
                "connections were closed because no place was left",
                metadata: ["peer": "\(subject.peer)", "count": "\(count)"])
            return
        }
        logger.info(
            "requests without an accepted API key were refused",
            metadata: [
                "peer": "\(subject.peer)", "status": "\(subject.status)", "count": "\(count)",
            ])
    }
}
