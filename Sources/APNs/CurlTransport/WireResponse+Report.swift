// SPDX-License-Identifier: Apache-2.0

internal import CCurlShims
internal import LoopKit
internal import PushTransport

extension CCurlReport {
    /// Whether the header block of a final answer came whole and right, and nothing was left out of
    /// its body.
    var isAnswer: Bool {
        status >= 200 && httpVersion == 2 && responseHeadersEnded && !responseTooLarge
            && !responseMalformed
    }
}

extension AnswerFields {
    /// Copies what the shim kept of an answer.
    mutating func response(_ report: CCurlReport) -> WireResponse {
        // SAFETY: both pointers and lengths describe buffers inside the exchange, which lives until
        // after this copy.
        let lines = UnsafeRawBufferPointer(start: report.headers, count: report.headersLength)
        let body = UnsafeBufferPointer(start: report.body, count: report.bodyLength)
        read(lines)
        return response(status: Int(report.status), body: body.isEmpty ? [] : Array(body))
    }

    /// Reads lines of `name: value`, each ended by a line feed. A line without a colon is left out.
    /// Plain loops over bytes: this runs for every answer.
    private mutating func read(_ lines: UnsafeRawBufferPointer) {
        var start = 0
        while start < lines.count {
            var end = start
            var colon = -1
            while end < lines.count, lines[end] != UInt8(ascii: "\n") {
                if colon < 0, lines[end] == UInt8(ascii: ":") { colon = end }
                end += 1
            }
            if colon >= 0 {
                read(
                    UnsafeRawBufferPointer(rebasing: lines[start..<colon]),
                    Self.trimmed(lines[(colon + 1)..<end]))
            }
            start = end + 1
        }
    }

    private static func trimmed(
        _ value: Slice<UnsafeRawBufferPointer>
    ) -> UnsafeRawBufferPointer {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0d }
        var (first, last) = (value.startIndex, value.endIndex)
        while first < last, isSpace(value[first]) { first += 1 }
        while last > first, isSpace(value[last - 1]) { last -= 1 }
        return UnsafeRawBufferPointer(rebasing: value[first..<last])
    }
}
