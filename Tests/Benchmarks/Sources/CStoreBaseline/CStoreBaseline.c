// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE

#include "CStoreBaseline.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// As StoreSQLite's schema has them after its migrations.
static const char tables[] =
    "PRAGMA page_size = 2048; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA cache_size = -65536;"
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 16000;"
    "CREATE TABLE device (number INTEGER PRIMARY KEY, queue INTEGER NOT NULL, token BLOB NOT NULL,"
    " ledger BLOB NOT NULL, pending INTEGER NOT NULL, latest INTEGER NOT NULL,"
    " registered_at INTEGER, dead_since INTEGER, receipt_at INTEGER, touched_at INTEGER NOT NULL,"
    " calls BLOB) STRICT;"
    "CREATE TABLE wake (number INTEGER PRIMARY KEY, state INTEGER NOT NULL, queue INTEGER,"
    " at INTEGER, deadline INTEGER, rest BLOB NOT NULL, payload BLOB, device INTEGER) STRICT;"
    "CREATE INDEX wake_queue ON wake (queue, at) WHERE queue IS NOT NULL;"
    "CREATE INDEX wake_deadline ON wake (deadline) WHERE deadline IS NOT NULL;"
    "CREATE TABLE property (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    "INSERT INTO property VALUES ('accepted', 0), ('ended sent', 0)";

enum { tokenBytes = 32, ledgerBytes = 40, restBytes = 60, endedRestBytes = 64, payloadBytes = 100 };

typedef struct Store {
    sqlite3 *database;
    sqlite3_stmt *find, *addWake, *addDevice, *end, *count, *begin, *commit;
    int log;
    uint64_t *numbers;  // of the batch's devices, in their order
} Store;

static uint64_t nanoseconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/// As good as random, as a keyed hash is.
static uint64_t scattered(uint64_t number) {
    number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9u;
    number = (number ^ (number >> 27)) * 0x94d049bb133111ebu;
    return (number ^ (number >> 31)) >> 2;
}

static int ascending(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static bool done(sqlite3_stmt *statement) {
    bool isDone = sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_reset(statement);
    return isDone;
}

static bool prepare(Store *store, const char *sql, sqlite3_stmt **statement) {
    return sqlite3_prepare_v3(store->database, sql, -1, SQLITE_PREPARE_PERSISTENT, statement,
                              NULL) == SQLITE_OK;
}

static bool open_store(Store *store, const char *path) {
    char log[4096];
    if (snprintf(log, sizeof log, "%s-wal", path) >= (int)sizeof log) { return false; }
    return sqlite3_open(path, &store->database) == SQLITE_OK
        && sqlite3_exec(store->database, tables, NULL, NULL, NULL) == SQLITE_OK
        && prepare(store, "BEGIN IMMEDIATE", &store->begin)
        && prepare(store, "COMMIT", &store->commit)
        && prepare(store, "SELECT queue, token FROM device WHERE number = ?", &store->find)
        && prepare(store, "INSERT INTO wake VALUES (?, 1, NULL, NULL, NULL, ?, ?, ?)",
                   &store->addWake)
        && prepare(store, "INSERT INTO device VALUES (?, 1, ?, ?, 0, ?, NULL, NULL, NULL, ?, NULL)",
                   &store->addDevice)
        && prepare(store, "UPDATE wake SET state = 2, rest = ?2, payload = NULL WHERE number = ?1",
                   &store->end)
        && prepare(store, "UPDATE property SET value = value + ?2 WHERE name = ?1", &store->count)
        && (store->log = open(log, O_RDWR | O_CLOEXEC)) >= 0;
}

static bool add_to(Store *store, const char *name, uint32_t count) {
    sqlite3_bind_text(store->count, 1, name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(store->count, 2, count);
    return done(store->count);
}

static bool end_transaction(Store *store) {
    return done(store->commit) && fdatasync(store->log) == 0;
}

static bool admit(Store *store, uint64_t first, uint32_t count, const uint8_t *bytes) {
    bool isFine = done(store->begin);
    for (uint32_t place = 0; isFine && place < count; place++) {
        uint64_t device = scattered(first + place);
        store->numbers[place] = device;
        sqlite3_bind_int64(store->find, 1, (sqlite3_int64)device);
        isFine = sqlite3_step(store->find) == SQLITE_DONE;
        sqlite3_reset(store->find);
    }
    for (uint32_t place = 0; isFine && place < count; place++) {
        sqlite3_bind_int64(store->addWake, 1, (sqlite3_int64)(first + place));
        sqlite3_bind_blob(store->addWake, 2, bytes, restBytes, SQLITE_STATIC);
        sqlite3_bind_blob(store->addWake, 3, bytes, payloadBytes, SQLITE_STATIC);
        sqlite3_bind_int64(store->addWake, 4, (sqlite3_int64)store->numbers[place]);
        isFine = done(store->addWake);
    }
    qsort(store->numbers, count, sizeof *store->numbers, ascending);
    for (uint32_t place = 0; isFine && place < count; place++) {
        sqlite3_bind_int64(store->addDevice, 1, (sqlite3_int64)store->numbers[place]);
        sqlite3_bind_blob(store->addDevice, 2, bytes, tokenBytes, SQLITE_STATIC);
        sqlite3_bind_blob(store->addDevice, 3, bytes, ledgerBytes, SQLITE_STATIC);
        sqlite3_bind_int64(store->addDevice, 4, (sqlite3_int64)(first + place));
        sqlite3_bind_int64(store->addDevice, 5, (sqlite3_int64)first);
        isFine = done(store->addDevice);
    }
    return isFine && add_to(store, "accepted", count) && end_transaction(store);
}

static bool settle(Store *store, uint64_t first, uint32_t count, const uint8_t *bytes) {
    bool isFine = done(store->begin);
    for (uint32_t place = 0; isFine && place < count; place++) {
        sqlite3_bind_int64(store->end, 1, (sqlite3_int64)(first + place));
        sqlite3_bind_blob(store->end, 2, bytes, endedRestBytes, SQLITE_STATIC);
        isFine = done(store->end);
    }
    return isFine && add_to(store, "ended sent", count) && end_transaction(store);
}

bool CStoreBaseline_run(const char *path, uint32_t wakes, uint32_t batch,
                        CStoreBaselineResult *result) {
    Store store = {.log = -1};
    uint8_t bytes[payloadBytes];
    memset(bytes, 0x5a, sizeof bytes);
    store.numbers = malloc(batch * sizeof *store.numbers);
    bool isFine = store.numbers != NULL && open_store(&store, path);
    uint64_t wall = nanoseconds(CLOCK_MONOTONIC);
    uint64_t cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    // Numbers begin with the time, as a wake's do.
    uint64_t base = (uint64_t)time(NULL) * 1000 << 12;
    for (uint32_t start = 0; isFine && start < wakes; start += batch) {
        uint32_t count = wakes - start < batch ? wakes - start : batch;
        isFine = admit(&store, base + start, count, bytes)
            && settle(&store, base + start, count, bytes);
    }
    result->wallNanoseconds = nanoseconds(CLOCK_MONOTONIC) - wall;
    result->cpuNanoseconds = nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    sqlite3_stmt *statements[] = {store.find, store.addWake, store.addDevice, store.end,
                                  store.count, store.begin, store.commit};
    for (size_t place = 0; place < sizeof statements / sizeof *statements; place++) {
        sqlite3_finalize(statements[place]);
    }
    sqlite3_close(store.database);
    if (store.log >= 0) { close(store.log); }
    free(store.numbers);
    return isFine;
}
