// SPDX-License-Identifier: Apache-2.0

#ifndef CHTTP2TLS_H
#define CHTTP2TLS_H

#include "CHTTP2Shims.h"

#include <openssl/ssl.h>

struct CHTTP2TLSContext {
    SSL_CTX *context;
};

// Writes the oldest error of this thread's OpenSSL queue as text, and clears the queue, so that the
// next SSL_get_error is not affected. Writes `fallback` if the queue is empty.
void CHTTP2TLS_take_error(char *words, const char *fallback);

#endif
