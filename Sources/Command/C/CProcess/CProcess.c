// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CProcess.h"

#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

bool CProcess_refuse_dumps(void) {
    const struct rlimit none = {0, 0};
    // The limit applies also to a handler behind a pipe in core_pattern.
    bool hasNoCore = setrlimit(RLIMIT_CORE, &none) == 0;
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 && hasNoCore;
}

const char *CProcess_variable(long place) { return environ ? environ[place] : NULL; }

int CProcess_processor_count(void) {
    cpu_set_t usable;
    return sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : 1;
}
