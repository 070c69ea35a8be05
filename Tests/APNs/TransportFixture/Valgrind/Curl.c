// SPDX-License-Identifier: Apache-2.0
//
// The shims over libcurl: transfers to nghttpd as CurlTransport makes them, and ordinary calls as
// CurlHTTP does.

#include "CCurlCalls.h"
#include "CCurlShims.h"
#include "Checks.h"

#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { EXCHANGES = 20, TURNS = 2000, TURN_MILLISECONDS = 100 };

// MARK: - Transfers

typedef struct Transfers {
    CCurlReactor *reactor;
    CCurlConnection *connection;
    CCurlExchange *exchanges[EXCHANGES];
    CCurlHeaderBlock *shared;
    uint32_t started, answered, failed;
} Transfers;

static void start(Transfers *transfers, CCurlExchange *exchange) {
    static const size_t lengths[] = {1, 60, 4096, 5120, 40000, 150000};
    const uint32_t tag = transfers->started++;
    const size_t length = lengths[tag % 20 ? tag % 4 : tag / 20 % 6];
    char path[128];
    snprintf(path, sizeof path, "/3/device/%064d%s", 0, tag % 2 ? "1" : "");
    uint8_t *lent = lend(path, strlen(path) + 1), *body = lend_text(length, tag);
    CCurlExchange_set_tag(exchange, tag);
    CHECK(CCurlExchange_prepare(exchange, (char *)lent, transfers->shared, body, length), "memory");
    free(lent);
    free(body);
    for (uint32_t index = 0; index <= CCURL_OWN_HEADERS_MAX; index++) {
        const size_t valueLength = tag % 7 ? 36 : 900;
        uint8_t *name = lend("apns-words", 10), *value = lend_text(valueLength, index);
        const bool isTaken =
            CCurlExchange_append_header(exchange, name, 10, value, valueLength);
        CHECK(isTaken == (index < CCURL_OWN_HEADERS_MAX), "header %u", index);
        free(name);
        free(value);
    }
    CHECK(CCurlExchange_start(exchange) == 0, "push %u was not started", tag);
}

static void settle(Transfers *transfers, CCurlExchange *exchange, int32_t code) {
    const CCurlReport report = CCurlExchange_report(exchange);
    // What is reported is read, so that bytes nobody wrote are seen.
    CHECK(hash_bytes(hash_bytes(HASH_START, report.headers, report.headersLength), report.body,
                     report.bodyLength) != 0,
          "a hash is 0");
    CCurlExchange_remove(exchange);
    if (code != CCurl_codes().ok) {
        CHECK(strlen(report.error) > 0 && strlen(CCurl_error_name(code)) > 0, "no words");
        transfers->failed++;
        return;
    }
    const int64_t expected = CCurlExchange_tag(exchange) % 2 ? 404 : 200;
    CHECK(report.status == expected && report.httpVersion == 2 && report.requestBegan,
          "push %u: status %d", (unsigned)CCurlExchange_tag(exchange), (int)report.status);
    transfers->answered++;
}

// Turns until so many have ended; those that ended are started again until there were enough.
static void run(Transfers *transfers, uint32_t wanted, uint32_t count) {
    for (int turn = 0; transfers->answered + transfers->failed < wanted; turn++) {
        CHECK(turn < TURNS, "%u of %u ended", transfers->answered + transfers->failed, wanted);
        CCurlReactor_turn(transfers->reactor, TURN_MILLISECONDS);
        int32_t code;
        CCurlExchange *exchange;
        while ((exchange = CCurlConnection_next_finished(transfers->connection, &code))) {
            settle(transfers, exchange, code);
            if (transfers->started < count) start(transfers, exchange);
        }
    }
}

static void open_transfers(Transfers *transfers, const CCurlSettings *settings) {
    *transfers = (Transfers){.reactor = CCurlReactor_create(), .shared = CCurlHeaderBlock_create()};
    CHECK(transfers->reactor && transfers->shared, "no memory");
    uint8_t *line = lend("authorization: bearer x", 23);
    CHECK(CCurlHeaderBlock_append(transfers->shared, line, 23), "no memory");
    free(line);
    transfers->connection = CCurlConnection_create(transfers->reactor, settings);
    CHECK(transfers->connection, "no connection");
    for (uint32_t index = 0; index < EXCHANGES; index++) {
        transfers->exchanges[index] = CCurlExchange_create(transfers->connection);
        CHECK(transfers->exchanges[index], "no memory");
    }
}

static void close_transfers(Transfers *transfers) {
    for (uint32_t index = 0; index < EXCHANGES; index++) {
        CCurlExchange_remove(transfers->exchanges[index]);
        CCurlExchange_destroy(transfers->exchanges[index]);
    }
    CHECK(CCurlConnection_waiting(transfers->connection) == 0, "pushes wait");
    CCurlConnection_destroy(transfers->connection);
    CCurlHeaderBlock_destroy(transfers->shared);
    CCurlReactor_wake(transfers->reactor);
    CHECK(CCurlReactor_turn(transfers->reactor, 0), "a wake was lost");
    CCurlReactor_destroy(transfers->reactor);
}

static void check_transfers(const CCurlSettings *settings, uint32_t count) {
    Transfers transfers;
    open_transfers(&transfers, settings);
    // The first one alone, as the transport validates a connection.
    start(&transfers, transfers.exchanges[0]);
    run(&transfers, 1, 1);
    for (uint32_t index = 0; index < EXCHANGES; index++)
        start(&transfers, transfers.exchanges[index]);
    run(&transfers, count, count);
    CHECK(transfers.answered == count, "%u of %u answered", transfers.answered, count);
    CHECK(!CCurlConnection_is_lost(transfers.connection), "the connection is lost");
    // Taken back with answers under way.
    for (uint32_t index = 0; index < EXCHANGES; index++)
        start(&transfers, transfers.exchanges[index]);
    CCurlReactor_turn(transfers.reactor, TURN_MILLISECONDS);
    close_transfers(&transfers);
}

static void check_refusal(const CCurlSettings *settings) {
    Transfers transfers;
    open_transfers(&transfers, settings);
    for (uint32_t index = 0; index < EXCHANGES; index++)
        start(&transfers, transfers.exchanges[index]);
    run(&transfers, EXCHANGES, 0);
    CHECK(transfers.failed == EXCHANGES, "%u answered", transfers.answered);
    close_transfers(&transfers);
}

// MARK: - Calls

// Takes requests on a Unix socket, one connection after the other, until it is shut down.
static void *serve(void *context) {
    static const char answer[] =
        "HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 5000\r\n\r\n";
    const int listener = *(int *)context;
    int connection;
    while ((connection = accept(listener, NULL, NULL)) >= 0) {
        char bytes[65536];
        size_t length = 0;
        ssize_t count;
        while ((count = read(connection, bytes + length, sizeof bytes - 1 - length)) > 0) {
            length += (size_t)count;
            bytes[length] = 0;
            // Each request of the check ends with this word, in its body or its last field.
            if (!strstr(bytes, "final")) continue;
            char body[5000];
            memset(body, 'b', sizeof body);
            if (write(connection, answer, sizeof answer - 1) < 0 ||
                write(connection, body, sizeof body) < 0)
                break;
            length = 0;
        }
        close(connection);
    }
    return NULL;
}

static void call_repeatedly(const char *path) {
    CCurlCaller *caller = CCurlCaller_create();
    CHECK(caller, "no memory");
    for (uint32_t index = 0; index < 30; index++) {
        char line[] = "X-Word: final";
        const bool hasBody = index % 2 != 0;
        CCurlCaller_clear_headers(caller);
        CHECK(CCurlCaller_append_header(caller, hasBody ? "X-Word: first" : line), "no memory");
        uint8_t *body = lend("{\"word\":\"final\"}", 16);
        const CCurlCall call = {.url = "http://localhost/v1/words",
                                .method = hasBody ? "POST" : "DELETE",
                                .body = hasBody ? body : NULL,
                                .bodyLength = hasBody ? 16 : 0,
                                .unixSocket = path,
                                .connectTimeoutMilliseconds = 5000,
                                .timeoutMilliseconds = 20000,
                                .answerLimit = index % 5 == 4 ? 4999 : 5000};
        const CCurlAnswer answer = CCurlCaller_call(caller, &call);
        free(body);
        CHECK(answer.isTooLarge == (index % 5 == 4), "call %u: %s", index, answer.error);
        CHECK(answer.status == 503 && answer.retryAfterSeconds == 7, "%s", answer.error);
        if (answer.isTooLarge) continue;
        CHECK(answer.code == 0 && answer.bodyLength == 5000, "%s", answer.error);
        for (size_t at = 0; at < answer.bodyLength; at++) CHECK(answer.body[at] == 'b', "body");
    }
    const CCurlCall lost = {.url = "http://localhost/", .method = "GET",
                            .unixSocket = "/nonexistent", .timeoutMilliseconds = 5000};
    const CCurlAnswer answer = CCurlCaller_call(caller, &lost);
    CHECK(answer.code != 0 && answer.status == 0 && strlen(answer.error) > 0, "it was reached");
    CCurlCaller_destroy(caller);
}

static void check_calls(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "valgrind-calls.socket");
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 &&
              listen(listener, 4) == 0,
          "cannot listen at %s", address.sun_path);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, serve, &listener) == 0, "no thread");
    call_repeatedly(address.sun_path);
    shutdown(listener, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(listener);
}

void check_curl(const Place *place) {
    CHECK(CCurl_global_init() == 0, "libcurl");
    CHECK(CCurl_has_reset_guard(), "the reset guard is not linked");
    printf("libcurl %s\n", CCurl_version().version);
    char url[64], closed[64], other[64];
    snprintf(url, sizeof url, "https://127.0.0.1:%u/", place->port);
    snprintf(other, sizeof other, "https://127.0.0.1:%u/", place->otherPort);
    snprintf(closed, sizeof closed, "https://127.0.0.1:1/");
    CCurlSettings settings = {.url = url,
                              .proxy = "",
                              .certificateAuthorityFile = place->authority,
                              .userAgent = "rouse-check",
                              .connectTimeoutMilliseconds = 20000,
                              .keepAliveIdleSeconds = 60,
                              .keepAliveIntervalSeconds = 10,
                              .maximumIdleSeconds = 600,
                              .maximumStreams = 100};
    check_transfers(&settings, 300);
    settings.certificateAuthorityFile = place->stranger;
    check_refusal(&settings);
    settings.url = closed;
    check_refusal(&settings);
    settings.certificateAuthorityFile = place->authority;
    settings.url = other;
    check_refusal(&settings);
    check_calls();
    puts("libcurl: every transfer and every call ended as it should");
}
