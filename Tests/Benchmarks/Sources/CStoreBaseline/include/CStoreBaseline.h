// SPDX-License-Identifier: Apache-2.0
//
// What a C program needs to keep wakes in SQLite: the yardstick for StoreSQLite, measured in the
// same run. The same tables, indexes, page size and durability; a transaction for each batch that
// looks its devices up, adds the wakes as claimed and the devices as charged, and another that
// writes the outcomes; a flush after each. It decides nothing, sends nothing, and encodes nothing
// but what is written.

#ifndef CSTOREBASELINE_H
#define CSTOREBASELINE_H

#include <stdbool.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

typedef struct CStoreBaselineResult {
    uint64_t wallNanoseconds;
    uint64_t cpuNanoseconds;  // user and system time of the whole process
} CStoreBaselineResult;

/// Keeps so many wakes, each to another device, in batches, in a new file at the path. False when
/// SQLite or the disk failed.
bool CStoreBaseline_run(const char *path, uint32_t wakes, uint32_t batch,
                        CStoreBaselineResult *result);

#pragma clang assume_nonnull end

#endif
