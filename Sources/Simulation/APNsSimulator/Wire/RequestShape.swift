// SPDX-License-Identifier: Apache-2.0

import NIOHPACK

/// The proof that a header block is a well-formed request (RFC 9113 §8.2 and §8.3).
struct RequestShape {
    /// The value of `content-length`, when there is one.
    private(set) var contentLength: Int?

    /// `nil` for a malformed request: an upper-case name, a header that belongs to HTTP/1.1, a
    /// pseudo-header that is unknown, doubled, missing or late, an empty `:path`, or a
    /// `content-length` that is no number.
    init?(_ fields: HPACKHeaders) {
        var seen: Pseudo = []
        var hasRegular = false
        for (name, value, _) in fields {
            if name.utf8.first == UInt8(ascii: ":") {
                guard !hasRegular, let pseudo = Pseudo(name: name),
                    seen.insert(pseudo).inserted
                else { return nil }
                if pseudo == .path, value.isEmpty { return nil }
                continue
            }
            hasRegular = true
            guard Self.isLowerCase(name), !Self.forbidden.contains(name),
                name != "te" || value == "trailers"
            else { return nil }
            if name == "content-length" {
                guard let length = Int(value), length >= 0 else { return nil }
                contentLength = length
            }
        }
        guard seen.isSuperset(of: [.method, .scheme, .path]) else { return nil }
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

    private static func isLowerCase(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy {
                $0 > 0x20 && $0 < 0x7f
                    && !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
            }
    }
}
