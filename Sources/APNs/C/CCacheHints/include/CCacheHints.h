// SPDX-License-Identifier: Apache-2.0

// What Swift has no word for: hints to the processor's caches.

#ifndef CCACHEHINTS_H
#define CCACHEHINTS_H

#include <stddef.h>
#include <stdint.h>

// Asks for the cache lines from `address` on while the program goes on. A hint cannot fault, and
// changes nothing that a program can see: any address will do, also one at which nothing is.
static inline void CCacheHints_prefetch(uintptr_t address, size_t lines) {
    enum { LINE = 64 };
    for (size_t line = 0; line < lines; line++) {
        __builtin_prefetch((const void *)(address + line * LINE), 1);
    }
}

#endif
