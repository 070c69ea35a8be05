// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "Programs.h"

/// How long a wait may last at most, in milliseconds.
enum { LONGEST_WAIT = 1000 };

typedef struct Watched {
    Connection *connection;
    Reactor *reactor;
    curl_socket_t socket;  // the one that libcurl wants watched
    uint32_t wantedEvents;
    uint32_t registeredEvents;
    bool isRegistered;
    bool isCorked;
    int64_t timerDue;  // monotonic milliseconds; -1 for no timer
    CURL **finished;   // collected before any is removed
    CURLcode *codes;
} Watched;

struct Reactor {
    int epoll;
    Watched *watched;
    size_t count;
};

static int64_t monotonic_milliseconds(void) {
    return (int64_t)(monotonic_nanoseconds() / 1000000);
}

static void set_cork(Watched *watched, int value) {
    if (watched->socket == CURL_SOCKET_BAD || watched->isCorked == (value != 0)) return;
    setsockopt(watched->socket, IPPROTO_TCP, TCP_CORK, &value, sizeof value);
    watched->isCorked = value != 0;
}

// libcurl changes its mind about a socket for nearly every request. What it wants is noted, and told
// to the kernel before the next wait only.
static int watch_socket(CURL *easy, curl_socket_t socket, int what, void *context, void *pointer) {
    (void)easy;
    (void)pointer;
    Watched *watched = context;
    if (what == CURL_POLL_REMOVE) {
        if (watched->socket != socket) return 0;
        // The socket may live on without a transfer, and must not keep what was written to itself.
        set_cork(watched, 0);
        if (watched->isRegistered) epoll_ctl(watched->reactor->epoll, EPOLL_CTL_DEL, socket, NULL);
        watched->socket = CURL_SOCKET_BAD;
        watched->isRegistered = false;
        return 0;
    }
    watched->socket = socket;
    watched->wantedEvents = (what & CURL_POLL_IN ? (uint32_t)EPOLLIN : 0) |
                            (what & CURL_POLL_OUT ? (uint32_t)EPOLLOUT : 0);
    return 0;
}

static int set_timer(CURLM *multi, long milliseconds, void *context) {
    (void)multi;
    Watched *watched = context;
    watched->timerDue = milliseconds < 0 ? -1 : monotonic_milliseconds() + milliseconds;
    return 0;
}

static void register_events(Watched *watched) {
    if (watched->socket == CURL_SOCKET_BAD) return;
    if (watched->isRegistered && watched->registeredEvents == watched->wantedEvents) return;
    struct epoll_event event = {.events = watched->wantedEvents, .data.ptr = watched};
    epoll_ctl(watched->reactor->epoll, watched->isRegistered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD,
              watched->socket, &event);
    watched->isRegistered = true;
    watched->registeredEvents = watched->wantedEvents;
}

static void collect(Watched *watched) {
    Connection *connection = watched->connection;
    CURLMsg *message;
    int left = 0;
    size_t count = 0;
    while ((message = curl_multi_info_read(connection->multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        watched->finished[count] = message->easy_handle;
        watched->codes[count++] = message->data.result;
    }
    for (size_t i = 0; i < count; i++) {
        curl_multi_remove_handle(connection->multi, watched->finished[i]);
        Connection_settle(connection, watched->finished[i], watched->codes[i]);
    }
    Connection_fill(connection);
}

Reactor *Reactor_create(Connection *connections, size_t count) {
    Reactor *reactor = calloc(1, sizeof *reactor);
    if (!reactor) return NULL;
    reactor->epoll = epoll_create1(EPOLL_CLOEXEC);
    reactor->watched = calloc(count, sizeof *reactor->watched);
    reactor->count = count;
    bool isComplete = reactor->epoll >= 0 && reactor->watched;
    for (size_t i = 0; isComplete && i < count; i++) {
        Watched *watched = &reactor->watched[i];
        uint32_t streams = connections[i].settings->streamsPerConnection;
        watched->connection = &connections[i];
        watched->reactor = reactor;
        watched->socket = CURL_SOCKET_BAD;
        watched->timerDue = -1;
        watched->finished = calloc(streams, sizeof *watched->finished);
        watched->codes = calloc(streams, sizeof *watched->codes);
        isComplete = watched->finished && watched->codes;
        CURLM *multi = connections[i].multi;
        curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
        curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, watched);
        curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, set_timer);
        curl_multi_setopt(multi, CURLMOPT_TIMERDATA, watched);
    }
    if (isComplete) return reactor;
    Reactor_destroy(reactor);
    return NULL;
}

void Reactor_destroy(Reactor *reactor) {
    for (size_t i = 0; reactor->watched && i < reactor->count; i++) {
        // The connections outlive the reactor, and close their sockets without it.
        CURLM *multi = reactor->watched[i].connection ? reactor->watched[i].connection->multi : NULL;
        if (multi) {
            curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, NULL);
            curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, NULL);
        }
        free(reactor->watched[i].finished);
        free(reactor->watched[i].codes);
    }
    free(reactor->watched);
    if (reactor->epoll >= 0) close(reactor->epoll);
    free(reactor);
}

/// Fires the timers that are due, until none is; returns how long a wait may last, or -1 when all
/// pushes are answered.
static int work(Reactor *reactor) {
    int wait = LONGEST_WAIT, running = 0;
    bool isOver = true;
    for (size_t i = 0; i < reactor->count; i++) {
        Watched *watched = &reactor->watched[i];
        if (watched->timerDue >= 0 && watched->timerDue <= monotonic_milliseconds()) {
            watched->timerDue = -1;
            set_cork(watched, 1);
            curl_multi_socket_action(watched->connection->multi, CURL_SOCKET_TIMEOUT, 0, &running);
            collect(watched);
        }
        int left = LONGEST_WAIT;
        if (watched->timerDue >= 0) {
            int64_t remaining = watched->timerDue - monotonic_milliseconds();
            left = remaining < 0 ? 0 : remaining < LONGEST_WAIT ? (int)remaining : LONGEST_WAIT;
        }
        // While there is more to write at once, what was written waits for it.
        if (left > 0) set_cork(watched, 0);
        if (left < wait) wait = left;
        register_events(watched);
        if (watched->connection->finished < watched->connection->wanted) isOver = false;
    }
    return isOver ? -1 : wait;
}

void Reactor_run(Reactor *reactor) {
    enum { EVENTS = 16 };
    struct epoll_event events[EVENTS];
    int wait, running = 0;
    for (size_t i = 0; i < reactor->count; i++) Connection_fill(reactor->watched[i].connection);
    while ((wait = work(reactor)) >= 0) {
        int count = epoll_wait(reactor->epoll, events, EVENTS, wait);
        for (int i = 0; i < count; i++) {
            Watched *watched = events[i].data.ptr;
            int mask = (events[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) |
                       (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                       (events[i].events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
            curl_multi_socket_action(watched->connection->multi, watched->socket, mask, &running);
            collect(watched);
        }
    }
}
