// SPDX-License-Identifier: Apache-2.0
#ifndef CLIBPQ_SHIM_H
#define CLIBPQ_SHIM_H

#include <libpq-fe.h>
#include <sys/prctl.h>

// Sets the name of the calling thread for `ps` and debuggers; Swift cannot call variadic functions.
static inline void CLibpq_name_this_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

#endif
