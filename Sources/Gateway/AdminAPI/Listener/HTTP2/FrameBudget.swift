// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// The number of frames that the caller of an HTTP/2 connection may send and that carry no part of
/// a request: PING, SETTINGS, WINDOW_UPDATE, PRIORITY, RST_STREAM, GOAWAY, empty DATA and unknown
/// ones.
///
/// A normal caller sends a few for each request and for each part of an answer, and a few by the
/// hour. One that sends them without end costs processor time (CVE-2019-9511 to 9518), and so does
/// one that resets its requests (CVE-2023-44487), which add nothing to ``resetCount``.
struct FrameBudget {
    /// The number without any request within ``period``.
    static let count = 1_000
    /// The time after which there are as many again.
    static let period = TimeAmount.seconds(30)
    /// How many of them may be RST_STREAM.
    static let resetCount = 1_000
    /// How many streams the caller may spoil beside that.
    static let faultCount = 1_000
    /// How many of them may be PING, SETTINGS, PRIORITY, ALTSVC or ORIGIN.
    static let controlCount = 200
    /// The number that each request adds, and each begun KiB of an answer's body: callers renew
    /// the windows of the stream and of the connection, some of them in small steps.
    static let countPerPart = 16
    /// The most that is kept: what the answers need that a caller may leave untaken.
    static let mostCount = count + countPerPart * HTTP2Guard.untakenByteCount / 1_024

    private var frames: PeriodBudget
    private var resets: PeriodBudget
    private var controls: PeriodBudget
    /// The bytes before the next head of a frame: at first those of the preface (RFC 9113 §3.4).
    private var skippedByteCount = HTTPVersionChoice.preface.count
    /// The head of a frame, as far as it has come.
    private var head: [UInt8] = []

    /// The length of the payload, once the head has come.
    private var length: Int { head[..<3].reduce(0) { $0 << 8 | Int($1) } }
    /// The number of bytes of the head, with the length of the padding where DATA has any.
    private var headByteCount: Int {
        head.count >= 9 && head[3] == 0 && head[4] & 0x8 != 0 && length > 0 ? 10 : 9
    }

    /// Creates the budget of a new connection.
    init(now: NIODeadline) {
        frames = PeriodBudget(Self.count, now: now)
        resets = PeriodBudget(Self.resetCount, now: now)
        controls = PeriodBudget(Self.controlCount, now: now)
    }

    /// The number of frames that may still come.
    var left: Int { frames.left }

    /// Records a part of an answer's body as it was written, before the caller's windows cut it:
    /// their number is the caller's choice.
    mutating func wroteBody(byteCount: Int) {
        add(Self.countPerPart * max(1, (byteCount + 1_023) / 1_024))
    }

    private mutating func add(_ count: Int) { frames.left = min(left + count, Self.mostCount) }

    /// Counts the frames that begin in these bytes, the next ones of the connection. Returns false
    /// when they are too many.
    mutating func read(_ bytes: ByteBufferView, now: () -> NIODeadline) -> Bool {
        var rest = bytes
        while true {
            let skipped = min(skippedByteCount, rest.count)
            skippedByteCount -= skipped
            rest = rest.dropFirst(skipped)
            let part = rest.prefix(headByteCount - head.count)
            guard !part.isEmpty else { return true }
            head.append(contentsOf: part)
            rest = rest.dropFirst(part.count)
            guard head.count == headByteCount else { continue }
            let padding = head[9...]
            skippedByteCount = length - padding.count
            let isEmpty = skippedByteCount <= padding.reduce(0) { Int($1) }
            let type = head[3]
            head.removeAll(keepingCapacity: true)
            guard take(type, isEmpty: isEmpty, now: now) else { return false }
        }
    }

    private mutating func take(_ type: UInt8, isEmpty: Bool, now: () -> NIODeadline) -> Bool {
        switch type {
        case 0 where !isEmpty: return true  // DATA
        case 1:  // HEADERS
            add(Self.countPerPart)
            return true
        case 9: return true  // CONTINUATION, which NIO limits for each head
        case 3: guard resets.take(now: now) else { return false }  // RST_STREAM
        case 2, 4, 6, 10, 12: guard controls.take(now: now) else { return false }
        default: break
        }
        return frames.take(now: now)
    }
}

/// A number of events, and as many again when ``FrameBudget/period`` is over.
struct PeriodBudget {
    private let count: Int
    private var start: NIODeadline
    /// The number that may still come.
    var left: Int

    init(_ count: Int, now: NIODeadline) {
        self.count = count
        left = count
        start = now
    }

    /// Counts one. Returns false when none is left.
    mutating func take(now: () -> NIODeadline) -> Bool {
        let now = now()
        if now - start >= FrameBudget.period {
            start = now
            left = max(left, count)
        }
        guard left > 0 else { return false }
        left -= 1
        return true
    }
}

/// Ends the input of an HTTP/2 connection whose caller exceeds the ``FrameBudget``, with
/// ``Exceeded`` for ``HTTP2Guard``. It stands before NIO's handler, which passes few of these
/// frames on.
///
/// Confined to its channel's event loop.
final class FrameLimit: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The caller sends too many frames that carry no part of a request.
    struct Exceeded: Error {}

    private var budget = FrameBudget(now: .now())
    private var faults = PeriodBudget(FrameBudget.faultCount, now: .now())
    /// Whether the caller has exceeded a budget; what follows is discarded.
    private(set) var isExceeded = false

    /// Counts a fault of the caller that ended a stream. Returns false when they are too many.
    func permitsFault() -> Bool {
        if !faults.take(now: NIODeadline.now) { isExceeded = true }
        return !isExceeded
    }

    /// Records a part of an answer's body.
    func wroteBody(byteCount: Int) { budget.wroteBody(byteCount: byteCount) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isExceeded else { return }
        guard budget.read(unwrapInboundIn(data).readableBytesView, now: NIODeadline.now) else {
            isExceeded = true
            return context.fireErrorCaught(Exceeded())
        }
        context.fireChannelRead(data)
    }
}
