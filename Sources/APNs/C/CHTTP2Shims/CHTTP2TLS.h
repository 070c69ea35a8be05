// SPDX-License-Identifier: Apache-2.0

#ifndef CHTTP2TLS_H
#define CHTTP2TLS_H

#include "CHTTP2Shims.h"

#include <openssl/ssl.h>

struct CHTTP2TLSContext {
    SSL_CTX *context;
};

// Takes the oldest error off OpenSSL's queue of this thread as words, and empties the queue, so that
// the next SSL_get_error does not meet it. `fallback` is what is said when the queue is empty.
void CHTTP2TLS_take_error(char *words, const char *fallback);

#endif
