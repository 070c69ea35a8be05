// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CCurlBaseline.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "Programs.h"

typedef struct Clocks {
    uint64_t wall;
    uint64_t cpu;
} Clocks;

static Clocks read_clocks(void) {
    struct timespec cpu;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    Clocks clocks = {
        .wall = monotonic_nanoseconds(),
        .cpu = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec,
    };
    return clocks;
}

// MARK: - Tuned: one thread for all connections

static bool run_tuned(Connection *connections, const CCurlBaselineSettings *settings,
                      Clocks *before, Clocks *after) {
    Reactor *reactor = Reactor_create(connections, settings->connections);
    if (!reactor) return false;
    for (size_t i = 0; i < settings->connections; i++)
        Connection_begin(&connections[i], settings->warmUpPushes, NULL);
    Reactor_run(reactor);
    for (size_t i = 0; i < settings->connections; i++)
        Connection_begin(&connections[i], settings->pushesPerConnection,
                         settings->latencies + i * settings->pushesPerConnection);
    *before = read_clocks();
    Reactor_run(reactor);
    *after = read_clocks();
    Reactor_destroy(reactor);
    return true;
}

// MARK: - Plain: one thread for each connection

typedef struct Worker {
    Connection *connection;
    pthread_barrier_t *warm;   // passed when every connection is warm
    pthread_barrier_t *ready;  // passed when the clocks are read
    uint32_t *latencies;
} Worker;

static void *work(void *context) {
    Worker *worker = context;
    const CCurlBaselineSettings *settings = worker->connection->settings;
    Connection_begin(worker->connection, settings->warmUpPushes, NULL);
    Plain_run(worker->connection);
    Connection_begin(worker->connection, settings->pushesPerConnection, worker->latencies);
    pthread_barrier_wait(worker->warm);
    pthread_barrier_wait(worker->ready);
    Plain_run(worker->connection);
    return NULL;
}

static bool run_plain(Connection *connections, const CCurlBaselineSettings *settings,
                      Clocks *before, Clocks *after) {
    size_t count = settings->connections;
    Worker *workers = calloc(count, sizeof *workers);
    pthread_t *threads = calloc(count, sizeof *threads);
    pthread_barrier_t warm, ready;
    pthread_barrier_init(&warm, NULL, (unsigned)count + 1);
    pthread_barrier_init(&ready, NULL, (unsigned)count + 1);
    for (size_t i = 0; workers && threads && i < count; i++) {
        workers[i] = (Worker){.connection = &connections[i],
                              .warm = &warm,
                              .ready = &ready,
                              .latencies = settings->latencies + i * settings->pushesPerConnection};
        // The barriers count on every thread; a system that gives none cannot be measured.
        if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0) abort();
    }
    if (workers && threads) {
        pthread_barrier_wait(&warm);
        *before = read_clocks();
        pthread_barrier_wait(&ready);
        for (size_t i = 0; i < count; i++) pthread_join(threads[i], NULL);
        *after = read_clocks();
    }
    bool isDone = workers && threads;
    pthread_barrier_destroy(&warm);
    pthread_barrier_destroy(&ready);
    free(workers);
    free(threads);
    return isDone;
}

// MARK: - Both

bool CCurlBaseline_run(const CCurlBaselineSettings *settings, CCurlBaselineResult *result) {
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return false;
    Connection *connections = calloc(settings->connections, sizeof *connections);
    if (!connections) return false;
    size_t opened = 0;
    bool isDone = true;
    while (isDone && opened < settings->connections) {
        isDone = Connection_open(&connections[opened], settings, opened + 1);
        opened++;
    }
    Clocks before = {0}, after = {0};
    if (isDone)
        isDone = settings->isTuned ? run_tuned(connections, settings, &before, &after)
                                   : run_plain(connections, settings, &before, &after);
    CCurlBaselineResult sum = {
        .wallNanoseconds = after.wall - before.wall,
        .cpuNanoseconds = after.cpu - before.cpu,
    };
    for (size_t i = 0; i < opened; i++) {
        sum.accepted += connections[i].accepted;
        sum.failed += connections[i].failed;
        if (sum.firstFailure == 0) sum.firstFailure = connections[i].firstFailure;
        Connection_close(&connections[i]);
    }
    free(connections);
    *result = sum;
    return isDone;
}
