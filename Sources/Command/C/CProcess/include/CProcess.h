// SPDX-License-Identifier: Apache-2.0

// What of the process Swift cannot reach: functions of glibc that are variadic or extensions, and
// the environment, a global variable.

#ifndef CPROCESS_H
#define CPROCESS_H

#include <stdbool.h>

// Keeps the memory of this process, which contains keys, out of core dumps and from other processes
// of the same user: disables core files and clears the "dumpable" attribute (prctl(2),
// PR_SET_DUMPABLE; ptrace(2)). Returns false if the system refused one of the two.
bool CProcess_refuse_dumps(void);

// The entry of the environment at a place, as `NAME=value`; null behind the last one. It is valid
// until the environment is changed.
const char *_Nullable CProcess_variable(long place);

// The number of processors in the affinity of this process, sched_getaffinity(2).
int CProcess_processor_count(void);

#endif
