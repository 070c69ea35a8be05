// SPDX-License-Identifier: Apache-2.0

import Gateway

/// The one connection that writes. No other may write to the file, since much of it is cached here;
/// each transaction begins with a check for foreign writes.
///
// SAFETY: `@unchecked`, because a connection must not be used by two threads at a time. It is used
// on the queue of its connection only: `WriteQueue` works there, and so do opening and closing.
final class WriteConnection: @unchecked Sendable {
    private let store: StoreConnection
    private let path: String
    /// SQLite's number of what others have written: it changes with each of their transactions, and
    /// never with one of this connection's own.
    private var version: Int64

    /// A connection at a connection to the file at `path`.
    init(_ store: StoreConnection, path: String) throws(StoreFailure) {
        self.store = store
        self.path = path
        version = try Self.version(store.connection)
    }

    /// One transaction. `end` is called with a failure after which nothing may be written.
    func write(
        endingWith end: (StoreFailure) -> Void,
        _ body: (StoreConnection) throws(StoreFailure) -> Void
    ) throws(StoreFailure) {
        var isAlone = false
        do throws(StoreFailure) {
            try store.write { store throws(StoreFailure) in
                guard try Self.version(connection) == version else {
                    end(foreignWriter)
                    throw foreignWriter
                }
                isAlone = true
                try body(store)
            }
        } catch {
            if let failure = connection.flushFailure { end(failure) }
            // After an error a connection rereads all pages, which also changes its version. While
            // the transaction was open no other connection could write.
            if isAlone { version = (try? Self.version(connection)) ?? version }
            throw error
        }
    }

    private static func version(_ connection: Connection) throws(StoreFailure) -> Int64 {
        try connection.number("PRAGMA main.data_version")
    }

    private var foreignWriter: StoreFailure {
        StoreFailure(
            kind: .inUse,
            message: "Another program has written to the store \(path), so what is remembered of "
                + "it may be wrong. Nothing more is written until the store is opened again. Let "
                + "no other program write to it while a gateway runs.")
    }

    var connection: Connection { store.connection }
}
