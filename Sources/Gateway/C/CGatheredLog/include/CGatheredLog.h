// SPDX-License-Identifier: Apache-2.0
//
// Makes SQLite write its write-ahead log in large pieces.
//
// SQLite writes each page of a transaction with two system calls: 24 bytes for the frame's header,
// and the page. For small pages this is most of the cost of a write. Here the frames of one
// transaction are gathered and written with one call per 120 KiB.
//
// Nothing else changes. The bytes of the log and their order are the same, and readers find them in
// the file. All gathered bytes are written before
// - the last page of a transaction is reported as written, so before another connection may read
//   it; a failure is then the failure of that commit, as without this;
// - the connection reads, truncates or synchronizes the log, or asks for its size;
// - a write that does not follow the gathered bytes.
// Bytes that a crash of the process loses belong to a transaction that was not committed. The bytes
// of a transaction that was rolled back must be discarded (`CGatheredLog_forget`).
//
// Only the methods of one open file, the log of the given connection, are replaced, until it is
// closed. A custom VFS (sqlite3_vfs) for all files would have the same effect with one more call
// for each read and write of the database. If a newer SQLite has more methods, only the
// known ones are copied, with the version number that they belong to.
//
// This relies on documented features of SQLite: the methods of files (sqlite3_io_methods), the file
// of a connection's journal (SQLITE_FCNTL_JOURNAL_POINTER), and the format of the log
// (https://www.sqlite.org/fileformat2.html#walformat).

#ifndef CGATHEREDLOG_H
#define CGATHEREDLOG_H

#include <stdint.h>

struct sqlite3;

/// Gathers the writes of this connection to its log, until it closes the log. Must be called by the
/// connection's owner, outside a transaction. Returns 1 on success; 0, without an effect, if the
/// log is not open or memory is exhausted.
int CGatheredLog_begin(struct sqlite3 *_Nonnull connection);

/// Discards the bytes that are gathered and not in the file. Must be called by the connection's
/// owner after each rollback: another process may write to the same part of the log afterwards.
void CGatheredLog_forget(struct sqlite3 *_Nonnull connection);

/// Sets whether the log stays when this connection, possibly the last one of the file, is closed:
/// not copied into the database, and not removed. Returns a result code of SQLite. Must be called
/// by the connection's owner.
int CGatheredLog_keepOnClose(struct sqlite3 *_Nonnull connection, int keeps);

/// The number of write calls to the log since `CGatheredLog_begin`; 0 without it. Must be called by
/// the connection's owner.
uint64_t CGatheredLog_writeCount(struct sqlite3 *_Nonnull connection);

#endif
