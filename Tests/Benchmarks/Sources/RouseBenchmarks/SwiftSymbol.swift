// SPDX-License-Identifier: Apache-2.0

/// As much of Swift's mangled names as tells who wrote the code.
///
/// Source: `docs/ABI/Mangling.rst` of the Swift compiler.
struct SwiftSymbol {
    /// The name behind `$s`.
    private let name: Substring

    /// `nil` when it is not Swift's.
    init?(_ symbol: Substring) {
        guard symbol.hasPrefix("$s") else { return nil }
        name = symbol.dropFirst(2)
    }

    /// The module that the name begins with: `NIOCore` of `$s7NIOCore10ByteBufferV…`. `nil` for
    /// what begins with the standard library, or with no module.
    var firstModule: Substring? { Self.identifier(at: name)?.text }

    /// Which of these modules extends a type of another one with it.
    func extender(among modules: Set<String>) -> Substring? {
        // Of the standard library's types: $sSa8AdminAPIs5UInt8VRszlE…
        if name.first == "S", let extender = Self.identifier(at: name.dropFirst(2)) {
            return modules.contains(String(extender.text)) ? extender.text : nil
        }
        // Of others: $s7NIOCore10ByteBufferV8AdminAPIE…
        guard let module = Self.identifier(at: name),
            let type = Self.identifier(at: module.rest), let kind = type.rest.first,
            "VCOP".contains(kind), let extender = Self.identifier(at: type.rest.dropFirst()),
            modules.contains(String(extender.text))
        else { return nil }
        return extender.text
    }

    /// Whether it is what the compiler makes of a type wherever it is needed, to copy and to
    /// destroy values and to look metadata up: nobody wrote it, and its caller has it done.
    var isEmitted: Bool {
        let end = (name.hasSuffix("Tm") ? name.dropLast(2) : name).suffix(3)
        let middle = end.dropFirst()
        return end.hasPrefix("WO") || middle.hasPrefix("M") || middle.hasPrefix("Wl")
            || (end.hasPrefix("w") && end.allSatisfy(\.isLowercase))
    }

    /// `7NIOCore…` is an identifier of seven characters.
    private static func identifier(
        at text: Substring
    ) -> (text: Substring, rest: Substring)? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        // One that begins with 0 repeats words of earlier ones.
        guard digits.first != "0", let count = Int(digits) else { return nil }
        let rest = text[digits.endIndex...]
        guard rest.count >= count else { return nil }
        return (rest.prefix(count), rest.dropFirst(count))
    }
}
