// SPDX-License-Identifier: Apache-2.0

#ifndef CHTTP2TLS_H
#define CHTTP2TLS_H

#include "CHTTP2Shims.h"

#include <openssl/ssl.h>

struct CHTTP2TLSContext {
    SSL_CTX *context;
    SSL_SESSION *session;  // the latest that a server gave for resumption; NULL for none
    int64_t verifiedAt;    // monotonic milliseconds, when a certificate was last verified
    bool neverResumes;
};

// Has a new connection resume the latest session, if there is one that it may. Says whether.
bool CHTTP2TLSContext_resume(CHTTP2TLSContext *context, SSL *tls);
// To be called once a handshake has ended well.
void CHTTP2TLSContext_did_connect(CHTTP2TLSContext *context, SSL *tls);
// A handshake that was to resume a session failed: the following ones resume none.
void CHTTP2TLSContext_did_fail_to_resume(CHTTP2TLSContext *context);

// Writes the oldest error of this thread's OpenSSL queue as text, and clears the queue, so that the
// next SSL_get_error is not affected. Writes `fallback` if the queue is empty.
void CHTTP2TLS_take_error(char *words, const char *fallback);

#endif
