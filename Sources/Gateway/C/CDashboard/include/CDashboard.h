// SPDX-License-Identifier: Apache-2.0
//
// The files of the dashboard, as of the build.
//
// Why C: `#embed` copies a file into the program, without a resource folder beside the program and
// without an array of a hundred thousand literals in Swift.

#ifndef CDASHBOARD_H
#define CDASHBOARD_H

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// A file. Its name and bytes are constants, which any thread may read at any time.
typedef struct CDashboardFile {
    const char *name;
    const uint8_t *bytes;
    size_t length;
} CDashboardFile;

/// The number of files.
size_t CDashboard_file_count(void);

/// The file at `index`, which must be less than the count.
CDashboardFile CDashboard_file(size_t index);

#pragma clang assume_nonnull end

#endif
