// SPDX-License-Identifier: Apache-2.0

internal import CCurlShims
internal import LoopKit
internal import PushTransport

/// A CURLM with exactly one HTTP/2 connection, and its state in the loop.
///
/// libcurl cannot say which connection a transfer was on, nor close one; with a separate CURLM for
/// each connection, one can be filled, drained and closed. Confined to the loop's thread.
final class CurlConnection {
    private var pointer: OpaquePointer?
    private let idle: IdleExchanges
    /// Transfers on this connection.
    private(set) var transfers: [TransportRequest.ID: Transfer] = [:]
    var window: StreamWindow
    /// Whether it failed, is closing, or is to close, so that another may replace it.
    private(set) var isRetired = false
    let openedAt: Int64
    /// The number of answers.
    private(set) var answers = 0
    /// The time of the last answer, in monotonic milliseconds.
    var lastAnswerAt: Int64
    /// The number of requests that were started and not taken back.
    private(set) var starts = 0
    /// The number that may be; see `CurlLoop.resetRation`.
    let maximumStarts: Int
    /// What `RequestLimit.lastEnd(now:)` was when it was opened.
    let formerEnd: Int?

    init?(
        reactor: OpaquePointer, settings: CurlSettings, idle: IdleExchanges, window: StreamWindow,
        maximumStarts: Int, formerEnd: Int?, now: Int64
    ) {
        guard let made = CCurlConnection_create(reactor, settings.pointer) else { return nil }
        pointer = made
        self.idle = idle
        self.window = window
        openedAt = now
        lastAnswerAt = now
        self.maximumStarts = maximumStarts
        self.formerEnd = formerEnd
        LiveObjects.count(.connection, by: 1)
    }

    deinit { assert(pointer == nil, "A CurlConnection must be closed before it is released.") }

    private var handle: OpaquePointer {
        guard let pointer else { preconditionFailure("A closed CurlConnection was used.") }
        return pointer
    }

    /// Whether it has started all that it may.
    var isSpent: Bool { starts >= maximumStarts }

    /// Whether it gets no new requests any more.
    var isDraining: Bool { isRetired || isSpent }

    var inFlight: Int { transfers.count }

    /// The number of requests that may be started now.
    var room: Int {
        guard !isDraining else { return 0 }
        return min(window.limit - inFlight, maximumStarts - starts)
    }

    /// The number of started requests that libcurl has given no stream yet.
    var held: Int { Int(CCurlConnection_waiting(handle)) }

    /// What the peer has reported about the connection's end.
    var goAway: CCurlGoAway { CCurlConnection_goaway(handle) }

    /// Whether the connection was up and is no longer. Meant for one with nothing in flight.
    var isLost: Bool { CCurlConnection_is_lost(handle) }

    /// Starts a transfer. Returns libcurl's error message, `nil` on success.
    func start(_ transfer: Transfer, block: HeaderBlock) -> String? {
        guard let exchange = idle.take(for: handle) else {
            return "memory ran out"
        }
        if let complaint = exchange.start(transfer.request, tag: transfer.id, block: block) {
            exchange.close()
            return complaint
        }
        starts += 1
        transfer.stage = .started(self, exchange)
        transfers[transfer.id] = transfer
        return nil
    }

    /// The transfers that libcurl has finished, and its code for each. All are collected before any
    /// is removed, because each removal searches the list of those not yet collected.
    func takeFinished(into finished: inout [(transfer: Transfer, code: Int32)]) {
        guard inFlight > 0 else { return }
        var code: Int32 = 0
        while let exchange = CCurlConnection_next_finished(handle, &code) {
            guard let transfer = transfers[CCurlExchange_tag(exchange)] else {
                preconditionFailure("libcurl finished a transfer that is not on the connection.")
            }
            finished.append((transfer, code))
        }
    }

    /// Removes a transfer from the connection, and keeps its exchange for the next one if it ended
    /// well. After a failure libcurl leaves state in it that the next transfer would suffer from,
    /// such as the intention to send a request again.
    func remove(_ transfer: Transfer, exchange: CurlExchange, endedWell: Bool = false) {
        transfers[transfer.id] = nil
        exchange.remove()
        if endedWell { idle.put(exchange) } else { exchange.close() }
    }

    /// Records that a started request was taken back and had no stream.
    func didTakeBack() { starts -= 1 }

    /// Records an answer.
    func didReceiveAnswer(isValid: Bool, now: Int64) {
        lastAnswerAt = now
        answers += 1
        window.didReceiveAnswer(isValid: isValid, inFlight: inFlight, now: now)
    }

    /// Sends nothing new over it from now on.
    func drain() { isRetired = true }

    /// Closes everything. No transfer may be on it.
    func close() {
        precondition(transfers.isEmpty, "A connection was closed under its transfers.")
        CCurlConnection_destroy(handle)
        LiveObjects.count(.connection, by: -1)
        pointer = nil
    }
}
