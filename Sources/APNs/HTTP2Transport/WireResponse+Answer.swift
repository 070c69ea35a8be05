// SPDX-License-Identifier: Apache-2.0

internal import CHTTP2Shims
internal import LoopKit
internal import PushTransport

extension AnswerFields {
    /// Creates an answer from what the shims stored of it; it must have a status.
    mutating func response(_ answer: CHTTP2Answer) -> WireResponse {
        // SAFETY: both pointers and lengths describe buffers of the stream, which is released only
        // after this copy.
        let head = UnsafeRawBufferPointer(start: answer.headers, count: Int(answer.headersLength))
        let body = UnsafeRawBufferPointer(start: answer.body, count: Int(answer.bodyLength))
        read(head)
        return response(status: Int(answer.status), body: body.isEmpty ? [] : Array(body))
    }

    /// Each field's name and value, as the shims' header lays them out.
    private mutating func read(_ bytes: UnsafeRawBufferPointer) {
        var offset = 0
        while offset + 3 <= bytes.count {
            let nameStart = offset + 3
            let valueStart = nameStart + Int(bytes[offset])
            let valueLength = Int(bytes[offset + 1]) | Int(bytes[offset + 2]) << 8
            offset = valueStart + valueLength
            read(
                UnsafeRawBufferPointer(rebasing: bytes[nameStart..<valueStart]),
                UnsafeRawBufferPointer(rebasing: bytes[valueStart..<offset]))
        }
    }
}
