// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "Connection.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t monotonic_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static size_t give_body(char *buffer, size_t size, size_t count, void *context) {
    Transfer *transfer = context;
    const CCurlBaselineSettings *settings = transfer->connection->settings;
    size_t left = settings->bodyLength - transfer->bodyOffset;
    size_t given = left < size * count ? left : size * count;
    memcpy(buffer, settings->body + transfer->bodyOffset, given);
    transfer->bodyOffset += given;
    return given;
}

static size_t take_answer(char *bytes, size_t size, size_t count, void *context) {
    Transfer *transfer = context;
    size_t room = ANSWER_MAX - transfer->answerLength;
    size_t kept = size * count < room ? size * count : room;
    memcpy(transfer->answer + transfer->answerLength, bytes, kept);
    transfer->answerLength += kept;
    return size * count;
}

static bool prepare(Transfer *transfer, Connection *connection) {
    const CCurlBaselineSettings *settings = connection->settings;
    transfer->connection = connection;
    CURL *easy = transfer->easy = curl_easy_init();
    if (!easy) return false;
    if (settings->isTuned) {
        curl_easy_setopt(easy, CURLOPT_CURLU, connection->url);
        curl_easy_setopt(easy, CURLOPT_READFUNCTION, give_body);
        curl_easy_setopt(easy, CURLOPT_READDATA, transfer);
    } else {
        curl_easy_setopt(easy, CURLOPT_URL, settings->url);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, settings->body);
    }
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)settings->bodyLength);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_CAINFO, settings->certificateAuthorityFile);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, settings->userAgent);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_answer);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    return true;
}

bool Connection_open(Connection *connection, const CCurlBaselineSettings *settings,
                     uint64_t identity) {
    memset(connection, 0, sizeof *connection);
    connection->settings = settings;
    connection->identity = identity;
    connection->multi = curl_multi_init();
    connection->url = curl_url();
    connection->transfers = calloc(settings->streamsPerConnection, sizeof *connection->transfers);
    connection->idle = calloc(settings->streamsPerConnection, sizeof *connection->idle);
    if (!connection->multi || !connection->url || !connection->transfers || !connection->idle ||
        curl_url_set(connection->url, CURLUPART_URL, settings->url, 0) != CURLUE_OK)
        return false;
    curl_multi_setopt(connection->multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl_multi_setopt(connection->multi, CURLMOPT_MAX_HOST_CONNECTIONS, 1L);
    curl_multi_setopt(connection->multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 1000L);
    // libcurl adds these by itself; a line without a value takes them out.
    static const char *const removed[] = {"Accept:", "Content-Type:", "Expect:"};
    for (size_t i = 0; i < sizeof removed / sizeof *removed; i++)
        connection->sharedHeaders = curl_slist_append(connection->sharedHeaders, removed[i]);
    for (size_t i = 0; i < settings->sharedHeaderCount; i++)
        connection->sharedHeaders =
            curl_slist_append(connection->sharedHeaders, settings->sharedHeaders[i]);
    for (size_t i = 0; i < settings->streamsPerConnection; i++) {
        if (!prepare(&connection->transfers[i], connection)) return false;
        connection->idle[connection->idleCount++] = &connection->transfers[i];
    }
    return true;
}

void Connection_close(Connection *connection) {
    for (size_t i = 0; connection->transfers && i < connection->settings->streamsPerConnection; i++)
        curl_easy_cleanup(connection->transfers[i].easy);
    curl_multi_cleanup(connection->multi);
    curl_url_cleanup(connection->url);
    curl_slist_free_all(connection->sharedHeaders);
    free(connection->transfers);
    free(connection->idle);
}

void Connection_begin(Connection *connection, uint64_t wanted, uint32_t *latencies) {
    connection->wanted = wanted;
    connection->started = connection->finished = 0;
    connection->accepted = connection->failed = 0;
    connection->firstFailure = 0;
    connection->latencies = latencies;
}

/// Writes `apns-id: ` and a version 4 UUID, as a client that numbers its pushes would.
static void write_id(char *line, uint64_t high, uint64_t low) {
    static const char digits[] = "0123456789abcdef";
    memcpy(line, "apns-id: ", 9);
    char *next = line + 9;
    for (int digit = 0; digit < 32; digit++) {
        if (digit == 8 || digit == 12 || digit == 16 || digit == 20) *next++ = '-';
        uint64_t word = digit < 16 ? high : low;
        *next++ = digits[word >> (60 - 4 * (digit % 16)) & 15];
    }
    *next = 0;
}

static void start(Connection *connection) {
    const CCurlBaselineSettings *settings = connection->settings;
    Transfer *transfer = connection->idle[--connection->idleCount];
    uint64_t number = connection->started++;
    write_id(transfer->ownHeaderLine, (connection->identity << 48 | number << 16) | 0x4000,
             number | 0x8000000000000000u);
    transfer->ownHeader.data = transfer->ownHeaderLine;
    transfer->ownHeader.next = connection->sharedHeaders;
    transfer->bodyOffset = 0;
    transfer->answerLength = 0;
    curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, &transfer->ownHeader);
    curl_easy_setopt(transfer->easy, CURLOPT_REQUEST_TARGET,
                     settings->paths[number % settings->pathCount]);
    transfer->startedAt = monotonic_nanoseconds();
    curl_multi_add_handle(connection->multi, transfer->easy);
}

void Connection_fill(Connection *connection) {
    while (connection->idleCount > 0 && connection->started < connection->wanted) start(connection);
}

void Connection_settle(Connection *connection, CURL *easy, CURLcode code) {
    char *pointer = NULL;
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &pointer);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    Transfer *transfer = (Transfer *)(void *)pointer;
    if (code == CURLE_OK && status == 200) {
        connection->accepted++;
    } else {
        if (connection->failed++ == 0) connection->firstFailure = (int32_t)code;
    }
    if (connection->latencies)
        connection->latencies[connection->finished] =
            (uint32_t)((monotonic_nanoseconds() - transfer->startedAt) / 1000);
    connection->finished++;
    connection->idle[connection->idleCount++] = transfer;
}
