// SPDX-License-Identifier: Apache-2.0

/// The proxy of a process's environment, by the conventions of libcurl: `https_proxy` before
/// `all_proxy`, lower case before upper case, and `no_proxy` for exceptions.
struct ProxyEnvironment {
    private let url: String?
    private let exceptions: [Substring]

    /// `lookUp` gives a variable's value.
    init(_ lookUp: (String) -> String?) {
        func value(_ name: String) -> String? {
            [name, name.uppercased()].compactMap(lookUp).first { !$0.isEmpty }
        }
        url = value("https_proxy") ?? value("all_proxy")
        exceptions = (value("no_proxy") ?? "").split { $0 == "," || $0 == " " || $0 == "\t" }
    }

    /// The proxy's URL for a host, `nil` when it is to be reached directly.
    func proxy(for host: String) -> String? {
        guard let url else { return nil }
        let address = SocketAddress.parse(host)
        let isExcepted = exceptions.contains { exception in
            if exception == "*" { return true }
            if let address { return Self.covers(exception, address) }
            return Self.covers(exception, name: host)
        }
        return isExcepted ? nil : url
    }

    /// `example.com` and `.example.com` both cover the name itself and everything below it.
    private static func covers(_ exception: Substring, name: String) -> Bool {
        let suffix = trimmed(exception).lowercased()
        let name = trimmed(name[...]).lowercased()
        return !suffix.isEmpty && (name == suffix || name.hasSuffix("." + suffix))
    }

    /// Without a dot in front or behind.
    private static func trimmed(_ name: Substring) -> Substring {
        var name = name
        if name.hasPrefix(".") { name = name.dropFirst() }
        if name.hasSuffix(".") { name = name.dropLast() }
        return name
    }

    /// An address, or a network such as `10.0.0.0/8`.
    private static func covers(
        _ exception: Substring, _ address: (family: SocketAddress.Family, bytes: [UInt8])
    ) -> Bool {
        let parts = exception.split(separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first, parts.count <= 2 else { return false }
        var text = first
        if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
        guard let network = SocketAddress.parse(String(text)), network.family == address.family
        else { return false }
        guard parts.count == 2 else { return network.bytes == address.bytes }
        let width = network.bytes.count * 8
        guard let bits = Int(parts[1]), (0...width).contains(bits) else { return false }
        return (0..<bits).allSatisfy { bit in
            let mask = UInt8(0x80) >> UInt8(bit % 8)
            return network.bytes[bit / 8] & mask == address.bytes[bit / 8] & mask
        }
    }
}
