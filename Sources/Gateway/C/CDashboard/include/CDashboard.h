// SPDX-License-Identifier: Apache-2.0
//
// The files of the dashboard, as they were when the program was built.
//
// Why C: `#embed` puts a file into the program verbatim, without a folder of resources beside
// the program and without a compiler that reads an array of a hundred thousand literals.

#ifndef CDASHBOARD_H
#define CDASHBOARD_H

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// One file. Name and bytes are constants of the program, so any thread may read them at any time.
typedef struct CDashboardFile {
    const char *name;
    const uint8_t *bytes;
    size_t length;
} CDashboardFile;

/// How many files there are.
size_t CDashboard_file_count(void);

/// The file at `index`, which must be below the count.
CDashboardFile CDashboard_file(size_t index);

#pragma clang assume_nonnull end

#endif
