// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Testing

@testable import AdminAPI

@Suite("The budget for frames that carry no part of a request")
struct FrameBudgetTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000)

    /// The kinds of frames of which each costs one, and how many a new connection may send.
    private static let counts: [(type: UInt8, count: Int)] =
        [0, 7, 8, 0x10, 0xff].map { ($0, FrameBudget.count) } + [(3, FrameBudget.resetCount)]
        + [2, 4, 6, 10, 12].map { ($0, FrameBudget.controlCount) }

    @Test("Each of these frames counts, in whatever pieces it comes", arguments: [1, 7, 4_096])
    func pieces(byteCount: Int) {
        let payload = Array(repeating: UInt8(1), count: 8)
        for (type, count) in Self.counts {
            var budget = FrameBudget(now: Self.start)
            let frame = HTTP2Caller.Frame(type: type, payload: type == 0 ? [] : payload)
            let one = HTTP2Caller.bytes(of: frame)
            let bytes = HTTPVersionChoice.preface + repeatElement(one, count: count).joined()
            #expect(Self.read(bytes, by: byteCount, &budget), "\(type)")
            #expect(budget.left == FrameBudget.count - count, "\(type)")
            #expect(!Self.read(one, by: byteCount, &budget), "\(type)")
        }
    }

    @Test("A part of a body is empty if it has nothing but padding", arguments: [1, 7, 4_096])
    func padding(byteCount: Int) {
        var budget = FrameBudget(now: Self.start)
        for payload: [UInt8] in [[], [0], [2, 9, 9], [2, 9, 9, 9], [0, 9], [9, 9, 9]] {
            let frame = HTTP2Caller.Frame(
                type: HTTP2Caller.Kind.data, flags: 0x8, stream: 1, payload: payload)
            let start = budget.left == FrameBudget.count ? HTTPVersionChoice.preface : []
            #expect(Self.read(start + HTTP2Caller.bytes(of: frame), by: byteCount, &budget))
        }
        // The first and the last one are faults, for NIO.
        #expect(budget.left == FrameBudget.count - 4)
    }

    @Test("Requests and answers add to it, bodies cost nothing, and time renews it")
    func renewal() {
        var budget = FrameBudget(now: Self.start)
        let update = HTTP2Caller.bytes(of: HTTP2Caller.Frame(type: HTTP2Caller.Kind.window))
        let head = HTTP2Caller.bytes(
            of: HTTP2Caller.Frame(type: HTTP2Caller.Kind.headers, stream: 1, payload: [0x82]))
        let body = HTTP2Caller.bytes(
            of: HTTP2Caller.Frame(type: HTTP2Caller.Kind.data, stream: 1, payload: [1, 2]))
        #expect(Self.read(HTTPVersionChoice.preface + head + body, by: 9, &budget))
        budget.wroteBody(byteCount: 1_025)
        #expect(budget.left == FrameBudget.count + 3 * FrameBudget.countPerPart)
        while budget.left > 0 { #expect(Self.read(update, by: 9, &budget)) }
        let end = Self.start + FrameBudget.period
        #expect(!Self.read(update, by: 9, &budget, at: end - .nanoseconds(1)))
        #expect(Self.read(update, by: 9, &budget, at: end))
        #expect(budget.left == FrameBudget.count - 1)
    }

    @Test("Requests add to no limit of one kind, and time renews it")
    func kinds() {
        for (type, count) in Self.counts where count != FrameBudget.count || type == 3 {
            var budget = FrameBudget(now: Self.start)
            let one = HTTP2Caller.bytes(of: HTTP2Caller.Frame(type: type))
            let head = HTTP2Caller.bytes(
                of: HTTP2Caller.Frame(type: HTTP2Caller.Kind.headers, stream: 1, payload: [0x82]))
            let bytes = repeatElement(head + one, count: count).joined()
            #expect(Self.read(HTTPVersionChoice.preface + bytes, by: 9, &budget))
            let end = Self.start + FrameBudget.period
            #expect(!Self.read(one, by: 9, &budget, at: end - .nanoseconds(1)))
            #expect(Self.read(one, by: 9, &budget, at: end))
        }
    }

    @Test("What requests and answers add is bounded")
    func bound() {
        var budget = FrameBudget(now: Self.start)
        for _ in 0..<10_000 { budget.wroteBody(byteCount: 65_536) }
        #expect(budget.left == FrameBudget.mostCount)
    }

    /// Passes bytes in pieces. Returns whether the budget has room for them.
    private static func read(
        _ bytes: [UInt8], by count: Int, _ budget: inout FrameBudget, at now: NIODeadline = start
    ) -> Bool {
        stride(from: 0, to: bytes.count, by: count).allSatisfy { offset in
            let piece = ByteBuffer(bytes: bytes[offset..<min(offset + count, bytes.count)])
            return budget.read(piece.readableBytesView, now: { now })
        }
    }
}
