// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// A head of a request that two programs could read differently.
struct FramingFault: Error {
    /// The fault, as a sentence.
    let message: String
    /// Whether it is a `HEAD` request.
    var isHeadOnly = false

    init(_ message: String) { self.message = message }
}

/// Refuses requests that NIO's parser accepts and that a reverse proxy could read differently: such
/// differences allow request smuggling past the proxy's rules (RFC 9112 §11.2). Alternative forms
/// are normalised: the absolute form of the target becomes a path and `Host`.
///
/// A caller of HTTP/1.0 gets an answer without chunks, which it does not support, and then its
/// connection ends.
///
/// Confined to its channel's event loop.
final class FramingCheck: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Whether a request was refused: what follows it is not read.
    private var isOver = false
    /// Whether the caller uses HTTP/1.0, by its first request; `nil` before that.
    private var isOld: Bool?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        guard case .head(var head) = unwrapInboundIn(data) else {
            return context.fireChannelRead(data)
        }
        do throws(FramingFault) {
            try Self.check(&head)
        } catch {
            isOver = true
            var fault = error
            fault.isHeadOnly = head.method == .HEAD
            return context.fireErrorCaught(fault)
        }
        if isOld == nil { isOld = head.version == .http1_0 }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    func write(
        context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
    ) {
        // NIO sends an answer of HTTP/1.0 without chunks; it ends with the connection.
        guard isOld == true, case .head(var head) = unwrapOutboundIn(data),
            !head.headers.contains(name: "content-length")
        else { return context.write(data, promise: promise) }
        head.version = .http1_0
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    /// Checks a head, and normalises its target and `Host`.
    static func check(_ head: inout HTTPRequestHead) throws(FramingFault) {
        let isOld = head.version == .http1_0
        guard isOld || head.version == .http1_1 else {
            throw FramingFault("The version is neither HTTP/1.1 nor HTTP/1.0.")
        }
        try checkLength(head.headers, isOld: isOld)
        try checkTarget(&head)
        let hosts = head.headers["host"]
        guard hosts.count == 1 || isOld && hosts.isEmpty else {
            throw FramingFault(
                hosts.isEmpty
                    ? "The header field Host is missing. Send it once."
                    : "Duplicate header field Host. Send it once.")
        }
        if let host = hosts.first, !isHost(host) {
            throw FramingFault("The header field Host is not a host, with a port if need be.")
        }
        // A caller of HTTP/1.0 does not support interim answers (RFC 9110 §10.1.1).
        if isOld {
            head.headers.remove(name: "expect")
            head.headers.replaceOrAdd(name: "connection", value: "close")
        }
    }

    /// The length of the body must be given once, in a way that all versions of HTTP/1 support.
    private static func checkLength(
        _ headers: HTTPHeaders, isOld: Bool
    ) throws(FramingFault) {
        let lengths = headers["content-length"]
        let codings = headers["transfer-encoding"]
        guard lengths.count <= 1 else {
            throw FramingFault("Duplicate header field Content-Length. Send it once.")
        }
        if let length = lengths.first {
            let isNumber = length.utf8.allSatisfy {
                $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9")
            }
            guard isNumber, Int(length) != nil else {
                throw FramingFault("The header field Content-Length is not a number of bytes.")
            }
        }
        guard !codings.isEmpty else { return }
        guard !isOld else {
            throw FramingFault("HTTP/1.0 has no Transfer-Encoding. Send Content-Length.")
        }
        guard lengths.isEmpty else {
            throw FramingFault("Content-Length is beside Transfer-Encoding. Send one of them.")
        }
        guard codings.count == 1, codings[0].lowercased() == "chunked" else {
            throw FramingFault("The only Transfer-Encoding that is read is chunked, once.")
        }
    }

    private static func checkTarget(_ head: inout HTTPRequestHead) throws(FramingFault) {
        var target = head.uri[...]
        // Nearly all targets are paths.
        let schemes = target.utf8.first == UInt8(ascii: "/") ? [] : ["http://", "https://"]
        for scheme in schemes
        where target.utf8.count >= scheme.utf8.count
            && target.prefix(scheme.utf8.count).lowercased() == scheme
        {
            // The authority of the target takes precedence over Host (RFC 9112 §3.2.2).
            target = target.dropFirst(scheme.utf8.count)
            let end = target.firstIndex { $0 == "/" || $0 == "?" } ?? target.endIndex
            let host = String(target[..<end])
            let rest = target[end...]
            guard head.headers["host"].count <= 1 else { break }
            head.headers.replaceOrAdd(name: "host", value: host)
            head.uri = rest.hasPrefix("/") ? String(rest) : "/" + rest
            target = head.uri[...]
            break
        }
        try checkTarget(target, isOfOptions: head.method == .OPTIONS)
    }

    /// Checks a target without a scheme: a path, with a query or without, or `*` of `OPTIONS`.
    static func checkTarget(
        _ target: Substring, isOfOptions: Bool
    ) throws(FramingFault) {
        if target == "*", isOfOptions { return }
        guard target.hasPrefix("/") else {
            throw FramingFault("The target of the request is no path.")
        }
        var last: UInt8 = 0
        var isPath = true
        for byte in target.utf8 {
            guard byte > 0x20, byte < 0x7f, byte != UInt8(ascii: "#") else {
                throw FramingFault("The target has a character that has to be percent-encoded.")
            }
            if byte == UInt8(ascii: "?") { isPath = false }
            guard !(isPath && byte == UInt8(ascii: "/") && last == byte) else {
                throw FramingFault("The path has two slashes in a row. Write one.")
            }
            last = byte
        }
    }

    /// Whether a text is a host name or address, with a port or without (RFC 9110 §7.2).
    static func isHost(_ text: String) -> Bool {
        var host = text[...]
        if host.hasPrefix("[") {
            guard let end = host.firstIndex(of: "]") else { return false }
            let inside = host[host.index(after: host.startIndex)..<end]
            guard !inside.isEmpty,
                inside.utf8.allSatisfy({ isHexadecimal($0) || $0 == 0x3a || $0 == 0x2e })
            else { return false }
            return isPort(host[host.index(after: end)...])
        }
        let colon = host.firstIndex(of: ":") ?? host.endIndex
        let port = host[colon...]
        host = host[..<colon]
        guard !host.isEmpty, isPort(port) else { return false }
        return host.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "%"), UInt8(ascii: "!"),
                UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("),
                UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ","),
                UInt8(ascii: ";"), UInt8(ascii: "="):
                true
            default: false
            }
        }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    /// Whether a text is empty, or a colon with an optional port.
    private static func isPort(_ text: Substring) -> Bool {
        guard text.hasPrefix(":") else { return text.isEmpty }
        let digits = text.dropFirst()
        return digits.isEmpty
            || digits.utf8.count <= 5
                && digits.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
                && UInt16(digits) != nil
    }
}
