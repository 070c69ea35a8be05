// SPDX-License-Identifier: Apache-2.0
//
// Typed shims over libcurl's easy interface, for CurlHTTP only: one HTTP request at a time, which
// blocks the calling thread. For the reasons for C see CCurlShims.h; here too, no Swift code runs
// inside a libcurl frame.

#ifndef CCURLCALLS_H
#define CCURLCALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// An easy handle with its connection, which is reused. Must not be used by two threads at once.
typedef struct CCurlCaller CCurlCaller;

/// Creates a caller. Returns NULL if memory is exhausted. CCurl_global_init must have been called.
CCurlCaller *_Nullable CCurlCaller_create(void);
void CCurlCaller_destroy(CCurlCaller *caller);

/// Adds a header field `name: value`, which is copied, to the next requests. Returns false if
/// memory is exhausted.
bool CCurlCaller_append_header(CCurlCaller *caller, const char *line);
/// Removes all header fields.
void CCurlCaller_clear_headers(CCurlCaller *caller);

typedef struct CCurlCall {
    const char *url;                              // http:// or https://
    const char *method;
    const uint8_t *_Nullable body;                // NULL for none
    size_t bodyLength;
    const char *_Nullable unixSocket;             // instead of the URL's host
    const char *_Nullable certificateAuthorityFile;  // NULL for the system's
    int64_t connectTimeoutMilliseconds;
    int64_t timeoutMilliseconds;                  // for the whole request
    size_t answerLimit;                           // the maximum size of an answer's body, in bytes
} CCurlCall;

/// The result of a call. The pointers are valid until the next call or the destruction.
typedef struct CCurlAnswer {
    int32_t code;                 // libcurl's CURLcode; 0 if there is an answer
    int64_t status;
    int64_t retryAfterSeconds;    // from the header Retry-After; 0 without it
    const char *_Nullable redirectURL;  // the absolute URL of a redirect; else NULL
    bool isTooLarge;
    bool isSent;                  // a part of the request was sent, to the host or to a proxy
    const char *error;            // libcurl's error message; may be empty
    const uint8_t *_Nullable body;
    size_t bodyLength;
} CCurlAnswer;

/// Performs one request and waits for its answer. Redirects are not followed. The proxies of the
/// environment are used as libcurl reads them, except for addresses of this machine: a proxy
/// elsewhere cannot reach them and must not see their requests.
CCurlAnswer CCurlCaller_call(CCurlCaller *caller, const CCurlCall *call);

/// Whether the host of a URL, as libcurl parses it, is this machine: a loopback address in any
/// notation, `localhost`, or a subdomain of it (RFC 6761 §6.3). False for an invalid URL.
bool CCurl_is_loopback(const char *url);

#pragma clang assume_nonnull end

#endif
