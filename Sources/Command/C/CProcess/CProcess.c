// SPDX-License-Identifier: Apache-2.0

#include "CProcess.h"

#include <sys/prctl.h>
#include <sys/resource.h>

bool CProcess_refuse_dumps(void) {
    const struct rlimit none = {0, 0};
    // The limit applies also to a handler behind a pipe in core_pattern.
    bool hasNoCore = setrlimit(RLIMIT_CORE, &none) == 0;
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 && hasNoCore;
}
