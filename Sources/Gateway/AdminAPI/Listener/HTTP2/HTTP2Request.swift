// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOCore
import NIOHPACK

/// A request over HTTP/2 that has not ended in both directions.
struct HTTP2Request {
    /// Who receives the request.
    enum Receiver {
        /// The router, by the stream's channel.
        case router
        /// The guard, which answers it when the body is complete.
        case direct(DirectRoute.PlainRequest)
        /// Nobody: it is answered, or is being answered by the guard.
        case nobody
    }

    /// How much of the answer was written.
    enum Answer: Equatable {
        case none
        case begun
        /// All of it, but parts may wait until the caller takes them.
        case ended
        /// All of it, and the caller's window took it, but the request goes on.
        case taken(at: NIODeadline)
    }

    var receiver = Receiver.router
    var answer = Answer.none
    /// Whether the request has not ended.
    var isReading = true
    /// Whether the answer has no body.
    var isOfHead = false
    /// The bytes of the body that are counted against the memory of the connection.
    var heldByteCount = 0
    /// Whether it is counted among the requests over HTTP/2.
    var isCounted = false
    /// The bytes of the answer's body that wait until the caller takes them.
    private(set) var untakenByteCount = 0

    /// When the answer was last written or taken in part.
    private var lastMove: NIODeadline
    private var start: NIODeadline
    private var byteCount = 0
    /// How many bytes the caller may send before it has to wait for the router.
    private var window = 65_535
    /// Since when it has to wait: that is not the caller's time.
    private var pauseStart: NIODeadline?

    init(now: NIODeadline) {
        start = now
        lastMove = now
    }

    /// Whether the whole answer was written.
    var isAnswered: Bool {
        switch answer {
        case .none, .begun: false
        case .ended, .taken: true
        }
    }

    /// Records bytes of the body.
    mutating func received(_ count: Int, at now: NIODeadline) {
        byteCount += count
        window -= count
        if window <= 0, pauseStart == nil { pauseStart = now }
    }

    /// Records that the caller may send more.
    mutating func granted(_ count: Int, at now: NIODeadline) {
        window += count
        guard window > 0, let pauseStart else { return }
        start = start + (now - pauseStart)
        self.pauseStart = nil
    }

    /// Whether the body takes the caller too long.
    func isLate(at now: NIODeadline, _ limits: AdminConfiguration) -> Bool {
        guard isReading, answer == .none, pauseStart == nil else { return false }
        let seconds = limits.bodySeconds + byteCount / limits.bodyBytesPerSecond
        return start + .seconds(Int64(seconds)) <= now
    }

    /// Records that a part of the answer's body was written.
    mutating func wrote(_ count: Int, at now: NIODeadline) {
        if untakenByteCount == 0 { lastMove = now }
        untakenByteCount += count
    }

    /// Records that the caller's window took a part of the answer's body, or the end of it.
    mutating func took(_ count: Int, isLast: Bool, at now: NIODeadline) {
        untakenByteCount -= count
        lastMove = now
        if isLast { answer = .taken(at: now) }
    }

    /// Whether the caller has taken nothing of the answer for too long.
    func isStalled(at now: NIODeadline, _ limits: AdminConfiguration) -> Bool {
        (untakenByteCount > 0 || answer == .ended)
            && lastMove + .seconds(Int64(limits.stallSeconds)) <= now
    }

    /// Whether the rest of the request was read in vain for long enough.
    func isSuperfluous(at now: NIODeadline, after time: TimeAmount) -> Bool {
        guard case .taken(let instant) = answer, isReading else { return false }
        return instant + time <= now
    }
}

/// The head of a request over HTTP/2, as far as the guard needs it.
struct HTTP2Head {
    /// The fields as the router gets them.
    private(set) var headers: HPACKHeaders
    /// Whether they differ from those that were received.
    private(set) var isChanged = false
    private(set) var method = ""
    /// The path with the query.
    private(set) var target = ""
    private(set) var authority: String?
    private(set) var authorization: String?

    /// Checks a head that NIO found well-formed, and adds `:authority` from `Host`, because some
    /// callers send only that. Throws ``Problem``.
    init(_ headers: HPACKHeaders, _ limits: AdminConfiguration) throws(Problem) {
        self.headers = headers
        var hosts: [String] = []
        var (byteCount, fieldCount, lengthCount) = (0, 0, 0)
        var isExtended = false
        for (name, value, _) in headers {
            fieldCount += 1
            let count = name.utf8.count + value.utf8.count
            byteCount += count
            guard count <= limits.headerFieldByteCount else { throw Self.tooLarge(limits) }
            switch name {
            case ":method": method = value
            case ":path": target = value
            case ":authority": authority = value
            case ":protocol": isExtended = true
            case "host": hosts.append(value)
            case "authorization": authorization = value
            case "content-length":
                lengthCount += 1
                guard value.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else {
                    throw Self.malformed("Content-Length is not a number of bytes.")
                }
            default: break
            }
            // NIO's parser of HTTP/1.1 refuses them too (RFC 9110 §5.5).
            guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else {
                throw Self.malformed("A header field has a control character.")
            }
        }
        guard byteCount <= limits.headerListByteCount, fieldCount <= limits.headerFieldCount else {
            throw Self.tooLarge(limits)
        }
        if lengthCount > 1 { throw Self.malformed("Content-Length is there twice. Send it once.") }
        guard method != "CONNECT", !isExtended else {
            throw Self.malformed("CONNECT opens nothing here.")
        }
        do {
            try FramingCheck.checkTarget(target[...], isOfOptions: method == "OPTIONS")
        } catch {
            throw Self.malformed(error.message)
        }
        try checkAuthority(hosts)
    }

    private mutating func checkAuthority(_ hosts: [String]) throws(Problem) {
        guard hosts.count <= 1 else { throw Self.malformed("Duplicate header field Host.") }
        if let host = hosts.first {
            // RFC 9113 §8.3.1.
            guard authority == nil || authority == host else {
                throw Self.malformed("Host differs from :authority. Send one of them.")
            }
            headers.remove(name: "host")
            isChanged = true
            if authority == nil {
                // Pseudo-header fields come first (RFC 9113 §8.3).
                headers = HPACKHeaders(
                    [(":authority", host)] + headers.map { ($0.name, $0.value) })
                authority = host
            }
        }
        guard let authority else { throw Self.malformed("The :authority is missing. Send it.") }
        guard FramingCheck.isHost(authority) else {
            throw Self.malformed("The :authority is not a host, with a port if need be.")
        }
    }

    /// Whether the guard may answer the request itself: the body fits in half of a stream's window,
    /// which is not renewed then.
    var canBeDirect: Bool {
        headers.first(name: "content-length").flatMap { Int($0) }.map { $0 <= 32_768 } ?? false
    }

    /// The fields for ``DirectRoute``.
    var fields: HTTPFields {
        var fields = HTTPFields()
        for (name, value, _) in headers where !name.hasPrefix(":") {
            if let name = HTTPField.Name(name) {
                fields.append(HTTPField(name: name, value: value))
            }
        }
        return fields
    }

    private static func malformed(_ detail: String) -> Problem {
        Problem(.malformedRequest, detail)
    }

    private static func tooLarge(_ limits: AdminConfiguration) -> Problem {
        ConnectionGuard.headersTooLarge(limits)
    }
}
