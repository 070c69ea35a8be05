// SPDX-License-Identifier: Apache-2.0

/// The state of an HTTP CONNECT request (RFC 9110 §9.3.6): what is left to write, and what was
/// read.
struct ProxyTunnel {
    /// The largest head of an answer that is read.
    static let maximumHeadBytes = 16_384

    /// What is still to be written.
    private(set) var outbound: ArraySlice<UInt8>
    private var head: [UInt8] = []

    /// A request for a tunnel to `authority`, which is `host:port`.
    init(to authority: String, credentials: String?, userAgent: String) {
        var text = "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n"
        if let credentials {
            text += "Proxy-Authorization: Basic \(Self.base64(Array(credentials.utf8)))\r\n"
        }
        text += "User-Agent: \(userAgent)\r\n\r\n"
        outbound = Array(text.utf8)[...]
    }

    /// Records that bytes were written.
    mutating func didWrite(_ count: Int) { outbound = outbound.dropFirst(count) }

    /// The state of the proxy's answer.
    enum Verdict: Hashable {
        /// More is needed.
        case incomplete
        /// The tunnel is open; TLS comes next.
        case open
        /// Refused, or not HTTP, with a message that contains no secret.
        case refused(String)
    }

    /// Reads bytes.
    mutating func didRead(_ bytes: some Sequence<UInt8>) -> Verdict {
        head.append(contentsOf: bytes)
        guard let end = head.firstRange(of: Array("\r\n\r\n".utf8)) else {
            return head.count > Self.maximumHeadBytes
                ? .refused("the proxy's answer does not end") : .incomplete
        }
        guard let status = Self.status(head) else {
            return .refused("the proxy's answer is not HTTP")
        }
        guard (200..<300).contains(status) else {
            return .refused("the proxy answered CONNECT with \(status)")
        }
        // In TLS the client sends first.
        return end.upperBound == head.endIndex
            ? .open : .refused("the proxy sent more than an answer to CONNECT")
    }

    /// The status in `HTTP/1.1 200 …`.
    private static func status(_ head: [UInt8]) -> Int? {
        guard head.starts(with: Array("HTTP/1.".utf8)), head.count >= 12,
            head[8] == UInt8(ascii: " ")
        else { return nil }
        let digits = head[9..<12]
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// RFC 4648 §4.
    static func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let value = (0..<3).reduce(0) { value, place in
                value << 8 | (place < group.count ? Int(group[start + place]) : 0)
            }
            for place in 0..<4 {
                let digit = alphabet[(value >> (18 - 6 * place)) & 0x3f]
                text.append(place <= group.count ? digit : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
