// SPDX-License-Identifier: Apache-2.0

internal import CHTTP2Shims
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
        var fields: [HeaderField] = []
        var offset = 0
        while offset + 3 <= bytes.count {
            let nameStart = offset + 3
            let valueStart = nameStart + Int(bytes[offset])
            let valueLength = Int(bytes[offset + 1]) | Int(bytes[offset + 2]) << 8
            offset = valueStart + valueLength
            let name = Self.name(UnsafeRawBufferPointer(rebasing: bytes[nameStart..<valueStart]))
            let value = UnsafeRawBufferPointer(rebasing: bytes[valueStart..<offset])
            fields.append(HeaderField(name: name, value: text(value, of: name)))
        }
        return fields
    }

    /// A name, without an allocation for those that APNs sends.
    private static func name(_ bytes: UnsafeRawBufferPointer) -> String {
        for known in ["apns-id", "date", "apns-unique-id"] as [StaticString]
        where known.utf8CodeUnitCount == bytes.count
            && bytes.elementsEqual(
                UnsafeRawBufferPointer(start: known.utf8Start, count: bytes.count))
        {
            return known.description
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func text(_ bytes: UnsafeRawBufferPointer, of name: String) -> String {
        guard name == "date" else { return String(decoding: bytes, as: UTF8.self) }
        if !lastDate.utf8.elementsEqual(bytes) { lastDate = String(decoding: bytes, as: UTF8.self) }
        return lastDate
    }
}
