// SPDX-License-Identifier: Apache-2.0

/// The state of a store in memory, with the verbs over it and without the actor around it: for a
/// test that decides itself when a transaction begins, fails or is lost.
package struct MemoryStoreState {
    private let rows: MemoryRows
    /// The verbs. Each call of one is a transaction.
    package let verbs: StoreTransaction

    private init(_ rows: MemoryRows) {
        self.rows = rows
        verbs = StoreTransaction(rows: rows)
    }

    /// An empty store.
    package init() { self.init(MemoryRows()) }

    /// The store as it is now; what is done to one of the two does not change the other.
    package func copy() -> MemoryStoreState { MemoryStoreState(MemoryRows(copying: rows)) }
}
