// SPDX-License-Identifier: Apache-2.0
//
// Included before everything else where the shims are compiled: their allocations can be made to
// fail one by one.

#ifndef SCARCE_H
#define SCARCE_H

// Some of the shims ask for it, which must come before the first header.
#define _GNU_SOURCE
#include <stdlib.h>

// See Checks.h.
extern long scarceCountdown;

static inline int is_scarce(void) { return scarceCountdown >= 0 && scarceCountdown-- == 0; }

static inline void *scarce_malloc(size_t size) { return is_scarce() ? NULL : malloc(size); }

static inline void *scarce_calloc(size_t count, size_t size) {
    return is_scarce() ? NULL : calloc(count, size);
}

static inline void *scarce_realloc(void *block, size_t size) {
    return is_scarce() ? NULL : realloc(block, size);
}

#define malloc scarce_malloc
#define calloc scarce_calloc
#define realloc scarce_realloc

#endif
