// SPDX-License-Identifier: Apache-2.0
//
// A workaround for a bug of libcurl 7.88.0 and 7.88.1 (Debian 12 ships 7.88.1).
//
// These releases call nghttp2_submit_rst_stream(STREAM_CLOSED) after every stream that ended
// normally. A server that limits resets sends a GOAWAY about every thousand pushes; pushes that it
// had accepted are then reported as failed, and some would be delivered twice.
//
// An executable that links this target defines nghttp2_submit_rst_stream itself. The dynamic linker
// resolves libcurl's call to the definition in the executable, which ignores the call if, and only
// if, the error code is STREAM_CLOSED and nghttp2 no longer has the stream; every other call is
// forwarded to libnghttp2. This requires dynamically linked libcurl and libnghttp2, as on Debian.

#ifndef CNGHTTP2RESETGUARD_H
#define CNGHTTP2RESETGUARD_H

#include <stdbool.h>
#include <stdint.h>

/// Always true. Its presence in the process is detected by name, so that callers need not link it.
bool CNghttp2ResetGuard_isLinked(void);
/// The number of ignored resets. May be called from any thread.
uint64_t CNghttp2ResetGuard_droppedResets(void);

#endif
