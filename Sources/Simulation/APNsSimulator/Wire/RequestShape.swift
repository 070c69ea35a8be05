// SPDX-License-Identifier: Apache-2.0

import NIOHPACK

/// The proof that a header block is a well-formed request (RFC 9113 §8.2 and §8.3).
struct RequestShape {
    /// The value of `content-length`, when there is one.
    private(set) var contentLength: Int?

    /// `nil` for a malformed request: an upper-case name, a value with a line's end or with white
    /// space around it, a header that belongs to HTTP/1.1, a pseudo-header that is unknown,
    /// doubled, missing or late, an empty `:path`, or a `content-length` that is no number.
    init?(_ fields: HPACKHeaders) {
        var seen: Pseudo = []
        var hasRegular = false
        for (name, value, _) in fields {
            if Self.isPseudo(name) {
                guard !hasRegular, Self.isClean(value), let pseudo = Pseudo(name: name),
                    seen.insert(pseudo).inserted
                else { return nil }
                if pseudo == .path, value.isEmpty { return nil }
                continue
            }
            hasRegular = true
            guard Self.isField(name, value) else { return nil }
            if name == "content-length" {
                // `Int` would take a sign, of which RFC 9110 §8.6 knows nothing.
                guard value.utf8.first != UInt8(ascii: "+"), let length = Int(value), length >= 0
                else { return nil }
                contentLength = length
            }
        }
        guard seen.isSuperset(of: [.method, .scheme, .path]) else { return nil }
    }

    /// Whether these may end a request (RFC 9113 §8.1).
    static func isTrailers(_ fields: HPACKHeaders) -> Bool {
        fields.allSatisfy { name, value, _ in !isPseudo(name) && isField(name, value) }
    }

    /// The pseudo-headers of a request.
    private struct Pseudo: OptionSet {
        let rawValue: UInt8

        static let method = Pseudo(rawValue: 1)
        static let scheme = Pseudo(rawValue: 2)
        static let path = Pseudo(rawValue: 4)
        static let authority = Pseudo(rawValue: 8)

        init(rawValue: UInt8) { self.rawValue = rawValue }

        init?(name: String) {
            switch name {
            case ":method": self = .method
            case ":scheme": self = .scheme
            case ":path": self = .path
            case ":authority": self = .authority
            default: return nil
            }
        }
    }

    private static let forbidden: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade",
    ]

    private static func isPseudo(_ name: String) -> Bool { name.utf8.first == UInt8(ascii: ":") }

    private static func isField(_ name: String, _ value: String) -> Bool {
        isLowerCase(name) && isClean(value) && !forbidden.contains(name)
            && (name != "te" || value == "trailers")
    }

    /// Whether a value keeps to RFC 9113 §8.2.1: no zero byte, no line's end, and no white space
    /// at its beginning or end.
    private static func isClean(_ value: String) -> Bool {
        let isSpace = { (byte: UInt8?) in byte == 0x20 || byte == 0x09 }
        return !isSpace(value.utf8.first) && !isSpace(value.utf8.last)
            && value.utf8.allSatisfy { $0 != 0 && $0 != 0x0a && $0 != 0x0d }
    }

    private static func isLowerCase(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy {
                $0 > 0x20 && $0 < 0x7f
                    && !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
            }
    }
}
