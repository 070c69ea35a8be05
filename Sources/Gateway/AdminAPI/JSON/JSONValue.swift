// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import NIOCore
import StrictJSON

/// A JSON value to be written. Members keep their order, so that the output is deterministic;
/// members whose value is `nil` are omitted.
enum JSONValue: Sendable {
    case string(String)
    case integer(Int64)
    /// A number that may have a fraction; must be finite.
    case number(Double)
    case boolean(Bool)
    case null
    /// JSON text, written verbatim.
    case raw([UInt8])
    case array([JSONValue])
    case object([(String, JSONValue?)])

    /// The JSON text in UTF-8, without white space.
    var bytes: [UInt8] {
        if case .raw(let text) = self { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512)
        append(to: &bytes)
        return bytes
    }

    /// Appends the JSON text.
    func append(to bytes: inout [UInt8]) {
        switch self {
        case .string(let text): Self.append(text, to: &bytes)
        case .integer(let number): bytes.append(contentsOf: String(number).utf8)
        case .number(let number): bytes.append(contentsOf: "\(number)".utf8)
        case .raw(let text): bytes.append(contentsOf: text)
        case .null: bytes.append(contentsOf: "null".utf8)
        case .boolean(let truth): bytes.append(contentsOf: (truth ? "true" : "false").utf8)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            var isFirst = true
            for (name, value) in members {
                guard let value else { continue }
                if !isFirst { bytes.append(UInt8(ascii: ",")) }
                isFirst = false
                Self.append(name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        if JSONText.isPlain(text) {
            bytes.append(contentsOf: text.utf8)
        } else {
            appendEscaped(text, to: &bytes)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func appendEscaped(_ text: String, to bytes: inout [UInt8]) {
        let digits = Array("0123456789abcdef".utf8)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0..<0x20:
                bytes.append(contentsOf: "\\u00".utf8)
                bytes.append(digits[Int(byte >> 4)])
                bytes.append(digits[Int(byte & 0xf)])
            default: bytes.append(byte)
            }
        }
    }
}

extension JSONValue {
    /// The media type of all answers except problems.
    static let mediaType = "application/json"

    /// Returns the HTTP response with this JSON.
    func response(
        status: HTTPResponse.Status, mediaType: String = Self.mediaType,
        headers: HTTPFields = HTTPFields()
    ) -> Response {
        buffered(status: status, mediaType: mediaType, headers: headers).response
    }

    /// Returns the HTTP response with this JSON, as text.
    func buffered(
        status: HTTPResponse.Status, mediaType: String = Self.mediaType,
        headers: HTTPFields = HTTPFields()
    ) -> BufferedResponse {
        var response = BufferedResponse(
            status: status, headers: headers, body: ByteBuffer(bytes: bytes))
        response.headers[.contentType] = mediaType
        return response
    }
}

/// A response whose whole body is in memory.
struct BufferedResponse: Sendable {
    let status: HTTPResponse.Status
    var headers: HTTPFields
    let body: ByteBuffer

    /// The head, with the length of the body.
    var head: HTTPResponse {
        var head = HTTPResponse(status: status, headerFields: headers)
        head.headerFields[.contentLength] = String(body.readableBytes)
        return head
    }

    /// The same for Hummingbird.
    var response: Response {
        Response(status: status, headers: headers, body: ResponseBody(byteBuffer: body))
    }
}
