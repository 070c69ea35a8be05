// SPDX-License-Identifier: Apache-2.0

import DequeModule
import HummingbirdCore
import Synchronization

/// The streams of an HTTP/2 connection whose requests the router answers, from the event loop to
/// the connection's task. None is lost when that task is cancelled, because each must be ended.
///
/// May be used from any thread; ``next()`` by one task at a time.
final class StreamQueue: Sendable {
    typealias Stream = HTTP1Channel.Value

    private struct State {
        var streams: Deque<Stream> = []
        var isFinished = false
        var waiting: CheckedContinuation<Stream?, Never>?
    }

    private let state = Mutex(State())

    /// Adds a stream.
    func append(_ stream: Stream) {
        let waiting = state.withLock { state in
            guard let waiting = state.waiting else {
                state.streams.append(stream)
                return nil as CheckedContinuation<Stream?, Never>?
            }
            state.waiting = nil
            return waiting
        }
        waiting?.resume(returning: stream)
    }

    /// Records that no stream follows.
    func finish() {
        let waiting = state.withLock { state in
            state.isFinished = true
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: nil)
    }

    /// The next stream; `nil` after the last one.
    func next() async -> Stream? {
        await withCheckedContinuation { continuation in
            let (stream, isFinished) = state.withLock { state -> (Stream?, Bool) in
                if let stream = state.streams.popFirst() { return (stream, true) }
                if !state.isFinished { state.waiting = continuation }
                return (nil, state.isFinished)
            }
            if stream != nil || isFinished { continuation.resume(returning: stream) }
        }
    }
}
