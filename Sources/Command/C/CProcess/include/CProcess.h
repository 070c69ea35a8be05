// SPDX-License-Identifier: Apache-2.0

// Settings of the process that glibc offers through variadic functions, which Swift cannot call.

#ifndef CPROCESS_H
#define CPROCESS_H

#include <stdbool.h>

// Keeps the memory of this process, which holds keys, out of core dumps and from other processes of
// the same user: no core file is written, and the process is not "dumpable" (prctl(2),
// PR_SET_DUMPABLE; ptrace(2)). False when the system refused one of the two.
bool CProcess_refuse_dumps(void);

#endif
