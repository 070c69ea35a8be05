// SPDX-License-Identifier: Apache-2.0

#include "CGatheredLog.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/// SQLite's Unix file methods write at most 131,071 bytes per call; larger writes are wrong.
enum { capacity = 120 * 1024 };

/// The size of a frame's header, in bytes, which precedes the page, and the offset of its commit
/// field. Pages are larger than a header.
enum { frame_header_size = 24, commit_field = 4 };

/// Replaces the methods of a log. The first member of the file points to `methods`, and so to this
/// structure.
typedef struct {
    sqlite3_io_methods methods;
    /// The original methods of the file.
    const sqlite3_io_methods *under;
    /// The offset of the gathered bytes in the file.
    sqlite3_int64 start;
    int count;
    /// The end of the last write; negative if the next write cannot follow it.
    sqlite3_int64 end;
    /// The type of a write that follows the last one.
    enum { header, page, last_page } next;
    uint64_t write_count;
    unsigned char bytes[capacity];
} Gatherer;

static Gatherer *gatherer(sqlite3_file *file) { return (Gatherer *)file->pMethods; }

/// Writes to the file.
static int pass(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    Gatherer *self = gatherer(file);
    int code = self->under->xWrite(file, bytes, count, offset);
    self->write_count += 1;
    if (code != SQLITE_OK) self->end = -1;
    return code;
}

/// Writes the gathered bytes. They are discarded even on failure, so that the transaction must be
/// rolled back; the owner of the connection does so after each error.
static int flush(sqlite3_file *file) {
    Gatherer *self = gatherer(file);
    int count = self->count;
    self->count = 0;
    return count == 0 ? SQLITE_OK : pass(file, self->bytes, count, self->start);
}

/// The commit field of a transaction's last frame is the size of the database, otherwise 0.
static bool is_of_last_page(const unsigned char *header) {
    static const unsigned char none[4];
    return memcmp(header + commit_field, none, sizeof none) != 0;
}

static int write_log(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    Gatherer *self = gatherer(file);
    bool follows = offset == self->end;
    bool is_page = follows && self->next != header;
    bool is_last = is_page && self->next == last_page;
    bool is_header = !is_page && count == frame_header_size;
    // Other writes, such as the header of the log or a part of a frame, are not delayed; nor is the
    // header of an earlier frame, which is rewritten without its page.
    bool gathers = follows && (is_page || is_header) && count <= capacity;
    self->next = !is_header ? header : is_of_last_page(bytes) ? last_page : page;
    self->end = offset + count;
    if (!gathers || count > capacity - self->count) {
        int code = flush(file);
        if (code != SQLITE_OK) return code;
    }
    if (!gathers) return pass(file, bytes, count, offset);
    if (self->count == 0) self->start = offset;
    memcpy(self->bytes + self->count, bytes, (size_t)count);
    self->count += count;
    return is_last ? flush(file) : SQLITE_OK;
}

static int read_log(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    int code = flush(file);
    return code != SQLITE_OK ? code : gatherer(file)->under->xRead(file, bytes, count, offset);
}

static int truncate_log(sqlite3_file *file, sqlite3_int64 size) {
    int code = flush(file);
    gatherer(file)->end = -1;
    return code != SQLITE_OK ? code : gatherer(file)->under->xTruncate(file, size);
}

static int sync_log(sqlite3_file *file, int flags) {
    int code = flush(file);
    return code != SQLITE_OK ? code : gatherer(file)->under->xSync(file, flags);
}

static int size_log(sqlite3_file *file, sqlite3_int64 *size) {
    int code = flush(file);
    return code != SQLITE_OK ? code : gatherer(file)->under->xFileSize(file, size);
}

/// Bytes that are still gathered when the log is closed were not committed.
static int close_log(sqlite3_file *file) {
    Gatherer *self = gatherer(file);
    file->pMethods = self->under;
    free(self);
    return file->pMethods->xClose(file);
}

/// The journal of a connection: its write-ahead log or its rollback journal. `NULL` if there is
/// none, or if it is not open.
static sqlite3_file *journal_of(sqlite3 *connection) {
    sqlite3_file *file = NULL;
    int code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);
    return code == SQLITE_OK && file && file->pMethods ? file : NULL;
}

/// The gatherer of a connection's log; `NULL` if there is none.
static Gatherer *gatherer_of(sqlite3 *connection) {
    sqlite3_file *file = journal_of(connection);
    return file && file->pMethods->xWrite == write_log ? gatherer(file) : NULL;
}

/// Whether a connection uses write-ahead logging: a rollback journal must not be delayed.
static bool has_log(sqlite3 *connection) {
    sqlite3_stmt *question = NULL;
    sqlite3_prepare_v2(connection, "PRAGMA main.journal_mode", -1, &question, NULL);
    bool has = question && sqlite3_step(question) == SQLITE_ROW &&
               sqlite3_stricmp((const char *)sqlite3_column_text(question, 0), "wal") == 0;
    sqlite3_finalize(question);
    return has;
}

/// The newest version of the file methods at compile time. A newer SQLite may have more methods,
/// which do not fit and are not called with this version number.
enum { newest_version = 3 };

/// The size of the methods of a version, in bytes.
static size_t size_of_methods(int version) {
    switch (version) {
    case 1: return offsetof(sqlite3_io_methods, xShmMap);
    case 2: return offsetof(sqlite3_io_methods, xFetch);
    default: return offsetof(sqlite3_io_methods, xUnfetch) +
                    sizeof(((sqlite3_io_methods *)NULL)->xUnfetch);
    }
}

int CGatheredLog_begin(sqlite3 *connection) {
    if (gatherer_of(connection)) return 1;
    sqlite3_file *file = has_log(connection) ? journal_of(connection) : NULL;
    Gatherer *self = file ? malloc(sizeof *self) : NULL;
    if (!self) return 0;
    int version = file->pMethods->iVersion;
    if (version > newest_version) version = newest_version;
    memset(&self->methods, 0, sizeof self->methods);
    memcpy(&self->methods, file->pMethods, size_of_methods(version));
    self->methods.iVersion = version;
    self->methods.xClose = close_log;
    self->methods.xRead = read_log;
    self->methods.xWrite = write_log;
    self->methods.xTruncate = truncate_log;
    self->methods.xSync = sync_log;
    self->methods.xFileSize = size_log;
    self->under = file->pMethods;
    self->start = 0;
    self->count = 0;
    self->end = -1;
    self->next = header;
    self->write_count = 0;
    file->pMethods = &self->methods;
    return 1;
}

int CGatheredLog_keepOnClose(sqlite3 *connection, int keeps) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps, NULL);
}

void CGatheredLog_forget(sqlite3 *connection) {
    Gatherer *self = gatherer_of(connection);
    if (!self) return;
    self->count = 0;
    self->end = -1;
    self->next = header;
}

uint64_t CGatheredLog_writeCount(sqlite3 *connection) {
    Gatherer *self = gatherer_of(connection);
    return self ? self->write_count : 0;
}
