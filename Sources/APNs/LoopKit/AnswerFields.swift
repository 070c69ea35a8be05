// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import PushTransport
internal import WakeModel

/// Reads the header fields of answers in place, and copies those that a push client reads.
///
/// Consecutive answers have the same `date`, so its string is made once. Confined to its loop's
/// thread.
package struct AnswerFields {
    private var lastDate = ""
    private var apnsID: APNsID?
    private var apnsUniqueID: String?
    private var date: String?
    private var broadcastFields: [HeaderField] = []

    /// Creates a reader without fields.
    package init() {}

    /// Keeps the field's value for the answer that is being read, if it is one of those. `name` is
    /// in lower case, as HTTP/2 has it (RFC 9113 §8.2.1), and `value` without surrounding white
    /// space.
    package mutating func read(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        if name.holds("apns-id") {
            apnsID = APNsID(utf8: value)
        } else if name.holds("date") {
            date = date(value)
        } else if name.holds("apns-unique-id") {
            apnsUniqueID = String(decoding: value, as: UTF8.self)
        } else if name.holds("apns-request-id") || name.holds("apns-channel-id") {
            broadcastFields.append(
                HeaderField(
                    name: String(decoding: name, as: UTF8.self),
                    value: String(decoding: value, as: UTF8.self)))
        }
    }

    /// The answer with the fields that were read since the last one.
    package mutating func response(status: Int, body: [UInt8]) -> WireResponse {
        defer { if !broadcastFields.isEmpty { broadcastFields = [] } }
        return WireResponse(
            status: status, apnsID: apnsID.take(), apnsUniqueID: apnsUniqueID.take(),
            date: date.take(), broadcastFields: broadcastFields, body: body)
    }

    private mutating func date(_ bytes: UnsafeRawBufferPointer) -> String {
        let isLast = lastDate.withUTF8 { bytes.holds(UnsafeRawBufferPointer($0)) }
        if !isLast { lastDate = String(decoding: bytes, as: UTF8.self) }
        return lastDate
    }
}

extension UnsafeRawBufferPointer {
    /// Whether these are the text's bytes.
    @inline(__always)
    fileprivate func holds(_ text: StaticString) -> Bool {
        holds(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Whether these are the same bytes. Not `elementsEqual`, which compares them one by one.
    @inline(__always)
    fileprivate func holds(_ other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let start = baseAddress, let otherStart = other.baseAddress else { return count == 0 }
        // SAFETY: both buffers have `count` bytes.
        return memcmp(start, otherStart, count) == 0
    }
}
