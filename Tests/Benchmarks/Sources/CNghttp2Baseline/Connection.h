// SPDX-License-Identifier: Apache-2.0

#ifndef CNGHTTP2BASELINE_CONNECTION_H
#define CNGHTTP2BASELINE_CONNECTION_H

#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>

#include "CNghttp2Baseline.h"

enum {
    APNS_ID = 36,       // bytes of a UUID in text
    ANSWER_MAX = 256,   // the most of an answer's body that is kept
    FIELDS_MAX = 16,    // of one request
    STAGE_MAX = 65536,  // bytes collected for TLS, and the threshold at which they are written
    STAGE_FULL = 15360,
};

// One request and its answer; nghttp2 knows it by its index.
typedef struct Exchange {
    char apnsID[APNS_ID];
    uint64_t startedAt;
    uint32_t status;
    size_t bodyOffset;
    size_t answerLength;
    char answerID[APNS_ID];
    uint8_t answer[ANSWER_MAX];
} Exchange;

typedef struct Connection {
    const CNghttp2BaselineSettings *settings;
    int socket;
    SSL *tls;
    nghttp2_session *session;
    nghttp2_nv fields[FIELDS_MAX];
    size_t fieldCount;
    Exchange *exchanges;  // streamsPerConnection of them
    uint32_t *idle;
    uint32_t idleCount;
    uint64_t identity;  // makes the ids of two connections differ
    uint8_t *staged;
    size_t stagedLength;

    // The present phase.
    uint64_t wanted;
    uint64_t started;
    uint64_t finished;
    uint64_t accepted;
    uint32_t *latencies;  // NULL while warming up
} Connection;

// Connects and shakes hands, waiting for both. To be closed whatever comes back.
bool Nghttp2Connection_open(Connection *connection, SSL_CTX *context,
                     const CNghttp2BaselineSettings *settings, uint64_t identity);
void Nghttp2Connection_close(Connection *connection);
// Forgets the last phase's counts; nothing may be in flight.
void Nghttp2Connection_begin(Connection *connection, uint64_t wanted, uint32_t *latencies);
// Starts as many requests as may be, and writes what there is. False when the connection broke.
bool Connection_write(Connection *connection);
// Acts on all that has come. False when the connection broke.
bool Connection_read(Connection *connection);
// Monotonic nanoseconds.
uint64_t Nghttp2Connection_now(void);

#endif
