// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CNghttp2Baseline.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "Connection.h"

// Four TLS records are read with one call.
enum { READ_BUFFER = 65536, EVENTS = 64 };

typedef struct Clocks {
    uint64_t wall;
    uint64_t cpu;
} Clocks;

static Clocks read_clocks(void) {
    struct timespec cpu;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    return (Clocks){
        .wall = Nghttp2Connection_now(),
        .cpu = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec,
    };
}

static SSL_CTX *make_context(const CNghttp2BaselineSettings *settings) {
    static const unsigned char h2[] = {2, 'h', '2'};
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (!context) return NULL;
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_default_read_buffer_len(context, READ_BUFFER);
    if (SSL_CTX_set_alpn_protos(context, h2, sizeof h2) == 0 &&
        SSL_CTX_load_verify_file(context, settings->certificateAuthorityFile) == 1)
        return context;
    SSL_CTX_free(context);
    return NULL;
}

static bool watch(int epoll, Connection *connection) {
    // Edge-triggered: reading and writing go on until the socket has no more.
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = connection};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, connection->socket, &event) == 0;
}

// Returns when the phase of every connection is over.
static bool run_phase(int epoll, Connection *connections, uint32_t count) {
    for (uint32_t index = 0; index < count; index++) {
        if (!Connection_write(&connections[index])) return false;
    }
    for (;;) {
        bool isOver = true;
        for (uint32_t index = 0; index < count; index++) {
            isOver &= connections[index].finished == connections[index].wanted;
        }
        if (isOver) return true;
        struct epoll_event events[EVENTS];
        const int ready = epoll_wait(epoll, events, EVENTS, -1);
        for (int index = 0; index < ready; index++) {
            Connection *connection = events[index].data.ptr;
            if (!Connection_read(connection) || !Connection_write(connection)) return false;
        }
    }
}

static bool run_both(int epoll, Connection *connections, const CNghttp2BaselineSettings *settings,
                     CNghttp2BaselineResult *result) {
    const uint32_t count = settings->connections;
    for (uint32_t index = 0; index < count; index++) {
        Nghttp2Connection_begin(&connections[index], settings->warmUpPushes, NULL);
    }
    if (!run_phase(epoll, connections, count)) return false;
    for (uint32_t index = 0; index < count; index++) {
        Nghttp2Connection_begin(&connections[index], settings->pushesPerConnection,
                         settings->latencies + index * settings->pushesPerConnection);
    }
    const Clocks before = read_clocks();
    const bool isDone = run_phase(epoll, connections, count);
    const Clocks after = read_clocks();
    *result = (CNghttp2BaselineResult){.wallNanoseconds = after.wall - before.wall,
                                       .cpuNanoseconds = after.cpu - before.cpu};
    for (uint32_t index = 0; index < count; index++) {
        result->accepted += connections[index].accepted;
        result->failed += connections[index].wanted - connections[index].accepted;
    }
    return isDone;
}

bool CNghttp2Baseline_run(const CNghttp2BaselineSettings *settings,
                          CNghttp2BaselineResult *result) {
    SSL_CTX *context = make_context(settings);
    Connection *connections = calloc(settings->connections, sizeof *connections);
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    uint32_t opened = 0;
    bool isDone = context && connections && epoll >= 0;
    while (isDone && opened < settings->connections) {
        isDone = Nghttp2Connection_open(&connections[opened], context, settings, opened + 1) &&
                 watch(epoll, &connections[opened]);
        opened++;
    }
    isDone = isDone && run_both(epoll, connections, settings, result);
    for (uint32_t index = 0; index < opened; index++) Nghttp2Connection_close(&connections[index]);
    free(connections);
    if (epoll >= 0) close(epoll);
    SSL_CTX_free(context);
    return isDone;
}
