// SPDX-License-Identifier: Apache-2.0

internal import CHTTP2Shims
internal import Glibc
internal import PushTransport

/// Turns what the shims kept of an answer into the port's type.
///
/// Answers of one moment carry the same `date`, which is therefore made once. Confined to the
/// loop's thread.
struct AnswerReader {
    private var lastDate = ""

    /// Copies an answer that has a status.
    mutating func response(_ answer: CHTTP2Answer) -> WireResponse {
        // SAFETY: both pointers and lengths describe buffers of the stream, which is released only
        // after this copy.
        let fields = UnsafeRawBufferPointer(start: answer.headers, count: Int(answer.headersLength))
        let body = UnsafeRawBufferPointer(start: answer.body, count: Int(answer.bodyLength))
        return WireResponse(
            status: Int(answer.status), headers: headers(fields),
            body: body.isEmpty ? [] : Array(body))
    }

    private mutating func headers(_ bytes: UnsafeRawBufferPointer) -> [HeaderField] {
        var count = 0
        Self.forEachField(of: bytes) { _, _ in count += 1 }
        guard count > 0 else { return [] }
        var fields: [HeaderField] = []
        fields.reserveCapacity(count)
        Self.forEachField(of: bytes) { name, value in
            let name = Self.name(name)
            fields.append(HeaderField(name: name, value: text(value, of: name)))
        }
        return fields
    }

    /// Each field's name and value, as the shims' header lays them out.
    @inline(__always)
    private static func forEachField(
        of bytes: UnsafeRawBufferPointer,
        _ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void
    ) {
        var offset = 0
        while offset + 3 <= bytes.count {
            let nameStart = offset + 3
            let valueStart = nameStart + Int(bytes[offset])
            let valueLength = Int(bytes[offset + 1]) | Int(bytes[offset + 2]) << 8
            offset = valueStart + valueLength
            body(
                UnsafeRawBufferPointer(rebasing: bytes[nameStart..<valueStart]),
                UnsafeRawBufferPointer(rebasing: bytes[valueStart..<offset]))
        }
    }

    /// A name, without an allocation for those that APNs sends.
    private static func name(_ bytes: UnsafeRawBufferPointer) -> String {
        if bytes.hold("apns-id") { return "apns-id" }
        if bytes.hold("date") { return "date" }
        if bytes.hold("apns-unique-id") { return "apns-unique-id" }
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func text(_ bytes: UnsafeRawBufferPointer, of name: String) -> String {
        guard name == "date" else { return String(decoding: bytes, as: UTF8.self) }
        let isLast = lastDate.withUTF8 { bytes.hold(UnsafeRawBufferPointer($0)) }
        if !isLast { lastDate = String(decoding: bytes, as: UTF8.self) }
        return lastDate
    }
}

extension UnsafeRawBufferPointer {
    /// Whether these are the text's bytes.
    @inline(__always)
    fileprivate func hold(_ text: StaticString) -> Bool {
        hold(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Whether these are the same bytes. Not `elementsEqual`, which takes them one by one.
    @inline(__always)
    fileprivate func hold(_ other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let start = baseAddress, let otherStart = other.baseAddress else { return count == 0 }
        // SAFETY: both buffers have `count` bytes.
        return memcmp(start, otherStart, count) == 0
    }
}
