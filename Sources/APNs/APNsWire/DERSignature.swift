// SPDX-License-Identifier: Apache-2.0

/// An ECDSA signature on P-256 in DER (RFC 3279 §2.2.3): the form that OpenSSL writes, and that
/// provider tokens have from clients that sign with it directly (facts §4.1). Rouse never writes
/// it.
public enum DERSignature {
    /// The number of bytes of each of r and s in the form of RFC 7518 §3.4.
    private static let integerByteCount = 32

    /// r and s, 64 bytes; `nil` for what is not a sequence of two positive integers of at most 32
    /// bytes each in their shortest form.
    public static func raw(_ bytes: [UInt8]) -> [UInt8]? {
        var rest = bytes[...]
        guard element(0x30, of: &rest)?.count == rest.count, let r = integer(of: &rest),
            let s = integer(of: &rest), rest.isEmpty
        else { return nil }
        return r + s
    }

    /// Reads a tag with its length from the front and returns the rest; a signature on P-256 is
    /// shorter than 128 bytes, so its length is one byte.
    private static func element(
        _ tag: UInt8, of rest: inout ArraySlice<UInt8>
    ) -> ArraySlice<UInt8>? {
        guard rest.popFirst() == tag, let length = rest.popFirst(), length <= rest.count else {
            return nil
        }
        return rest.prefix(Int(length))
    }

    private static func integer(of rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard var digits = element(0x02, of: &rest), let first = digits.first else { return nil }
        rest.removeFirst(digits.count)
        if first == 0, digits.count > 1 {
            digits.removeFirst()
            guard let next = digits.first, next >= 0x80 else { return nil }
        } else if first >= 0x80 {
            return nil
        }
        guard digits.count <= integerByteCount else { return nil }
        return Array(repeating: 0, count: integerByteCount - digits.count) + digits
    }
}
