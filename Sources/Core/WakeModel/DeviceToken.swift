// SPDX-License-Identifier: Apache-2.0

/// The opaque address of one app on one device, as APNs issued it.
///
/// Apple documents that no size must be assumed (facts §9; Apple, "Sending notification requests to
/// APNs"), so any even number of hexadecimal digits up to ``maximumByteCount`` bytes is accepted.
/// Digits are normalised to lower case, which makes equality mean "the same device".
///
/// A device token is treated as a secret: ``description`` has a digest, and only ``hex`` the token.
public struct DeviceToken: Hashable, Sendable {
    /// The most bytes a token may have: 256, four times the largest observed size (facts §9).
    public static let maximumByteCount = 256

    /// The token in lower-case hexadecimal, as in the request path. Secret: never logged.
    public let hex: String

    /// Parses hexadecimal digits in either case.
    ///
    /// Throws ``InvalidField`` when `hex` is empty, has an odd number of digits, is too long, or
    /// holds anything else than hexadecimal digits (the `<740f 4707>` form of old code included).
    public init(hex: some StringProtocol) throws(InvalidField) {
        // A string's own bytes: this is not specialized for callers in other modules, and a loop
        // over a protocol's bytes took longer than the rest of reading a wake.
        try self.init(digits: String(hex))
    }

    /// Parses a pasted token as ``init(hex:)`` does, and ignores spaces and surrounding brackets,
    /// which old code prints (`<740f 4707>`). For input by people and backends.
    ///
    /// Throws ``InvalidField`` as ``init(hex:)`` does.
    public init(pasted text: some StringProtocol) throws(InvalidField) {
        let text = String(text)
        guard text.utf8.contains(where: Self.isPassedOver) else {
            try self.init(digits: text)
            return
        }
        // Here, so that the position is that in the original text.
        for (index, character) in text.utf8.enumerated()
        where !Self.isPassedOver(character) && !Self.isDigit(character) {
            throw Self.invalid(
                "holds a character that is not hexadecimal, at position \(index + 1)",
                Self.remedy(for: character))
        }
        var rest = text.utf8[...]
        while rest.first == UInt8(ascii: " ") { rest.removeFirst() }
        while rest.last == UInt8(ascii: " ") { rest.removeLast() }
        if rest.first == UInt8(ascii: "<") { rest.removeFirst() }
        if rest.last == UInt8(ascii: ">") { rest.removeLast() }
        try self.init(
            digits: String(decoding: rest.filter { $0 != UInt8(ascii: " ") }, as: UTF8.self))
    }

    private static func isPassedOver(_ character: UInt8) -> Bool {
        character == UInt8(ascii: " ") || character == UInt8(ascii: "<")
            || character == UInt8(ascii: ">")
    }

    private static func isDigit(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    private init(digits text: String) throws(InvalidField) {
        var text = text
        guard !text.withUTF8(Self.isNormal) else {
            hex = text
            return
        }
        let digits = text.utf8
        guard !digits.isEmpty else {
            throw Self.invalid("is empty", "Give the token that the app received, in hexadecimal.")
        }
        guard digits.count <= 2 * Self.maximumByteCount else {
            throw Self.invalid(
                "has \(digits.count) characters, more than \(2 * Self.maximumByteCount)",
                "Give one token, in hexadecimal.")
        }
        var lowered: [UInt8] = []
        lowered.reserveCapacity(digits.count)
        for (index, digit) in digits.enumerated() {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"):
                lowered.append(digit)
            case UInt8(ascii: "A")...UInt8(ascii: "F"):
                lowered.append(digit | 0x20)
            default:
                throw Self.invalid(
                    "holds a character that is not hexadecimal, at position \(index + 1)",
                    Self.remedy(for: digit))
            }
        }
        guard digits.count.isMultiple(of: 2) else {
            throw Self.invalid(
                "has an odd number of digits (\(digits.count))",
                "Two hexadecimal digits make one byte; the token was probably cut.")
        }
        self.hex = String(decoding: lowered, as: UTF8.self)
    }

    /// Writes raw bytes in hexadecimal. Throws ``InvalidField`` for none or more than
    /// ``maximumByteCount``.
    public init(bytes: some Collection<UInt8>) throws(InvalidField) {
        // An array for the same reason as above.
        let bytes = Array(bytes)
        // SAFETY: the capacity is two digits for each byte, and each is written once.
        let hex = String(unsafeUninitializedCapacity: 2 * bytes.count) { digits in
            for (place, byte) in bytes.enumerated() {
                digits[2 * place] = Self.digit(byte >> 4)
                digits[2 * place + 1] = Self.digit(byte & 0xf)
            }
            return 2 * bytes.count
        }
        try self.init(hex: hex)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
    }

    /// Whether a token is already in its canonical form, as nearly all are.
    private static func isNormal(_ digits: UnsafeBufferPointer<UInt8>) -> Bool {
        guard !digits.isEmpty, digits.count <= 2 * maximumByteCount,
            digits.count.isMultiple(of: 2)
        else { return false }
        var others: UInt8 = 0
        for digit in digits {
            let isDigit = digit &- UInt8(ascii: "0") < 10 || digit &- UInt8(ascii: "a") < 6
            others |= isDigit ? 0 : 1
        }
        return others == 0
    }

    /// A short digest that distinguishes tokens in a log without revealing them: eight hexadecimal
    /// digits of 64-bit FNV-1a, folded. A token holds far more entropy than that, so the digest
    /// cannot be reversed.
    public var digest: String {
        let hash = FNV1a.hash(hex.utf8)
        let folded = UInt32(truncatingIfNeeded: hash ^ (hash >> 32))
        let digits = String(folded, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    /// The digest in a text: `device#1c2d3e4f`, or its digits alone. Throws ``InvalidField`` for
    /// another text.
    public static func digest(in text: String) throws(InvalidField) -> String {
        let prefix = "device#"
        let digits = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
        guard digits.utf8.count == 8, (try? DeviceToken(hex: digits))?.hex == digits else {
            throw InvalidField(
                field: "device", problem: "is no digest of a device token",
                remedy: "Write it as logs and answers have it, such as device#1c2d3e4f.")
        }
        return digits
    }

    private static func invalid(_ problem: String, _ remedy: String) -> InvalidField {
        InvalidField(field: "device token", problem: problem, remedy: remedy)
    }

    private static func remedy(for character: UInt8) -> String {
        switch character {
        case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: " "):
            "Remove brackets and spaces: they come from printing the token's description."
        case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "/"):
            "This looks like Base64; convert it to hexadecimal."
        default:
            "Write the token's bytes as pairs of hexadecimal digits."
        }
    }
}

extension DeviceToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The digest, in a form that cannot be mistaken for a token: `device#1c2d3e4f`.
    public var description: String { "device#\(digest)" }
    /// The same as ``description``: a debugger's output ends in logs too.
    public var debugDescription: String { description }
    /// No children, so that a dump shows the digest alone.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
