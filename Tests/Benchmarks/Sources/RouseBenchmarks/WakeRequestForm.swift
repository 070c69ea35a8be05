// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// A request with places for device tokens, and how its answer must look.
struct WakeRequestForm {
    let request: [UInt8]
    /// Where the tokens stand in it.
    let tokenPlaces: [Int]
    /// The body of a request for one wake, and where its token stands in it.
    let body: (bytes: [UInt8], tokenPlace: Int)
    private let batch: Int

    private static let itemStatus = Array(#""status":202"#.utf8)

    init(_ load: HTTPLoad) {
        batch = load.batch
        let start = #"{"kind":"background","device_token":""#
        let payload = String(decoding: Sample.payload, as: UTF8.self)
        let end = #"","app":"\#(Sample.bundleID)","payload":\#(payload)}"#
        let token = String(repeating: "0", count: DeviceTokenTexts.length)
        let wake = start + token + end
        let isBatch = load.batch > 1
        let wakes = Array(repeating: wake, count: load.batch).joined(separator: ",")
        let body = isBatch ? "[\(wakes)]" : wakes
        let head =
            "POST /v1/wakes\(isBatch ? "/batch" : "") HTTP/1.1\r\n\(Self.fields(load))"
            + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        request = Array((head + body).utf8)
        self.body = (Array(wake.utf8), start.utf8.count)
        let first = head.utf8.count + (isBatch ? 1 : 0) + start.utf8.count
        tokenPlaces = (0..<load.batch).map { first + $0 * (wake.utf8.count + 1) }
    }

    /// The header fields of every request.
    static func fields(_ load: HTTPLoad) -> String {
        "Host: 127.0.0.1:\(load.port)\r\nAuthorization: Bearer \(load.key)\r\n"
    }

    /// Throws for an answer that does not say of every wake that it is accepted.
    func check(_ answer: HTTPConnection.Answer) throws {
        let isRight =
            batch == 1
            ? answer.status == 202
            : answer.status == 200 && Self.count(of: Self.itemStatus, in: answer.body) == batch
        guard isRight else {
            let text = String(decoding: answer.body.prefix(500), as: UTF8.self)
            throw ChildProcess.Failure(
                description: "the gateway did not accept: \(answer.status) \(text)")
        }
    }

    private static func count(of word: [UInt8], in text: [UInt8]) -> Int {
        var count = 0
        var rest = text[...]
        while let start = rest.firstIndex(of: word[0]) {
            rest = rest[start...]
            if rest.starts(with: word) { count += 1 }
            rest = rest.dropFirst()
        }
        return count
    }
}

/// Device tokens in hexadecimal, made before the time is taken.
struct DeviceTokenTexts {
    /// The digits of one.
    static let length = 64

    private var digits: [UInt8] = []

    init(first: Int, count: Int) throws {
        digits.reserveCapacity(count * Self.length)
        for number in first..<first + count {
            digits += try GatewayTask.deviceToken(number).hex.utf8
        }
    }

    /// The token with this place among them.
    subscript(index: Int) -> ArraySlice<UInt8> {
        digits[index * Self.length..<(index + 1) * Self.length]
    }
}
