// SPDX-License-Identifier: Apache-2.0

import Gateway

/// The result of one request.
enum WebhookAnswer: Equatable {
    /// All were accepted.
    case taken
    /// The receiver refuses its content.
    case refused(String)
    /// The receiver failed, because of the content or in general.
    case failed(String)
    /// The receiver accepts nothing at present.
    case down(String)

    /// Statuses about the content: Bad Request, Content Too Large, Unprocessable Content (RFC 9110
    /// §15.5).
    private static let contentStatuses: Set<Int> = [400, 413, 422]
    /// Statuses about the receiver: Too Many Requests (RFC 6585 §4), Service Unavailable (RFC 9110
    /// §15.6.4).
    private static let receiverStatuses: Set<Int> = [429, 503]

    /// The result for a status, or without one: a receiver that closes the connection or times out
    /// may do so because of the content, one that is not reached does not.
    init(_ result: Result<Int, WebhookFailure>) {
        switch result {
        case .success(200..<300): self = .taken
        case .success(let status) where (300..<400).contains(status):
            self = .down("it answered \(status), and redirects are not followed")
        case .success(let status):
            let why = "it answered \(status)"
            if Self.contentStatuses.contains(status) {
                self = .refused(why)
            } else {
                self = Self.receiverStatuses.contains(status) ? .down(why) : .failed(why)
            }
        case .failure(let failure):
            self = failure.isSent ? .failed(failure.description) : .down(failure.description)
        }
    }
}

/// The requests for one batch: all items together if the receiver accepts them so. An item that it
/// cannot accept is found by halving, so that it does not delay the others.
///
/// A half is every other item, so that the first ones sent alone are spread over the batch, and are
/// representative of the rest. A round is pure: it posts nothing and has no clock.
struct WebhookRound {
    /// The number of consecutive failures of single items after which the receiver gets a pause:
    /// one item may be the cause, but not as many.
    static let hopelessCount = 8
    /// The number of earlier attempts for an item from which on halves are posted after a status
    /// that is not about the content, or none. Before, a failure of the receiver is the more likely
    /// cause.
    static let suspiciousTries = 2

    /// The parts that are left to post, the next one last.
    private var parts: [[WebhookItem]]
    private let isSuspicious: Bool
    private var failuresInRow = 0
    private var isGivenUp = false

    /// The accepted items.
    private(set) var taken: [WebhookItem] = []
    /// The items that were posted and not accepted.
    private(set) var failed: [WebhookItem] = []
    /// The last reason why an item was not accepted.
    private(set) var why: String?

    /// Creates a round for these items, at least one.
    init(_ items: [WebhookItem]) {
        parts = [items]
        isSuspicious = items.contains { $0.tries >= Self.suspiciousTries }
    }

    /// The items that were not posted before the round ended.
    var unposted: [WebhookItem] { parts.flatMap(\.self) }

    /// Whether the receiver gets a pause, because it accepts nothing any more, or accepted nothing.
    /// The refusal of one event does not imply that of others.
    var isDown: Bool { isGivenUp || taken.isEmpty && failed.count > 1 }

    /// The next part to post; `nil` when the round has ended.
    mutating func next() -> [WebhookItem]? { isGivenUp ? nil : parts.popLast() }

    /// Records the result of a part.
    mutating func note(_ answer: WebhookAnswer, to part: [WebhookItem]) {
        switch answer {
        case .taken:
            taken += part
            failuresInRow = 0
        case .refused(let why):
            // A receiver that has accepted some events works, regardless of the number that it
            // refuses.
            split(part, why, isHopeless: taken.isEmpty)
        case .failed(let why) where isSuspicious: split(part, why, isHopeless: true)
        case .failed(let why), .down(let why):
            fail(part, why)
            isGivenUp = true
        }
    }

    private mutating func split(_ part: [WebhookItem], _ why: String, isHopeless: Bool) {
        guard part.count == 1 else {
            for remainder in [1, 0] {
                parts.append(part.indices.filter { $0 % 2 == remainder }.map { part[$0] })
            }
            return
        }
        fail(part, why)
        failuresInRow += 1
        isGivenUp = isHopeless && failuresInRow >= Self.hopelessCount
    }

    private mutating func fail(_ part: [WebhookItem], _ why: String) {
        failed += part
        self.why = why
    }
}
