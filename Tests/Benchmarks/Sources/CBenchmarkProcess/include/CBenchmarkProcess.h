// SPDX-License-Identifier: Apache-2.0
//
// Calls of the GNU C library that Swift does not import; epoll as it is.

#ifndef CBENCHMARKPROCESS_H
#define CBENCHMARKPROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

/// Keeps the calling thread, and all threads and processes that it starts later, on one processor.
/// False when there is no such processor, or this process may not use it.
bool CBenchmarkProcess_pin(int32_t processor);
/// Lets the calling thread use any processor again.
void CBenchmarkProcess_unpin(void);

#endif
