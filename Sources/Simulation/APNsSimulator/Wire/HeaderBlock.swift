// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// An answer in the form in which it is sent.
struct WireResponse: Hashable, Sendable {
    var status: Int
    /// The value of `apns-id`; `nil` in the broadcast API.
    var apnsID: String?
    /// The value of `apns-request-id`, in the broadcast API alone.
    var requestID: String?
    /// The value of `apns-channel-id`, when a channel was made.
    var channelID: String?
    /// Only on answers of the development environment.
    var apnsUniqueID: String?
    /// The value of `date`, `nil` for none.
    var date: String?
    /// Empty for 200.
    var body: [UInt8] = []
}

/// Header blocks of answers in HPACK without any state: indexed where the static table has the
/// entry, literal without indexing everywhere else (RFC 7541). It costs a few bytes more than a
/// stateful encoder and next to no time.
enum HeaderBlock {
    /// "Dynamic table size update: 0" (RFC 7541 §6.3).
    static let emptyTable: UInt8 = 0x20

    /// Writes `:status` and the `apns-…` headers of an answer.
    static func write(_ response: WireResponse, to buffer: inout ByteBuffer) {
        write(status: response.status, to: &buffer)
        if let id = response.apnsID { write("apns-id", id, to: &buffer) }
        if let id = response.requestID { write("apns-request-id", id, to: &buffer) }
        if let id = response.channelID { write("apns-channel-id", id, to: &buffer) }
        if let id = response.apnsUniqueID { write("apns-unique-id", id, to: &buffer) }
        if let date = response.date { write("date", date, to: &buffer) }
    }

    static func write(status: Int, to buffer: inout ByteBuffer) {
        switch status {
        case 200: buffer.writeInteger(0x88 as UInt8)
        case 400: buffer.writeInteger(0x8c as UInt8)
        case 404: buffer.writeInteger(0x8d as UInt8)
        case 500: buffer.writeInteger(0x8e as UInt8)
        default:
            buffer.writeInteger(0x08 as UInt8)  // Literal, with the name of static entry 8.
            writeText(String(status), to: &buffer)
        }
    }

    private static func write(_ name: String, _ value: String, to buffer: inout ByteBuffer) {
        buffer.writeInteger(0x00 as UInt8)  // Literal without indexing, new name.
        writeText(name, to: &buffer)
        writeText(value, to: &buffer)
    }

    /// A string without Huffman coding; its length is an integer with a 7-bit prefix.
    private static func writeText(_ text: String, to buffer: inout ByteBuffer) {
        var rest = text.utf8.count
        if rest < 0x7f {
            buffer.writeInteger(UInt8(rest))
        } else {
            buffer.writeInteger(0x7f as UInt8)
            rest -= 0x7f
            while rest >= 0x80 {
                buffer.writeInteger(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            buffer.writeInteger(UInt8(rest))
        }
        buffer.writeString(text)
    }
}
