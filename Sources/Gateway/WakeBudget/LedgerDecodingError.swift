// SPDX-License-Identifier: Apache-2.0

/// Why bytes are not a ledger.
public enum LedgerDecodingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There are fewer bytes than every ledger has.
    case truncated
    /// There are more bytes than a ledger of this version has.
    case overlong
    /// A newer Rouse wrote them.
    case unknownVersion(UInt8)
    /// The second byte names no kind of push.
    case unknownKind(UInt8)
    /// They break this invariant.
    case inconsistent(String)

    /// What is wrong, and what to do about it.
    public var description: String {
        switch self {
        case .truncated: "The ledger is cut off. Drop it; the device then begins afresh."
        case .overlong: "The ledger has bytes to spare. Drop it; the device then begins afresh."
        case .unknownVersion(let version):
            "The ledger has version \(version), and this Rouse reads up to "
                + "\(DeviceLedger.encodingVersion). Use the Rouse that wrote it, or a newer one."
        case .unknownKind(let kind):
            "The ledger is for the unknown kind \(kind). Drop it; the device then begins afresh."
        case .inconsistent(let broken):
            "The ledger is damaged: \(broken). Drop it; the device then begins afresh."
        }
    }
}
