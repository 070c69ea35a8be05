// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CNghttp2ResetGuard.h"

#include <dlfcn.h>
#include <nghttp2/nghttp2.h>
#include <stdatomic.h>
#include <stddef.h>

// nghttp2.h requires this visibility; -fvisibility=hidden must not override it.
#define EXPORTED __attribute__((visibility("default"), used))

static atomic_uint_fast64_t dropped;

EXPORTED bool CNghttp2ResetGuard_isLinked(void) { return true; }

EXPORTED uint64_t CNghttp2ResetGuard_droppedResets(void) {
    return atomic_load_explicit(&dropped, memory_order_relaxed);
}

typedef int SubmitReset(nghttp2_session *, uint8_t, int32_t, uint32_t);

EXPORTED int nghttp2_submit_rst_stream(nghttp2_session *session, uint8_t flags, int32_t stream_id,
                                       uint32_t error_code) {
    if (error_code == NGHTTP2_STREAM_CLOSED && !nghttp2_session_find_stream(session, stream_id)) {
        atomic_fetch_add_explicit(&dropped, 1, memory_order_relaxed);
        return 0;
    }
    // Looked up once; concurrent calls store the same pointer.
    static _Atomic(SubmitReset *) next;
    SubmitReset *submit = atomic_load_explicit(&next, memory_order_relaxed);
    if (!submit) {
        submit = (SubmitReset *)dlsym(RTLD_NEXT, "nghttp2_submit_rst_stream");
        // libcurl links libnghttp2 wherever this guard has an effect; otherwise this is not called.
        if (!submit) return NGHTTP2_ERR_INVALID_STATE;
        atomic_store_explicit(&next, submit, memory_order_relaxed);
    }
    return submit(session, flags, stream_id, error_code);
}
