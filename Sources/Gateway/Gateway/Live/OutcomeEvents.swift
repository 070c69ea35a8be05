// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Outcomes in the order of their cursors, as they happen: each once, of all gateways on the store.
/// Nothing is kept in memory for a slow reader, which reads from the store.
public struct OutcomeEvents: AsyncSequence, Sendable {
    /// An outcome.
    public typealias Element = OutcomeEvent

    let subscription: OutcomeSubscription
    /// The cursor behind which the events begin.
    public let start: Int64
    /// Whether outcomes after the requested cursor may have been removed by their age.
    public let mayHaveMissed: Bool

    /// A cursor up to which the reader has processed all events, because it requested the next one.
    /// It also advances with events of apps that are not the reader's.
    public var position: Int64 { subscription.position.load(ordering: .acquiring) }

    /// Reads the events; one reader at a time. Ends when the gateway has stopped and all is read,
    /// and when the reader's task is cancelled.
    public func makeAsyncIterator() -> Iterator { Iterator(subscription, after: start) }

    /// Reads events.
    public struct Iterator: AsyncIteratorProtocol {
        private let subscription: OutcomeSubscription
        private var cursor: Int64
        private var events: ArraySlice<OutcomeEvent> = []

        fileprivate init(_ subscription: OutcomeSubscription, after cursor: Int64) {
            self.subscription = subscription
            self.cursor = cursor
        }

        /// The next event.
        public mutating func next() async -> OutcomeEvent? {
            while true {
                subscription.position.store(
                    events.first.map { $0.cursor - 1 } ?? cursor, ordering: .releasing)
                while let event = events.popFirst() {
                    if subscription.apps?.contains(event.app.bundleID) ?? true { return event }
                }
                guard let page = await subscription.page(after: cursor) else { return nil }
                events = page.events[...]
                cursor = page.cursor
            }
        }
    }
}
