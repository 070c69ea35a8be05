// SPDX-License-Identifier: Apache-2.0
//
// Has SQLite write its write-ahead log in large pieces.
//
// SQLite writes each page of a transaction by two system calls: 24 bytes of the frame's header, and
// the page. For small pages that is most of what writing them costs. Here they are gathered, and
// what belongs to one transaction goes to the file by one call for each 120 KiB.
//
// Nothing else changes. The log's bytes and their order are the same, and readers find them
// in the file: all that was gathered is written before
//   - the page that ends a transaction is reported as written, so before any other connection may
//     read it, and a failure is the failure of that commit, as without this;
//   - the connection reads from the log, asks for its size, cuts it, or brings it to the disk;
//   - anything is written that does not follow what was gathered.
// What the death of the process takes away belongs to a transaction that was not committed. What is
// left of one that was undone is to be forgotten (`CGatheredLog_forget`).
//
// The methods of one open file are replaced, the log's of the connection that asks for it, and given
// back when it is closed. A file system of SQLite's own kind (sqlite3_vfs) around all files would do
// the same by one call more for each read and write of the database; but GRDB opens connections
// without naming one. It could be had by file names that are URIs, which SQLite leaves to an option
// of its compilation, or as the default of the process, where all others who use SQLite in it would
// have it too. Fewer of the methods are copied than a newer SQLite may have, with the number of the
// version that has so many.
//
// It rests on what SQLite documents: the methods of files (sqlite3_io_methods), the file behind a
// connection (SQLITE_FCNTL_JOURNAL_POINTER), and the format of the log
// (https://www.sqlite.org/fileformat2.html#walformat).

#ifndef CGATHEREDLOG_H
#define CGATHEREDLOG_H

#include <stdint.h>

struct sqlite3;

/// Gathers what this connection writes to its log from now on, until it closes the log. To be
/// called by the connection's owner, outside of a transaction. A connection that has no log
/// open yet, or no memory for this, stays as it is: the answer is then 0, otherwise 1.
int CGatheredLog_begin(struct sqlite3 *_Nonnull connection);

/// Drops what was gathered and is not in the file. To be called by the connection's owner after
/// each transaction that was undone: another process may have the log's next places by now.
void CGatheredLog_forget(struct sqlite3 *_Nonnull connection);

/// Whether closing this connection leaves the log as it is, also as the last one of the file: not
/// copied into the database, and not removed. Returns a result code of SQLite. To be called by
/// the connection's owner.
int CGatheredLog_keepOnClose(struct sqlite3 *_Nonnull connection, int keeps);

/// How many calls have written to the log since `CGatheredLog_begin`; 0 without that. To be called
/// by the connection's owner.
uint64_t CGatheredLog_writeCount(struct sqlite3 *_Nonnull connection);

#endif
