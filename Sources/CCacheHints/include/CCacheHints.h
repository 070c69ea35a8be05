// SPDX-License-Identifier: Apache-2.0

// What Swift has no word for: hints to the processor's caches.

#ifndef CCACHEHINTS_H
#define CCACHEHINTS_H

#include <stddef.h>

#pragma clang assume_nonnull begin

// Asks for the cache lines from `address` on, to be written soon, while the program goes on. A hint
// touches no memory: one for an address that is not there does nothing.
static inline void CCacheHints_prefetch(const void *_Nullable address, size_t lines) {
    enum { LINE = 64 };
    for (size_t line = 0; line < lines; line++) {
        __builtin_prefetch((const char *)address + line * LINE, 1);
    }
}

#pragma clang assume_nonnull end

#endif
