// SPDX-License-Identifier: Apache-2.0

import Gateway

/// What a receiver said to one request.
enum WebhookAnswer: Equatable {
    /// All were taken.
    case taken
    /// The receiver does not take what is in it.
    case refused(String)
    /// The receiver failed: by what is in it, or as it would by anything.
    case failed(String)
    /// The receiver takes nothing at present.
    case down(String)

    /// Statuses that speak of the content: Bad Request, Content Too Large, Unprocessable Content
    /// (RFC 9110 §15.5).
    private static let contentStatuses: Set<Int> = [400, 413, 422]
    /// Statuses that speak of the receiver: Too Many Requests (RFC 6585 §4), Service Unavailable
    /// (RFC 9110 §15.6.4).
    private static let receiverStatuses: Set<Int> = [429, 503]

    /// What a status says, or that there is none: a receiver that hangs up or lets one wait may do
    /// so because of the content, one that is not reached does not.
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

/// The requests for one batch: all items together if the receiver takes them so. One that it
/// cannot take is found by halves, so that it does not hold up the others.
///
/// A half is every other item, so that the first ones sent alone are spread over the batch, and are
/// representative of the rest. A round only counts: it posts nothing and has no clock.
struct WebhookRound {
    /// How many items that went alone fail in a row before the receiver is left alone: each might
    /// be at fault itself, so many are not.
    static let hopelessCount = 8
    /// From so many earlier tries of an item on, halves are posted after a status that does not
    /// speak of the content, or none. Before, the receiver's own trouble is the likelier cause.
    static let suspiciousTries = 2

    /// What is still to be posted, the next one last.
    private var parts: [[WebhookItem]]
    private let isSuspicious: Bool
    private var failuresInRow = 0
    private var isGivenUp = false

    /// What was taken.
    private(set) var taken: [WebhookItem] = []
    /// What was posted and not taken.
    private(set) var failed: [WebhookItem] = []
    /// Why something was not taken, the last time.
    private(set) var why: String?

    /// A round for these items, at least one.
    init(_ items: [WebhookItem]) {
        parts = [items]
        isSuspicious = items.contains { $0.tries >= Self.suspiciousTries }
    }

    /// What the round ended before; nothing is known of it.
    var unposted: [WebhookItem] { parts.flatMap(\.self) }

    /// Whether the receiver is to be left alone for a while: it takes nothing any more, or took
    /// nothing at all. One event that is refused says nothing of the others.
    var isDown: Bool { isGivenUp || taken.isEmpty && failed.count > 1 }

    /// What to post next; `nil` when the round is over.
    mutating func next() -> [WebhookItem]? { isGivenUp ? nil : parts.popLast() }

    /// Notes what the receiver said to a part.
    mutating func note(_ answer: WebhookAnswer, to part: [WebhookItem]) {
        switch answer {
        case .taken:
            taken += part
            failuresInRow = 0
        case .refused(let why):
            // A receiver that has taken something chooses; however much it refuses, it is well.
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
