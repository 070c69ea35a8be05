// SPDX-License-Identifier: Apache-2.0

internal import CCurlShims
internal import PushTransport

extension WireResponse {
    /// Copies what the shim kept of an answer.
    init(_ report: CCurlReport) {
        // SAFETY: both pointers and lengths describe buffers inside the exchange, which lives until
        // after this copy.
        let lines = UnsafeRawBufferPointer(start: report.headers, count: report.headersLength)
        let body = UnsafeBufferPointer(start: report.body, count: report.bodyLength)
        self.init(
            status: Int(report.status), headers: HeaderField.fields(inLines: lines),
            body: body.isEmpty ? [] : Array(body))
    }
}

extension HeaderField {
    /// Reads lines of `name: value`, each ended by a line feed, white space around the values
    /// removed. A line without a colon is left out. Plain loops over bytes: this runs for every
    /// answer.
    static func fields(inLines bytes: UnsafeRawBufferPointer) -> [HeaderField] {
        var fields: [HeaderField] = []
        var start = 0
        while start < bytes.count {
            var end = start
            var colon = -1
            while end < bytes.count, bytes[end] != UInt8(ascii: "\n") {
                if colon < 0, bytes[end] == UInt8(ascii: ":") { colon = end }
                end += 1
            }
            if colon >= 0 {
                fields.append(
                    HeaderField(
                        name: lowercase(bytes[start..<colon]),
                        value: text(trimming: bytes[(colon + 1)..<end])))
            }
            start = end + 1
        }
        return fields
    }

    /// A field's name, in lower case already when it came over HTTP/2.
    private static func lowercase(_ name: Slice<UnsafeRawBufferPointer>) -> String {
        let text = String(decoding: UnsafeRawBufferPointer(rebasing: name), as: UTF8.self)
        let hasUpperCase = name.contains { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 }
        return hasUpperCase ? text.lowercased() : text
    }

    private static func text(trimming value: Slice<UnsafeRawBufferPointer>) -> String {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0d }
        var (first, last) = (value.startIndex, value.endIndex)
        while first < last, isSpace(value[first]) { first += 1 }
        while last > first, isSpace(value[last - 1]) { last -= 1 }
        return String(
            decoding: UnsafeRawBufferPointer(rebasing: value[first..<last]), as: UTF8.self)
    }
}
