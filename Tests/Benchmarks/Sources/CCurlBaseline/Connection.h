// SPDX-License-Identifier: Apache-2.0
//
// One connection's pushes, as both programs of CCurlBaseline send them: the handles, the next
// request, the last answer. The two differ in how they wait and when they call libcurl.

#ifndef CCURLBASELINE_CONNECTION_H
#define CCURLBASELINE_CONNECTION_H

#include <curl/curl.h>

#include "CCurlBaseline.h"

/// The most of an answer's body that is kept: room for APNs' longest reason.
enum { ANSWER_MAX = 256 };

typedef struct Connection Connection;

/// One easy handle with the bytes that must outlive its transfer.
typedef struct Transfer {
    CURL *easy;
    Connection *connection;
    struct curl_slist ownHeader;  // chained in front of the shared list, which libcurl only reads
    char ownHeaderLine[48];
    size_t bodyOffset;
    uint64_t startedAt;
    char answer[ANSWER_MAX];
    size_t answerLength;
} Transfer;

struct Connection {
    const CCurlBaselineSettings *settings;
    CURLM *multi;
    CURLU *url;
    struct curl_slist *sharedHeaders;
    Transfer *transfers;  // streamsPerConnection of them
    Transfer **idle;
    size_t idleCount;
    uint64_t identity;  // makes the ids of two connections differ

    // The present phase.
    uint64_t wanted;
    uint64_t started;
    uint64_t finished;
    uint64_t accepted;
    uint64_t failed;
    int32_t firstFailure;
    uint32_t *latencies;  // NULL while warming up
};

bool Connection_open(Connection *connection, const CCurlBaselineSettings *settings,
                     uint64_t identity);
void Connection_close(Connection *connection);
/// Forgets the last phase's counts; nothing may be in flight.
void Connection_begin(Connection *connection, uint64_t wanted, uint32_t *latencies);
/// Hands requests to libcurl until as many as allowed are in flight or all have been started.
void Connection_fill(Connection *connection);
/// Books a finished transfer. It must still be, or have been, removed from the CURLM by the caller.
void Connection_settle(Connection *connection, CURL *easy, CURLcode code);
/// Monotonic nanoseconds.
uint64_t monotonic_nanoseconds(void);

#endif
