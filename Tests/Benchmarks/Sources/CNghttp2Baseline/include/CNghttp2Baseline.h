// SPDX-License-Identifier: Apache-2.0
//
// What a C program gets out of nghttp2 and libssl: the yardstick for HTTP2Transport, measured in the
// same run, on the same libraries. One thread, epoll, frames collected until a TLS record
// is full, names and values lent and not copied, the two headers that change kept out of the table.
// It sends and books, and does nothing about errors but count them.

#ifndef CNGHTTP2BASELINE_H
#define CNGHTTP2BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// What to send, and how. Everything pointed at must outlive the run.
typedef struct CNghttp2BaselineSettings {
    uint16_t port;  // of 127.0.0.1
    const char *authority;
    const char *certificateAuthorityFile;
    const char *const _Nonnull *_Nonnull paths;  // one request's path each, taken in turn
    size_t pathCount;
    const char *const _Nonnull *_Nonnull sharedNames;  // header fields of every request
    const char *const _Nonnull *_Nonnull sharedValues;
    size_t sharedCount;
    const uint8_t *body;
    size_t bodyLength;
    uint32_t connections;
    uint32_t streamsPerConnection;  // always this many in flight
    uint64_t warmUpPushes;          // of each connection, before the clocks are read
    uint64_t pushesPerConnection;
    uint32_t *latencies;  // room for all pushes, in microseconds from the start to the answer
} CNghttp2BaselineSettings;

typedef struct CNghttp2BaselineResult {
    uint64_t accepted;  // answered 200
    uint64_t failed;    // anything else
    uint64_t wallNanoseconds;
    uint64_t cpuNanoseconds;  // user and system time of the whole process
} CNghttp2BaselineResult;

/// Sends all pushes and returns when the last is answered, on the calling thread. False when a
/// connection could not be made or was lost.
bool CNghttp2Baseline_run(const CNghttp2BaselineSettings *settings,
                          CNghttp2BaselineResult *result);

#pragma clang assume_nonnull end

#endif
