// SPDX-License-Identifier: Apache-2.0

extension DeviceLedger {
    /// The newest version of the encoding. Every earlier one is read as well.
    public static let encodingVersion: UInt8 = 5
    /// The version that is written where the newest adds nothing: gateways that are not upgraded
    /// yet, on the same store, read it too.
    static let commonVersion: UInt8 = 4

    /// The ledger as bytes, for a store.
    ///
    /// The version, the rules (0 background, 1 calls, 2 plain pushes), then the fields in their
    /// order, little-endian; zero bytes at the end are left out, so that an idle ledger is short.
    /// Version 2 added how the pending wake merges, whether it repeats its own attempts, and the
    /// number of the last debit; version 3 how late receipts come. Version 4 keeps how long pushes
    /// are held for the distance of launches, and which share of receipts is missing for how late.
    /// Version 5 added again how late they come; it is written only where they do.
    public func encoded() -> [UInt8] {
        var writer = LedgerWriter()
        switch form {
        case .background(let ledger):
            writer.put(ledger.lateSeconds > 0 ? Self.encodingVersion : Self.commonVersion)
            writer.put(UInt8(0))
            writer.put(ledger)
        case .voip(let ledger):
            writer.put(Self.commonVersion)
            writer.put(UInt8(1))
            writer.put(ledger)
        case .plain(let ledger):
            writer.put(Self.commonVersion)
            writer.put(UInt8(2))
            writer.put(ledger.clock)
            writer.put(ledger.lead)
        }
        return writer.trimmed()
    }

    /// Reads what ``encoded()`` of this or an earlier version wrote.
    ///
    /// Throws ``LedgerDecodingError``; nothing that it accepts breaks an invariant.
    public init(decoding bytes: [UInt8]) throws(LedgerDecodingError) {
        guard bytes.count >= 2 else { throw .truncated }
        guard 1...Self.encodingVersion ~= bytes[0] else { throw .unknownVersion(bytes[0]) }
        var reader = LedgerReader(bytes: bytes, offset: 2)
        switch bytes[1] {
        case 0: form = .background(try reader.background(version: bytes[0]))
        case 1: form = .voip(try reader.calls())
        case 2: form = .plain(PlainLedger(clock: reader.int64(), lead: reader.int64()))
        default: throw .unknownKind(bytes[1])
        }
        guard reader.isAtEnd else { throw .overlong }
        if let broken = invariantsBroken().first { throw .inconsistent(broken) }
    }
}
