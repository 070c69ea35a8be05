// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
public import WakeModel

/// A gateway on this machine that receives reports from modelled devices, as their apps would send
/// them: `POST /v1/receipts` and `PUT /v1/devices/{token}/signals`.
public struct ReceiptTarget: Hashable, Sendable {
    /// The gateway's address.
    public let host: String
    /// The gateway's TCP port.
    public let port: Int
    /// The path before `/v1`, without a trailing slash; usually empty.
    public let basePath: String
    /// The API key that is sent as a bearer token. Secret.
    let key: String?
    /// Whether receipts have `synced`: the app fetched everything at its launch, so that a wake
    /// that was requested before that launch is not needed.
    public let appsSync: Bool

    /// Creates a target from a URL such as `http://127.0.0.1:8080`, and an API key, if the gateway
    /// requires one. Receipts report that the apps have synced, unless `appsSync` is false.
    ///
    /// Throws `InvalidField` for anything but plain HTTP to a loopback address, because the key
    /// goes over it in the clear, and for a key that is not valid in a header.
    public init(url: String, key: String? = nil, appsSync: Bool = true) throws(InvalidField) {
        guard let parts = URLComponents(string: url), parts.scheme == "http",
            let host = parts.host.map(Self.withoutBrackets), !host.isEmpty,
            parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil
        else {
            throw InvalidField(
                field: "receipts URL", problem: "is not a plain HTTP URL",
                remedy: "Write it as http://127.0.0.1:8080.")
        }
        guard Self.isLoopback(host) else {
            throw InvalidField(
                field: "receipts URL", problem: "does not name a loopback address",
                remedy: "The key would cross a network in the clear; use 127.0.0.1, ::1 or "
                    + "localhost.")
        }
        guard key?.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) != false else {
            throw InvalidField(
                field: "receipts key", problem: "holds spaces or characters beyond ASCII",
                remedy: "Give the API key as the gateway printed it.")
        }
        self.host = host
        port = parts.port ?? 80
        var path = parts.path[...]
        while path.last == "/" { path = path.dropLast() }
        basePath = String(path)
        self.key = key
        self.appsSync = appsSync
    }

    private static func withoutBrackets(_ host: String) -> String {
        host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }

    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}

extension ReceiptTarget: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The address without the key.
    public var description: String {
        "http://\(host.contains(":") ? "[\(host)]" : host):\(port)\(basePath)"
    }
    /// The same as ``description``: a debugger's output ends in logs too.
    public var debugDescription: String { description }
    /// No children, so that a dump does not show the key.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
