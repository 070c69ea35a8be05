// SPDX-License-Identifier: Apache-2.0

/// The wakes of one batch on their way to a gateway that may be too busy to accept all of them
/// together.
///
/// Wakes refused for overload (429) were not stored, and are sent again without the others, under a
/// new key: together with the accepted ones they would be refused again. After a failure of the
/// store (503) it is not known whether a wake was stored; then the same wakes are sent again under
/// the same key, by which the gateway recognises those that were.
struct SendBatch {
    /// The statuses of a wake that may be taken later.
    private static let busyStatuses: Set<Int> = [429, 503]

    /// The last answer for each wake, in order; `nil` before the first.
    private(set) var items: [BatchDocument.Item?]
    /// The places of the wakes that are to be asked for in the next request, in order.
    private(set) var places: [Int]
    private let name: String
    private var round = 0
    /// Places of which a busy gateway may have kept the wake.
    private var uncertain: Set<Int> = []

    /// A batch of `count` wakes; `name` is the idempotency key of its first request.
    init(name: String, count: Int) {
        self.name = name
        items = Array(repeating: nil, count: count)
        places = Array(0..<count)
    }

    /// The idempotency key of the next request.
    var key: String { round == 0 ? name : "\(name)-\(round)" }

    /// Whether a wake still has to be sent again.
    var isWaiting: Bool { !openPlaces.isEmpty }

    /// The places of the wakes that were not seen to be taken or refused for good, in order.
    var openPlaces: [Int] { items.indices.filter { items[$0].map(Self.isBusy) ?? true } }

    /// Whether any wake has an answer.
    var hasAnswers: Bool { items.contains { $0 != nil } }

    /// Records the answers to the wakes at ``places``, and says which are asked for next. Whether
    /// fewer wait than before.
    mutating func take(_ answers: [BatchDocument.Item]) -> Bool {
        let waitingCount = places.count { items[$0].map(Self.isBusy) ?? true }
        for (place, answer) in zip(places, answers) {
            // A wake that has its answer keeps it, whatever a repetition says.
            if let item = items[place], !Self.isBusy(item) { continue }
            items[place] = answer
            if !Self.isBusy(answer) {
                uncertain.remove(place)
            } else if Self.isUncertain(answer) {
                uncertain.insert(place)
            }
        }
        let waiting = openPlaces
        if uncertain.isEmpty, waiting.count < places.count {
            places = waiting
            round += 1
        }
        return waiting.count < waitingCount
    }

    private static func isBusy(_ item: BatchDocument.Item) -> Bool {
        busyStatuses.contains(item.status) || item.items?.contains(where: isBusy) == true
    }

    /// Whether a part of it may have been taken, so that it goes again under the same key.
    private static func isUncertain(_ item: BatchDocument.Item) -> Bool {
        item.status == 503 || item.items != nil
    }
}
