// SPDX-License-Identifier: Apache-2.0
//
// What a C program gets out of libcurl: the yardstick for CurlTransport, measured beside it in the
// same run, on the same libcurl. No Swift runs between the first push of a measurement and the
// last.
//
// Two programs. `plain` is what a skilled C programmer writes from libcurl's documentation:
// curl_multi_perform and curl_multi_poll, easy handles that are used again, one connection for each
// thread. `tuned` adds what measurements taught about libcurl 7.88.1 and what CurlTransport does
// too: epoll and curl_multi_socket_action, TCP_CORK around each burst, no epoll_ctl for a wish that
// changes back, the URL parsed once, all finished transfers collected before any is removed.

#ifndef CCURLBASELINE_H
#define CCURLBASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// What to send, and how. Everything pointed at must outlive the run.
typedef struct CCurlBaselineSettings {
    const char *url;  // https://host:port/
    const char *certificateAuthorityFile;
    const char *const _Nonnull *_Nonnull paths;  // one request's path each, taken in turn
    size_t pathCount;
    const char *const _Nonnull *_Nonnull sharedHeaders;  // "name: value", of every request
    size_t sharedHeaderCount;
    const char *userAgent;
    const uint8_t *body;
    size_t bodyLength;
    uint32_t connections;
    uint32_t streamsPerConnection;  // always this many in flight
    uint64_t warmUpPushes;          // of each connection, before the clocks are read
    uint64_t pushesPerConnection;
    bool isTuned;
    uint32_t *latencies;  // room for all pushes, in microseconds from the start to the answer
} CCurlBaselineSettings;

typedef struct CCurlBaselineResult {
    uint64_t accepted;  // answered 200
    uint64_t failed;    // anything else
    int32_t firstFailure;  // CURLcode of one of the failed; 0 for an answer other than 200
    uint64_t wallNanoseconds;
    uint64_t cpuNanoseconds;  // user and system time of the whole process
} CCurlBaselineResult;

/// Sends all pushes and returns when the last is answered. Uses the calling thread, and more threads
/// for more connections in the plain form. False when libcurl or the system gave no handle.
bool CCurlBaseline_run(const CCurlBaselineSettings *settings, CCurlBaselineResult *result);

#pragma clang assume_nonnull end

#endif
