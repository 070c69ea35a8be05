// SPDX-License-Identifier: Apache-2.0

// Process settings whose glibc functions are variadic, which Swift cannot call.

#ifndef CPROCESS_H
#define CPROCESS_H

#include <stdbool.h>

// Keeps the memory of this process, which contains keys, out of core dumps and from other processes
// of the same user: disables core files and clears the "dumpable" attribute (prctl(2),
// PR_SET_DUMPABLE; ptrace(2)). Returns false if the system refused one of the two.
bool CProcess_refuse_dumps(void);

#endif
