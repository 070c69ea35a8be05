// SPDX-License-Identifier: Apache-2.0

extension BudgetDebit {
    /// The debit as bytes, for a store to keep with the lease of its wake: the version of the
    /// ledger's encoding, then the fields in their order, little-endian.
    public func encoded() -> [UInt8] {
        var writer = LedgerWriter()
        writer.put(DeviceLedger.commonVersion)
        writer.put(corrections)
        writer.put(second)
        writer.put(wake)
        writer.put(number)
        return writer.trimmed()
    }

    /// Reads what ``encoded()`` of this or an earlier version wrote.
    ///
    /// Throws ``LedgerDecodingError`` for anything else.
    public init(decoding bytes: [UInt8]) throws(LedgerDecodingError) {
        guard bytes.count >= 2 else { throw .truncated }
        guard 1...DeviceLedger.encodingVersion ~= bytes[0] else {
            throw .unknownVersion(bytes[0])
        }
        var reader = LedgerReader(bytes: bytes, offset: 2)
        let second = reader.int64()
        guard let wake = try reader.pending() else {
            throw .inconsistent("a charge has no wake")
        }
        let number = reader.uint8()
        guard reader.isAtEnd else { throw .overlong }
        self.init(second: second, corrections: bytes[1], number: number, wake: wake)
    }
}
