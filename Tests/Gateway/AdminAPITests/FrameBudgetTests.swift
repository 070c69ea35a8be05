// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Testing

@testable import AdminAPI

@Suite("The budget for frames that carry no part of a request")
struct FrameBudgetTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000)

    /// The frames of which each costs one, and the number of them that a new connection may send.
    @Test("Each of these frames counts, in whatever pieces it comes", arguments: [1, 7, 4_096])
    func pieces(byteCount: Int) {
        let payload = Array(repeating: UInt8(1), count: 8)
        for type: UInt8 in [0, 2, 3, 4, 6, 7, 8, 0x10, 0xff] {
            var budget = FrameBudget(now: Self.start)
            let frame = HTTP2Caller.Frame(type: type, payload: type == 0 ? [] : payload)
            let one = HTTP2Caller.bytes(of: frame)
            var bytes = HTTPVersionChoice.preface
            for _ in 0..<FrameBudget.count { bytes += one }
            #expect(Self.read(bytes, by: byteCount, &budget), "\(type)")
            #expect(budget.left == 0, "\(type)")
            #expect(!Self.read(one, by: byteCount, &budget), "\(type)")
        }
    }

    @Test("Requests and answers add to it, bodies cost nothing, and time renews it")
    func renewal() {
        var budget = FrameBudget(now: Self.start)
        let ping = HTTP2Caller.bytes(of: HTTP2Caller.Frame(type: HTTP2Caller.Kind.ping))
        let head = HTTP2Caller.bytes(
            of: HTTP2Caller.Frame(type: HTTP2Caller.Kind.headers, stream: 1, payload: [0x82]))
        let body = HTTP2Caller.bytes(
            of: HTTP2Caller.Frame(type: HTTP2Caller.Kind.data, stream: 1, payload: [1, 2]))
        #expect(Self.read(HTTPVersionChoice.preface + head + body, by: 9, &budget))
        budget.wroteBody(byteCount: 1_025)
        #expect(budget.left == FrameBudget.count + 3 * FrameBudget.countPerPart)
        while budget.left > 0 { #expect(Self.read(ping, by: 9, &budget)) }
        let end = Self.start + FrameBudget.period
        #expect(!Self.read(ping, by: 9, &budget, at: end - .nanoseconds(1)))
        #expect(Self.read(ping, by: 9, &budget, at: end))
        #expect(budget.left == FrameBudget.count - 1)
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
