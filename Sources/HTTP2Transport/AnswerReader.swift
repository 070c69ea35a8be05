// SPDX-License-Identifier: Apache-2.0

internal import CHTTP2Shims
internal import LoopKit
internal import PushTransport

/// Turns what the shims kept of an answer into the port's type. Confined to the loop's thread.
///
/// A class, so that a loop that has it as a constant touches it without checks while it runs.
final class AnswerReader {
    private var fields = AnswerFields()

    /// Copies an answer that has a status.
    func response(_ answer: CHTTP2Answer) -> WireResponse {
        // SAFETY: both pointers and lengths describe buffers of the stream, which is released only
        // after this copy.
        let head = UnsafeRawBufferPointer(start: answer.headers, count: Int(answer.headersLength))
        let body = UnsafeRawBufferPointer(start: answer.body, count: Int(answer.bodyLength))
        return Self.response(
            status: Int(answer.status), head: head, body: body.isEmpty ? [] : Array(body),
            with: &fields)
    }

    /// Apart from the object: there, each touch of `fields` would be checked against overlapping
    /// ones while the program runs.
    private static func response(
        status: Int, head: UnsafeRawBufferPointer, body: [UInt8], with fields: inout AnswerFields
    ) -> WireResponse {
        read(head, into: &fields)
        return fields.response(status: status, body: body)
    }

    /// Each field's name and value, as the shims' header lays them out.
    private static func read(_ bytes: UnsafeRawBufferPointer, into fields: inout AnswerFields) {
        var offset = 0
        while offset + 3 <= bytes.count {
            let nameStart = offset + 3
            let valueStart = nameStart + Int(bytes[offset])
            let valueLength = Int(bytes[offset + 1]) | Int(bytes[offset + 2]) << 8
            offset = valueStart + valueLength
            fields.read(
                UnsafeRawBufferPointer(rebasing: bytes[nameStart..<valueStart]),
                UnsafeRawBufferPointer(rebasing: bytes[valueStart..<offset]))
        }
    }
}
