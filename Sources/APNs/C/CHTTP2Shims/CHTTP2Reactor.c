// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CHTTP2Shims.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int64_t CHTTP2_monotonic_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void CHTTP2_name_this_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

// MARK: - Waiting

struct CHTTP2Reactor {
    int epoll;
    int wakeup;
};

// The token of the eventfd; no descriptor uses it.
static const uint64_t WAKEUP = UINT64_MAX;
enum { EVENTS_PER_WAIT = 64 };

CHTTP2Reactor *CHTTP2Reactor_create(void) {
    CHTTP2Reactor *reactor = calloc(1, sizeof *reactor);
    if (!reactor) return NULL;
    reactor->epoll = epoll_create1(EPOLL_CLOEXEC);
    reactor->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = WAKEUP};
    if (reactor->epoll < 0 || reactor->wakeup < 0 ||
        epoll_ctl(reactor->epoll, EPOLL_CTL_ADD, reactor->wakeup, &event) != 0) {
        CHTTP2Reactor_destroy(reactor);
        return NULL;
    }
    return reactor;
}

void CHTTP2Reactor_destroy(CHTTP2Reactor *reactor) {
    if (reactor->epoll >= 0) close(reactor->epoll);
    if (reactor->wakeup >= 0) close(reactor->wakeup);
    free(reactor);
}

void CHTTP2Reactor_wake(const CHTTP2Reactor *reactor) {
    const uint64_t one = 1;
    // Fails only if the counter is at its maximum, and then a wake-up is pending already.
    ssize_t ignored = write(reactor->wakeup, &one, sizeof one);
    (void)ignored;
}

bool CHTTP2Reactor_watch(const CHTTP2Reactor *reactor, int32_t descriptor, uint64_t token,
                         bool reads, bool writes, bool isNew) {
    struct epoll_event event = {.events = (reads ? EPOLLIN : 0u) | (writes ? EPOLLOUT : 0u),
                                .data.u64 = token};
    return epoll_ctl(reactor->epoll, isNew ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, descriptor, &event) ==
           0;
}

void CHTTP2Reactor_forget(const CHTTP2Reactor *reactor, int32_t descriptor) {
    epoll_ctl(reactor->epoll, EPOLL_CTL_DEL, descriptor, NULL);
}

int32_t CHTTP2Reactor_wait(const CHTTP2Reactor *reactor, CHTTP2Event *events, int32_t capacity,
                           int32_t milliseconds) {
    struct epoll_event ready[EVENTS_PER_WAIT];
    int limit = capacity < EVENTS_PER_WAIT ? capacity : EVENTS_PER_WAIT;
    int count = epoll_wait(reactor->epoll, ready, limit, milliseconds);
    int32_t kept = 0;
    for (int index = 0; index < count; index++) {
        if (ready[index].data.u64 == WAKEUP) {
            uint64_t value;
            ssize_t ignored = read(reactor->wakeup, &value, sizeof value);
            (void)ignored;
            continue;
        }
        const uint32_t what = ready[index].events;
        events[kept++] = (CHTTP2Event){
            .token = ready[index].data.u64,
            .isReadable = (what & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0,
            .isWritable = (what & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0,
        };
    }
    return kept;
}

// MARK: - Sockets

int32_t CHTTP2Socket_connect(const void *address, uint32_t length) {
    const struct sockaddr *target = address;
    int made = socket(target->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (made < 0) return -errno;
    const int one = 1;
    // Frames are buffered before they are written, so that Nagle's algorithm would only delay them.
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(made, target, length) != 0 && errno != EINPROGRESS) {
        const int failure = errno;
        close(made);
        return -failure;
    }
    return made;
}

int32_t CHTTP2Socket_result(int32_t descriptor) {
    int failure = 0;
    socklen_t length = sizeof failure;
    if (getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failure, &length) != 0) return errno;
    return failure;
}

static bool is_for_later(int failure) {
    return failure == EAGAIN || failure == EWOULDBLOCK || failure == EINTR;
}

int64_t CHTTP2Socket_send(int32_t descriptor, const uint8_t *bytes, size_t length) {
    ssize_t count = send(descriptor, bytes, length, MSG_NOSIGNAL);
    if (count >= 0) return count;
    return is_for_later(errno) ? 0 : -errno;
}

int64_t CHTTP2Socket_receive(int32_t descriptor, uint8_t *bytes, size_t length) {
    ssize_t count = recv(descriptor, bytes, length, 0);
    if (count > 0) return count;
    if (count == 0) return -EPIPE;
    return is_for_later(errno) ? 0 : -errno;
}
