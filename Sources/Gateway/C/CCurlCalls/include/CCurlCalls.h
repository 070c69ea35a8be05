// SPDX-License-Identifier: Apache-2.0
//
// Typed shims over libcurl's easy interface, for CurlHTTP alone: one ordinary HTTP request at a
// time, which blocks the calling thread. Why C: see CCurlShims.h; no Swift code runs inside a
// libcurl frame here either.

#ifndef CCURLCALLS_H
#define CCURLCALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// One easy handle with its connection, which is used again. Belongs to one thread at a time.
typedef struct CCurlCaller CCurlCaller;

/// NULL when memory ran out. CCurl_global_init must have been called.
CCurlCaller *_Nullable CCurlCaller_create(void);
void CCurlCaller_destroy(CCurlCaller *caller);

/// Adds a line `name: value`, copied, to the next requests. False when memory ran out.
bool CCurlCaller_append_header(CCurlCaller *caller, const char *line);
/// Forgets all lines.
void CCurlCaller_clear_headers(CCurlCaller *caller);

typedef struct CCurlCall {
    const char *url;                              // http:// or https://
    const char *method;
    const uint8_t *_Nullable body;                // NULL for none
    size_t bodyLength;
    const char *_Nullable unixSocket;             // instead of the URL's host
    const char *_Nullable certificateAuthorityFile;  // NULL for the system's
    int64_t connectTimeoutMilliseconds;
    int64_t timeoutMilliseconds;                  // of the whole request
    size_t answerLimit;                           // the most bytes of an answer's body
} CCurlCall;

/// What is known of a finished call. The pointers live until the next call or destroy.
typedef struct CCurlAnswer {
    int32_t code;                 // libcurl's CURLcode; 0 when an answer came
    int64_t status;
    int64_t retryAfterSeconds;    // of the header Retry-After; 0 without it
    const char *_Nullable redirectURL;  // the whole URL that a redirect leads to; else NULL
    bool isTooLarge;
    bool isSent;                  // some of the request went out, or of one to a proxy
    const char *error;            // libcurl's words, possibly empty
    const uint8_t *_Nullable body;
    size_t bodyLength;
} CCurlAnswer;

/// Performs one request and waits for its answer. Redirects are not followed; the environment's
/// proxies count as libcurl reads them, but not for this machine's own addresses: a proxy elsewhere
/// cannot reach them, and must not see what was meant for them.
CCurlAnswer CCurlCaller_call(CCurlCaller *caller, const CCurlCall *call);

/// Whether the host of a URL, as libcurl reads it, is this machine: a loopback address in any
/// notation, `localhost` or a name below it (RFC 6761 §6.3). False for what is no URL.
bool CCurl_is_loopback(const char *url);

#pragma clang assume_nonnull end

#endif
