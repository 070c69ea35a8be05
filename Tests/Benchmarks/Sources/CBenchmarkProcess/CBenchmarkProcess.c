// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CBenchmarkProcess.h"

#include <sched.h>

bool CBenchmarkProcess_pin(int32_t processor) {
    if (processor < 0 || processor >= CPU_SETSIZE) return false;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

void CBenchmarkProcess_unpin(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int processor = 0; processor < CPU_SETSIZE; processor++) CPU_SET(processor, &set);
    // The kernel takes those away that do not exist. Should it refuse, the thread stays pinned.
    sched_setaffinity(0, sizeof set, &set);
}
