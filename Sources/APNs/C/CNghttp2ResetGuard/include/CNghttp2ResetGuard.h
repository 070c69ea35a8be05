// SPDX-License-Identifier: Apache-2.0
//
// A guard against a fault of libcurl 7.88.0 and 7.88.1 (Debian 12 ships 7.88.1).
//
// Those releases call nghttp2_submit_rst_stream(STREAM_CLOSED) after every stream that ended well.
// A server that limits resets answers with a GOAWAY about every thousand pushes; pushes that it had
// accepted are then reported as failed, and some would be delivered twice.
//
// An executable that links this target defines nghttp2_submit_rst_stream itself. The dynamic linker
// resolves libcurl's call to the executable's definition, which drops the call if, and only if, the
// error code is STREAM_CLOSED and nghttp2 no longer has the stream; every other call goes on to
// libnghttp2. Works with a dynamically linked libcurl and libnghttp2, which is how Debian ships
// both.

#ifndef CNGHTTP2RESETGUARD_H
#define CNGHTTP2RESETGUARD_H

#include <stdbool.h>
#include <stdint.h>

/// True: the guard is part of this process. Found by its name, so that others need not link it.
bool CNghttp2ResetGuard_isLinked(void);
/// How many needless resets were dropped so far. Any thread may ask.
uint64_t CNghttp2ResetGuard_droppedResets(void);

#endif
