// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CCurlShims.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// libcurl 7.87 is the first version with all options used below.
_Static_assert(LIBCURL_VERSION_NUM >= 0x075700, "libcurl 7.87 or later is needed to build");
_Static_assert(CURL_HTTP_VERSION_2_0 == 3, "CCurlReport.httpVersion is mapped from this value");

// MARK: - The library

int32_t CCurl_global_init(void) {
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
    return (int32_t)curl_global_init(CURL_GLOBAL_DEFAULT);
}

CCurlVersion CCurl_version(void) {
    const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
    CCurlVersion version = {
        .number = info->version_num,
        .version = info->version,
        .tlsLibrary = info->ssl_version,
        .nghttp2 = info->age >= CURLVERSION_SEVENTH ? info->nghttp2_version : NULL,
        .hasHTTP2 = (info->features & CURL_VERSION_HTTP2) != 0,
        .isThreadSafe = (info->features & CURL_VERSION_THREADSAFE) != 0,
        .hasAsynchronousResolver = (info->features & CURL_VERSION_ASYNCHDNS) != 0,
    };
    return version;
}

const char *CCurl_error_name(int32_t code) { return curl_easy_strerror((CURLcode)code); }

bool CCurl_has_reset_guard(void) {
    // libcurl calls the first definition in the global scope of the process: that of the guard,
    // unless it is in libnghttp2 itself.
    Dl_info definition;
    const void *first = dlsym(RTLD_DEFAULT, "nghttp2_submit_rst_stream");
    return first && dladdr(first, &definition) && definition.dli_fname &&
           !strstr(definition.dli_fname, "libnghttp2");
}

void CCurl_name_this_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

int64_t CCurl_monotonic_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// MARK: - Waiting

// A reactor has a linked list of its connections, in which it finds the one whose timer is due.
// There are few: one for each HTTP/2 connection that is open or draining.
struct CCurlReactor {
    int epoll;
    int wakeup;
    CCurlConnection *first;
};

enum { CONNECTION_SOCKETS = 8 };

typedef struct Watch Watch;

struct CCurlConnection {
    CURLM *multi;
    CURLU *url;  // parsed once for all transfers
    CCurlReactor *reactor;
    CCurlConnection *next;
    int64_t timerDue;  // monotonic milliseconds; -1 for no timer
    uint32_t waiting;  // exchanges that were started and whose header fields are not yet written
    // The open sockets of libcurl: two while it tries IPv4 and IPv6 in parallel, then one.
    curl_socket_t sockets[CONNECTION_SOCKETS];
    int socketCount;
    uint32_t recordsHeard;  // TLS records received in the current call of libcurl
    int64_t busySince;      // the start of that count, in milliseconds of this thread's CPU time
    bool isEstablished;  // a request has had a stream
    CCurlGoAway goAway;
    int32_t lastAnswered;  // the highest stream with a complete header block
    bool isCorked;
    Watch *changedWatches;
    const CCurlSettings *settings;
};

// The epoll data of a socket: its connection and its descriptor. Allocated while libcurl wants the
// socket to be watched.
struct Watch {
    CCurlConnection *connection;
    Watch *nextChanged;
    curl_socket_t socket;
    bool isChanged;
    bool isRegistered;
    uint32_t wanted;
    uint32_t registered;
};

CCurlReactor *CCurlReactor_create(void) {
    CCurlReactor *reactor = calloc(1, sizeof *reactor);
    if (!reactor) return NULL;
    reactor->epoll = epoll_create1(EPOLL_CLOEXEC);
    reactor->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    if (reactor->epoll < 0 || reactor->wakeup < 0 ||
        epoll_ctl(reactor->epoll, EPOLL_CTL_ADD, reactor->wakeup, &event) != 0) {
        CCurlReactor_destroy(reactor);
        return NULL;
    }
    return reactor;
}

void CCurlReactor_destroy(CCurlReactor *reactor) {
    if (reactor->epoll >= 0) close(reactor->epoll);
    if (reactor->wakeup >= 0) close(reactor->wakeup);
    free(reactor);
}

void CCurlReactor_wake(const CCurlReactor *reactor) {
    const uint64_t one = 1;
    // Fails only if the counter is at its maximum, and then a wake-up is pending already.
    ssize_t ignored = write(reactor->wakeup, &one, sizeof one);
    (void)ignored;
}

// libcurl changes the events of a socket about once for each request. Only the events at the time
// of the wait are passed to the kernel.
static int watch_socket(CURL *easy, curl_socket_t socket, int what, void *context, void *pointer) {
    (void)easy;
    CCurlConnection *connection = context;
    Watch *watch = pointer;
    if (what == CURL_POLL_REMOVE) {
        if (!watch) return 0;
        // Immediately, because libcurl may close the socket next, and its number may be reused.
        if (watch->isRegistered) epoll_ctl(connection->reactor->epoll, EPOLL_CTL_DEL, socket, NULL);
        Watch **link = &connection->changedWatches;
        while (*link && *link != watch) link = &(*link)->nextChanged;
        if (*link) *link = watch->nextChanged;
        curl_multi_assign(connection->multi, socket, NULL);
        free(watch);
        return 0;
    }
    if (!watch) {
        watch = calloc(1, sizeof *watch);
        if (!watch) return -1;
        watch->connection = connection;
        watch->socket = socket;
        curl_multi_assign(connection->multi, socket, watch);
    }
    watch->wanted = (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
    if (!watch->isChanged) {
        watch->isChanged = true;
        watch->nextChanged = connection->changedWatches;
        connection->changedWatches = watch;
    }
    return 0;
}

static void register_changed_watches(CCurlConnection *connection) {
    while (connection->changedWatches) {
        Watch *watch = connection->changedWatches;
        connection->changedWatches = watch->nextChanged;
        watch->isChanged = false;
        if (watch->isRegistered && watch->wanted == watch->registered) continue;
        struct epoll_event event = {.events = watch->wanted, .data.ptr = watch};
        epoll_ctl(connection->reactor->epoll, watch->isRegistered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD,
                  watch->socket, &event);
        watch->isRegistered = true;
        watch->registered = watch->wanted;
    }
}

// libcurl writes each frame separately. Between cork and uncork the kernel combines them into full
// segments, which reduces the cost of a push by a quarter (measured with 7.88.1).
static void set_cork(CCurlConnection *connection, int value) {
    if (connection->isCorked == (value != 0)) return;
    if (!connection->isEstablished || connection->socketCount != 1) return;
    setsockopt(connection->sockets[0], IPPROTO_TCP, TCP_CORK, &value, sizeof value);
    connection->isCorked = value != 0;
}

// libcurl reads a connection until it is empty. A peer that sends without end would block this
// thread beyond every deadline and shutdown. The answers to all requests of a connection need a
// small part of this limit; a connection that exceeds it is ended.
enum { RECORDS_PER_LOOK = 64, BUSY_LIMIT_MILLISECONDS = 500 };

static int64_t thread_milliseconds(void) {
    struct timespec spent;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return (int64_t)spent.tv_sec * 1000 + spent.tv_nsec / 1000000;
}

// Called before each call in which libcurl may read.
static void begin_call(CCurlConnection *connection) { connection->recordsHeard = 0; }

// OpenSSL calls this for each record that is sent or received.
static void pass_record(int isWritten, int version, int type, const void *bytes, size_t length,
                        SSL *tls, void *context) {
    (void)version;
    (void)bytes;
    (void)length;
    CCurlConnection *connection = context;
    if (isWritten || type != SSL3_RT_HEADER) return;
    if (++connection->recordsHeard % RECORDS_PER_LOOK != 0) return;
    const int64_t now = thread_milliseconds();
    if (connection->recordsHeard == RECORDS_PER_LOOK) {
        connection->busySince = now;
    } else if (now - connection->busySince >= BUSY_LIMIT_MILLISECONDS) {
        // Simulates the peer's close_notify, so that libcurl ends the connection.
        SSL_set_shutdown(tls, SSL_RECEIVED_SHUTDOWN);
    }
}

static void act(CCurlConnection *connection, curl_socket_t socket, int mask) {
    int running = 0;
    begin_call(connection);
    set_cork(connection, 1);
    curl_multi_socket_action(connection->multi, socket, mask, &running);
}

static int set_timer(CURLM *multi, long milliseconds, void *context) {
    (void)multi;
    CCurlConnection *connection = context;
    connection->timerDue = milliseconds < 0 ? -1 : CCurl_monotonic_milliseconds() + milliseconds;
    return 0;
}

static int wait_milliseconds(const CCurlReactor *reactor, int32_t limit) {
    int64_t wait = limit;
    int64_t now = -1;
    for (const CCurlConnection *c = reactor->first; c; c = c->next) {
        if (c->timerDue < 0) continue;
        if (now < 0) now = CCurl_monotonic_milliseconds();
        int64_t left = c->timerDue - now;
        if (left < 0) left = 0;
        if (left < wait) wait = left;
    }
    return (int)wait;
}

static void fire_due_timers(CCurlReactor *reactor) {
    int64_t now = -1;
    for (CCurlConnection *c = reactor->first; c; c = c->next) {
        if (c->timerDue < 0) continue;
        if (now < 0) now = CCurl_monotonic_milliseconds();
        if (c->timerDue > now) continue;
        c->timerDue = -1;
        act(c, CURL_SOCKET_TIMEOUT, 0);
    }
}

bool CCurlReactor_turn(CCurlReactor *reactor, int32_t milliseconds) {
    enum { EVENTS = 32 };
    struct epoll_event events[EVENTS];
    bool woken = false;
    for (CCurlConnection *c = reactor->first; c; c = c->next) {
        set_cork(c, 0);
        register_changed_watches(c);
    }
    int count = epoll_wait(reactor->epoll, events, EVENTS, wait_milliseconds(reactor, milliseconds));
    for (int index = 0; index < count; index++) {
        if (!events[index].data.ptr) {
            uint64_t drained;
            ssize_t ignored = read(reactor->wakeup, &drained, sizeof drained);
            (void)ignored;
            woken = true;
            continue;
        }
        // The watch is copied, because libcurl may free it during the call. That call can free a
        // later watch in `events` only if it belongs to the same connection; then its entry is
        // cleared first, so that it is not read.
        Watch watch = *(Watch *)events[index].data.ptr;
        for (int later = index + 1; later < count; later++) {
            Watch *other = events[later].data.ptr;
            if (other && other->connection == watch.connection) {
                // Level-triggered: events that are skipped now are reported by the next wait.
                for (int move = later + 1; move < count; move++) events[move - 1] = events[move];
                count--;
                later--;
            }
        }
        uint32_t happened = events[index].events;
        int mask = (happened & EPOLLIN ? CURL_CSELECT_IN : 0) |
                   (happened & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                   (happened & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
        act(watch.connection, watch.socket, mask);
    }
    fire_due_timers(reactor);
    return woken;
}

// MARK: - One connection

static curl_socket_t open_socket(void *context, curlsocktype purpose,
                                 struct curl_sockaddr *address) {
    (void)purpose;
    CCurlConnection *connection = context;
    // A CURLM has only one connection. When it is lost, libcurl would open another one for the
    // remaining transfers; the transport does that itself, with another CURLM.
    if (connection->isEstablished || connection->socketCount == CONNECTION_SOCKETS)
        return CURL_SOCKET_BAD;
    curl_socket_t opened =
        socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (opened != CURL_SOCKET_BAD) connection->sockets[connection->socketCount++] = opened;
    return opened;
}

static int close_socket(void *context, curl_socket_t socket) {
    CCurlConnection *connection = context;
    for (int i = 0; i < connection->socketCount; i++) {
        if (connection->sockets[i] != socket) continue;
        connection->sockets[i] = connection->sockets[--connection->socketCount];
        break;
    }
    return close(socket);
}

CCurlConnection *CCurlConnection_create(CCurlReactor *reactor, const CCurlSettings *settings) {
    CCurlConnection *connection = calloc(1, sizeof *connection);
    if (!connection) return NULL;
    connection->reactor = reactor;
    connection->timerDue = -1;
    connection->settings = settings;
    connection->multi = curl_multi_init();
    connection->url = curl_url();
    if (!connection->multi || !connection->url ||
        curl_url_set(connection->url, CURLUPART_URL, settings->url, 0) != CURLUE_OK) {
        if (connection->multi) curl_multi_cleanup(connection->multi);
        curl_url_cleanup(connection->url);
        free(connection);
        return NULL;
    }
    CURLM *multi = connection->multi;
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, connection);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, connection);
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    // A CURLM has only one connection: libcurl reports neither the connection of a transfer nor a
    // reduced limit of the peer, but with separate CURLMs both can be determined.
    curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, 1L);
    curl_multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, 1L);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 1L);
    // Also limits the streams of this side (lib/url.c of 7.88.1).
    curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, (long)settings->maximumStreams);
    connection->next = reactor->first;
    reactor->first = connection;
    return connection;
}

void CCurlConnection_destroy(CCurlConnection *connection) {
    begin_call(connection);
    // Closing the connection calls watch_socket and close_socket, so the structure is freed
    // afterwards.
    curl_multi_cleanup(connection->multi);
    CCurlConnection **link = &connection->reactor->first;
    while (*link != connection) link = &(*link)->next;
    *link = connection->next;
    curl_url_cleanup(connection->url);
    free(connection);
}

bool CCurlConnection_is_lost(const CCurlConnection *connection) {
    if (!connection->isEstablished) return false;
    if (connection->socketCount == 0) return true;
    // While nothing is in flight libcurl does not watch the socket, so it is polled here. Unread
    // bytes, such as a GOAWAY or close_notify, may precede the end.
    struct pollfd end = {.fd = connection->sockets[0], .events = POLLRDHUP};
    return poll(&end, 1, 0) > 0;
}

uint32_t CCurlConnection_waiting(const CCurlConnection *connection) { return connection->waiting; }

CCurlGoAway CCurlConnection_goaway(const CCurlConnection *connection) { return connection->goAway; }

// MARK: - Header blocks

struct CCurlHeaderBlock {
    struct curl_slist *lines;
};

CCurlHeaderBlock *CCurlHeaderBlock_create(void) {
    CCurlHeaderBlock *block = calloc(1, sizeof *block);
    if (!block) return NULL;
    // Removes the fields that libcurl adds: APNs does not need them, and each costs bytes.
    static const char *const removed[] = {"Accept:", "Content-Type:", "Expect:"};
    for (size_t i = 0; i < sizeof removed / sizeof *removed; i++) {
        if (!CCurlHeaderBlock_append(block, (const uint8_t *)removed[i], strlen(removed[i]))) {
            CCurlHeaderBlock_destroy(block);
            return NULL;
        }
    }
    return block;
}

bool CCurlHeaderBlock_append(CCurlHeaderBlock *block, const uint8_t *line, size_t length) {
    char *text = strndup((const char *)line, length);
    if (!text) return false;
    struct curl_slist *lines = curl_slist_append(block->lines, text);
    free(text);
    if (!lines) return false;
    block->lines = lines;
    return true;
}

void CCurlHeaderBlock_destroy(CCurlHeaderBlock *block) {
    for (struct curl_slist *node = block->lines; node; node = node->next)
        OPENSSL_cleanse(node->data, strlen(node->data));  // may contain the authorization
    curl_slist_free_all(block->lines);
    free(block);
}

// MARK: - One exchange

struct CCurlExchange {
    CURL *easy;
    CCurlConnection *connection;
    uint64_t tag;
    bool isStarted;
    bool mayBegin;      // the connection is established, and libcurl writes the request next
    bool requestBegan;  // a part of the request may have been written
    int32_t stream;     // as libcurl says; 0 if it does not
    bool streamWasRefused;
    bool resendWasRefused;
    bool responseTooLarge;
    bool responseBegan;
    bool responseMalformed;
    bool responseHeadersEnded;
    bool protocolWasRefused;
    uint8_t *body;
    size_t bodyLength;
    size_t bodyCapacity;
    size_t bodyOffset;
    // The exchange's own header fields: list nodes in front of the shared list, which libcurl only
    // reads.
    char *lines;
    size_t linesLength;
    size_t linesCapacity;
    size_t lineStarts[CCURL_OWN_HEADERS_MAX];
    size_t lineCount;
    struct curl_slist nodes[CCURL_OWN_HEADERS_MAX];
    const struct CCurlHeaderBlock *shared;
    size_t responseHeadersLength;
    size_t responseBodyLength;
    uint8_t responseHeaders[CCURL_RESPONSE_HEADERS_MAX];
    uint8_t responseBody[CCURL_RESPONSE_BODY_MAX];
    size_t responseLimit;
    uint8_t *longResponse;  // used instead of `responseBody` if the limit is larger
    size_t longResponseCapacity;
    bool isOther;  // the method is not POST
    char error[CURL_ERROR_SIZE];
};

// From now on the server may have the request, or enough of it to answer.
static void note_beginning(CCurlExchange *exchange) {
    if (!exchange->requestBegan) exchange->connection->waiting--;
    exchange->requestBegan = true;
    exchange->connection->isEstablished = true;
}

static bool says(const char *text, size_t length, const char *words) {
    return memmem(text, length, words, strlen(words)) != NULL;
}

// The number behind these words; -1 without them.
static int64_t number_behind(const char *text, size_t length, const char *words) {
    const char *found = memmem(text, length, words, strlen(words));
    if (!found) return -1;
    found += strlen(words);
    char digits[16] = {0};
    const size_t left = length - (size_t)(found - text);
    memcpy(digits, found, left < sizeof digits - 1 ? left : sizeof digits - 1);
    return strtoll(digits, NULL, 10);
}

// The stream that libcurl says it has opened; 0 for other words.
static int32_t opened_stream(const char *text, size_t length) {
    int64_t stream = number_behind(text, length, "Using Stream ID: ");  // before 8.3
    if (stream < 0 && says(text, length, "OPENED stream"))
        stream = number_behind(text, length, "[HTTP/2] [");
    return stream > 0 && stream <= INT32_MAX ? (int32_t)stream : 0;
}

// Reads facts that libcurl reports only in its debug output. Messages with other words in another
// release are not recognised; the facts are then unknown.
static void hear_words(CCurlExchange *exchange, const char *text, size_t length) {
    if (!exchange->stream) exchange->stream = opened_stream(text, length);
    if (says(text, length, "ived GOAWAY, error=")) {
        CCurlGoAway *known = &exchange->connection->goAway;
        known->isInOrder = number_behind(text, length, "GOAWAY, error=") == 0 &&
                           (known->isInOrder || !known->came);
        known->came = true;
        const int64_t last = number_behind(text, length, "last_stream=");
        known->lastStream = last >= 0 && last < INT32_MAX ? (int32_t)last : INT32_MAX;
        if (known->lastStream < exchange->connection->lastAnswered) known->isFalse = true;
    } else if (says(text, length, "REFUSED_STREAM, retrying") ||
               says(text, length, "refused by server, try again")) {
        exchange->streamWasRefused = true;
    } else if (says(text, length, "reset by curl")) {
        // Since 8.19: the bytes after the header block violated HTTP/2.
        exchange->responseMalformed = true;
    } else if (exchange->mayBegin && says(text, length, "Failed sending HTTP2 data")) {
        note_beginning(exchange);
    }
}

static int hear_debug(CURL *easy, curl_infotype type, char *bytes, size_t length, void *context) {
    (void)easy;
    CCurlExchange *exchange = context;
    // libcurl reports the request to a proxy as a header too, before the connection is established.
    if (type == CURLINFO_HEADER_OUT && exchange->mayBegin) note_beginning(exchange);
    if (type == CURLINFO_TEXT) hear_words(exchange, bytes, length);
    return 0;
}

static size_t give_body(char *buffer, size_t size, size_t count, void *context) {
    CCurlExchange *exchange = context;
    size_t left = exchange->bodyLength - exchange->bodyOffset;
    size_t room = size * count;
    // libcurl knows the length and does not read further. If it does, it has lost the bytes that it
    // read, and the request must not be sent again.
    if (left == 0) return CURL_READFUNC_ABORT;
    size_t given = left < room ? left : room;
    memcpy(buffer, exchange->body + exchange->bodyOffset, given);
    exchange->bodyOffset += given;
    note_beginning(exchange);
    return given;
}

// libcurl rewinds the body to send a request again by itself: on a new connection after a reused
// one was closed without an answer, or after REFUSED_STREAM. There is no option to prevent that,
// but the failure of this callback does (CURLE_SEND_FAIL_REWIND).
static int refuse_rewind(void *context, curl_off_t offset, int origin) {
    (void)offset;
    (void)origin;
    ((CCurlExchange *)context)->resendWasRefused = true;
    return CURL_SEEKFUNC_FAIL;
}

// Called when the connection is established, before a request is written. Without HTTP/2 by ALPN
// libcurl would use HTTP/1.1, and send the push and the provider token to an unknown peer.
static int check_protocol(void *context, char *remoteAddress, char *localAddress, int remotePort,
                          int localPort) {
    (void)remoteAddress;
    (void)localAddress;
    (void)remotePort;
    (void)localPort;
    CCurlExchange *exchange = context;
    exchange->mayBegin = true;
    // Later releases write requests in other ways, which were not reviewed.
    static const unsigned LAST_KNOWN = 0x075801;
    if (curl_version_info(CURLVERSION_NOW)->version_num > LAST_KNOWN &&
        exchange->connection->isEstablished)
        note_beginning(exchange);
    if (exchange->connection->isEstablished) return CURL_PREREQFUNC_OK;
    const struct curl_tlssessioninfo *session = NULL;
    if (curl_easy_getinfo(exchange->easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || !session ||
        session->backend != CURLSSLBACKEND_OPENSSL || !session->internals)
        return CURL_PREREQFUNC_OK;  // unknown here; the version of the answer is checked too
    SSL_set_msg_callback(session->internals, pass_record);
    SSL_set_msg_callback_arg(session->internals, exchange->connection);
    const unsigned char *protocol = NULL;
    unsigned length = 0;
    SSL_get0_alpn_selected(session->internals, &protocol, &length);
    if (length == 2 && memcmp(protocol, "h2", 2) == 0) return CURL_PREREQFUNC_OK;
    exchange->protocolWasRefused = true;
    exchange->mayBegin = false;
    return CURL_PREREQFUNC_ABORT;
}

static bool reserve(void **memory, size_t *capacity, size_t wanted) {
    if (wanted <= *capacity) return true;
    size_t larger = *capacity ? *capacity : 256;
    while (larger < wanted) larger *= 2;
    void *moved = realloc(*memory, larger);
    if (!moved) return false;
    *memory = moved;
    *capacity = larger;
    return true;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *context) {
    CCurlExchange *exchange = context;
    size_t length = size * count;
    if (length > exchange->responseLimit - exchange->responseBodyLength) {
        exchange->responseTooLarge = true;
        return 0;
    }
    uint8_t *body = exchange->responseBody;
    if (exchange->responseLimit > CCURL_RESPONSE_BODY_MAX) {
        if (!reserve((void **)&exchange->longResponse, &exchange->longResponseCapacity,
                     exchange->responseBodyLength + length))
            return 0;
        body = exchange->longResponse;
    }
    memcpy(body + exchange->responseBodyLength, bytes, length);
    exchange->responseBodyLength += length;
    return length;
}

static bool is_kept_header(const char *line, size_t length) {
    static const char *const names[] = {"apns-", "date:"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t nameLength = strlen(names[i]);
        if (length > nameLength && strncasecmp(line, names[i], nameLength) == 0) return true;
    }
    return false;
}

// RFC 9113 §8.2.1: a field whose value starts or ends with white space is malformed. libcurl 7.88
// configures nghttp2 to accept it, and formats each field as `name: value`.
static bool has_space_round_value(const char *line, size_t length) {
    while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r')) length--;
    const char *colon = memchr(line, ':', length);
    if (!colon || (size_t)(colon - line) + 2 >= length) return false;
    const char first = colon[2], last = line[length - 1];
    return first == ' ' || first == '\t' || last == ' ' || last == '\t';
}

static size_t take_header(char *bytes, size_t size, size_t count, void *context) {
    CCurlExchange *exchange = context;
    size_t length = size * count;
    if (has_space_round_value(bytes, length)) exchange->responseMalformed = true;
    // A status line starts the final answer or an interim one (1xx), whose fields are ignored.
    if (length > 5 && memcmp(bytes, "HTTP/", 5) == 0) {
        exchange->responseBegan = true;
        exchange->responseHeadersLength = 0;
        exchange->responseHeadersEnded = false;
    }
    // Later releases pass each line immediately; this one passes them after nghttp2 has accepted
    // the whole block.
    if (length == 2 && bytes[0] == '\r') {
        exchange->responseHeadersEnded = true;
        if (exchange->stream > exchange->connection->lastAnswered)
            exchange->connection->lastAnswered = exchange->stream;
    }
    size_t room = CCURL_RESPONSE_HEADERS_MAX - exchange->responseHeadersLength;
    if (length <= room && is_kept_header(bytes, length)) {
        memcpy(exchange->responseHeaders + exchange->responseHeadersLength, bytes, length);
        exchange->responseHeadersLength += length;
    }
    return length;
}

static void set_blob(CURL *easy, CURLoption option, const uint8_t *bytes, size_t length) {
    // libcurl does not copy it: the settings outlive all easy handles.
    struct curl_blob blob = {.data = (void *)bytes, .len = length, .flags = CURL_BLOB_NOCOPY};
    curl_easy_setopt(easy, option, &blob);
}

static void set_security(CURL *easy, const CCurlSettings *settings) {
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https");
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    // A handle that is used again would resume its last session for as long as tickets are given,
    // and the server would not be verified again.
    curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
    if (settings->certificateAuthorityPEM)
        set_blob(easy, CURLOPT_CAINFO_BLOB, settings->certificateAuthorityPEM,
                 settings->certificateAuthorityPEMLength);
    else if (settings->certificateAuthorityFile)
        curl_easy_setopt(easy, CURLOPT_CAINFO, settings->certificateAuthorityFile);
    // The system's directory is a second source in libcurl, which must be disabled.
    if (settings->certificateAuthorityPEM || settings->certificateAuthorityFile)
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    if (!settings->clientCertificate) return;
    curl_easy_setopt(easy, CURLOPT_SSLCERTTYPE,
                     settings->clientCertificateIsPKCS12 ? "P12" : "PEM");
    set_blob(easy, CURLOPT_SSLCERT_BLOB, settings->clientCertificate,
             settings->clientCertificateLength);
    if (settings->clientKey)
        set_blob(easy, CURLOPT_SSLKEY_BLOB, settings->clientKey, settings->clientKeyLength);
    if (settings->clientKeyPassword)
        curl_easy_setopt(easy, CURLOPT_KEYPASSWD, settings->clientKeyPassword);
}

static void set_transfer(CURL *easy, const CCurlSettings *settings) {
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    // While the connection is being established, further exchanges wait for it.
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    // Apple recommends a DNS lookup before each connection.
    curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)settings->connectTimeoutMilliseconds);
    curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, (long)settings->maximumIdleSeconds);
    curl_easy_setopt(easy, CURLOPT_MAXLIFETIME_CONN, 0L);
    // The resolver's thread cannot be cancelled; a shutdown must not wait for it.
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    if (settings->keepAliveIdleSeconds > 0) {
        curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
        curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, (long)settings->keepAliveIdleSeconds);
        curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, (long)settings->keepAliveIntervalSeconds);
    }
    if (settings->proxy) curl_easy_setopt(easy, CURLOPT_PROXY, settings->proxy);
    if (settings->proxyCredentials)
        curl_easy_setopt(easy, CURLOPT_PROXYUSERPWD, settings->proxyCredentials);
    curl_easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
}

void CCurlExchange_attach(CCurlExchange *exchange, CCurlConnection *connection) {
    exchange->connection = connection;
    curl_easy_setopt(exchange->easy, CURLOPT_CURLU, connection->url);
    curl_easy_setopt(exchange->easy, CURLOPT_OPENSOCKETDATA, connection);
    curl_easy_setopt(exchange->easy, CURLOPT_CLOSESOCKETDATA, connection);
}

static void set_callbacks(CCurlExchange *exchange) {
    CURL *easy = exchange->easy;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, exchange);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, exchange->error);
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, check_protocol);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, give_body);
    curl_easy_setopt(easy, CURLOPT_READDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, refuse_rewind);
    curl_easy_setopt(easy, CURLOPT_SEEKDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, exchange);
    // The debug output is neither stored nor shown, because it contains tokens and payloads.
    curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L);
    curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, hear_debug);
    curl_easy_setopt(easy, CURLOPT_DEBUGDATA, exchange);
}

CCurlExchange *CCurlExchange_create(CCurlConnection *connection) {
    CCurlExchange *exchange = calloc(1, sizeof *exchange);
    if (!exchange) return NULL;
    exchange->easy = curl_easy_init();
    if (!exchange->easy) {
        free(exchange);
        return NULL;
    }
    CCurlExchange_attach(exchange, connection);
    set_security(exchange->easy, connection->settings);
    set_transfer(exchange->easy, connection->settings);
    curl_easy_setopt(exchange->easy, CURLOPT_USERAGENT, connection->settings->userAgent);
    set_callbacks(exchange);
    return exchange;
}

void CCurlExchange_destroy(CCurlExchange *exchange) {
    curl_easy_cleanup(exchange->easy);
    free(exchange->body);
    free(exchange->longResponse);
    free(exchange->lines);
    free(exchange);
}

uint64_t CCurlExchange_tag(const CCurlExchange *exchange) { return exchange->tag; }

void CCurlExchange_set_tag(CCurlExchange *exchange, uint64_t tag) { exchange->tag = tag; }

bool CCurlExchange_prepare(CCurlExchange *exchange, const char *path,
                           const CCurlHeaderBlock *shared, const uint8_t *body,
                           size_t bodyLength) {
    exchange->mayBegin = false;
    exchange->requestBegan = false;
    exchange->stream = 0;
    exchange->streamWasRefused = false;
    exchange->resendWasRefused = false;
    exchange->responseTooLarge = false;
    exchange->responseBegan = false;
    exchange->responseMalformed = false;
    exchange->responseHeadersEnded = false;
    exchange->protocolWasRefused = false;
    exchange->responseHeadersLength = 0;
    exchange->responseBodyLength = 0;
    exchange->error[0] = 0;
    exchange->bodyOffset = 0;
    exchange->linesLength = 0;
    exchange->lineCount = 0;
    exchange->shared = shared;
    exchange->responseLimit = CCURL_RESPONSE_BODY_MAX;
    free(exchange->longResponse);
    exchange->longResponse = NULL;
    exchange->longResponseCapacity = 0;
    if (exchange->isOther) {
        curl_easy_setopt(exchange->easy, CURLOPT_CUSTOMREQUEST, NULL);
        curl_easy_setopt(exchange->easy, CURLOPT_POST, 1L);
        exchange->isOther = false;
    }
    if (!reserve((void **)&exchange->body, &exchange->bodyCapacity, bodyLength)) return false;
    memcpy(exchange->body, body, bodyLength);
    exchange->bodyLength = bodyLength;
    // The URL is kept, so that libcurl need not parse it again; only the path is replaced.
    return curl_easy_setopt(exchange->easy, CURLOPT_REQUEST_TARGET, path) == CURLE_OK &&
           curl_easy_setopt(exchange->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)bodyLength) ==
               CURLE_OK;
}

bool CCurlExchange_make_other(CCurlExchange *exchange, const char *method, size_t answerLimit) {
    exchange->responseLimit = answerLimit;
    if (strcmp(method, "POST") == 0) return true;
    exchange->isOther = true;
    return curl_easy_setopt(exchange->easy, CURLOPT_HTTPGET, 1L) == CURLE_OK &&
           curl_easy_setopt(exchange->easy, CURLOPT_CUSTOMREQUEST, method) == CURLE_OK;
}

bool CCurlExchange_append_header(CCurlExchange *exchange, const uint8_t *name, size_t nameLength,
                                 const uint8_t *value, size_t valueLength) {
    if (exchange->lineCount == CCURL_OWN_HEADERS_MAX) return false;
    size_t wanted = exchange->linesLength + nameLength + 2 + valueLength + 1;
    if (!reserve((void **)&exchange->lines, &exchange->linesCapacity, wanted)) return false;
    char *line = exchange->lines + exchange->linesLength;
    memcpy(line, name, nameLength);
    memcpy(line + nameLength, ": ", 2);
    memcpy(line + nameLength + 2, value, valueLength);
    exchange->lines[wanted - 1] = 0;
    exchange->lineStarts[exchange->lineCount++] = exchange->linesLength;
    exchange->linesLength = wanted;
    return true;
}

int32_t CCurlExchange_start(CCurlExchange *exchange) {
    // The nodes are linked only now, because the lines may have moved while they grew.
    struct curl_slist *list = exchange->shared->lines;
    for (size_t i = exchange->lineCount; i-- > 0;) {
        exchange->nodes[i].data = exchange->lines + exchange->lineStarts[i];
        exchange->nodes[i].next = list;
        list = &exchange->nodes[i];
    }
    curl_easy_setopt(exchange->easy, CURLOPT_HTTPHEADER, list);
    CURLMcode code = curl_multi_add_handle(exchange->connection->multi, exchange->easy);
    exchange->isStarted = code == CURLM_OK;
    if (exchange->isStarted) exchange->connection->waiting++;
    return (int32_t)code;
}

void CCurlExchange_remove(CCurlExchange *exchange) {
    if (!exchange->isStarted) return;
    exchange->isStarted = false;
    if (!exchange->requestBegan) exchange->connection->waiting--;
    begin_call(exchange->connection);
    curl_multi_remove_handle(exchange->connection->multi, exchange->easy);
}

CCurlExchange *CCurlConnection_next_finished(CCurlConnection *connection, int32_t *code) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(connection->multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        // Copied first, because the message is freed by the next call.
        *code = (int32_t)message->data.result;
        CURL *easy = message->easy_handle;
        char *pointer = NULL;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &pointer);
        return (CCurlExchange *)(void *)pointer;
    }
    return NULL;
}

// Streams above the last one of a GOAWAY are not processed (RFC 9113 §6.8). But some servers that
// end a connection for a fault say that they processed nothing, and have answered.
static bool was_refused(const CCurlExchange *exchange) {
    const CCurlGoAway *goAway = &exchange->connection->goAway;
    if (goAway->isFalse) return false;
    return exchange->streamWasRefused || (goAway->came && exchange->stream > goAway->lastStream);
}

CCurlReport CCurlExchange_report(const CCurlExchange *exchange) {
    long status = 0, version = 0, proxyStatus = 0;
    curl_easy_getinfo(exchange->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(exchange->easy, CURLINFO_HTTP_VERSION, &version);
    curl_easy_getinfo(exchange->easy, CURLINFO_HTTP_CONNECTCODE, &proxyStatus);
    // A handle keeps the results of its last transfer until libcurl starts the next one.
    if (!exchange->responseBegan) status = version = 0;
    CCurlReport report = {
        .status = status,
        .httpVersion = version == CURL_HTTP_VERSION_2_0 ? 2 : version ? 1 : 0,
        .proxyStatus = proxyStatus,
        // A connection after a GOAWAY accepts no new stream; that fails before anything is written.
        .requestBegan = exchange->requestBegan ||
                        (exchange->mayBegin && !exchange->connection->goAway.came),
        .streamWasRefused = was_refused(exchange),
        .resendWasRefused = exchange->resendWasRefused,
        .responseTooLarge = exchange->responseTooLarge,
        .responseMalformed = exchange->responseMalformed,
        .responseHeadersEnded = exchange->responseHeadersEnded,
        .protocolWasRefused = exchange->protocolWasRefused,
        .error = exchange->error,
        .headers = exchange->responseHeaders,
        .headersLength = exchange->responseHeadersLength,
        .body = exchange->longResponse ? exchange->longResponse : exchange->responseBody,
        .bodyLength = exchange->responseBodyLength,
    };
    return report;
}

bool CCurlExchange_request_began(const CCurlExchange *exchange) { return exchange->requestBegan; }

// MARK: - Codes

CCurlCodes CCurl_codes(void) {
    CCurlCodes codes = {
        .ok = CURLE_OK,
        .unsupportedProtocol = CURLE_UNSUPPORTED_PROTOCOL,
        .failedInit = CURLE_FAILED_INIT,
        .urlMalformat = CURLE_URL_MALFORMAT,
        .couldntResolveProxy = CURLE_COULDNT_RESOLVE_PROXY,
        .couldntResolveHost = CURLE_COULDNT_RESOLVE_HOST,
        .couldntConnect = CURLE_COULDNT_CONNECT,
        .weirdServerReply = CURLE_WEIRD_SERVER_REPLY,
        .http2 = CURLE_HTTP2,
        .partialFile = CURLE_PARTIAL_FILE,
        .writeError = CURLE_WRITE_ERROR,
        .readError = CURLE_READ_ERROR,
        .outOfMemory = CURLE_OUT_OF_MEMORY,
        .operationTimedOut = CURLE_OPERATION_TIMEDOUT,
        .sslConnectError = CURLE_SSL_CONNECT_ERROR,
        .abortedByCallback = CURLE_ABORTED_BY_CALLBACK,
        .interfaceFailed = CURLE_INTERFACE_FAILED,
        .gotNothing = CURLE_GOT_NOTHING,
        .sslEngineNotFound = CURLE_SSL_ENGINE_NOTFOUND,
        .sslEngineSetFailed = CURLE_SSL_ENGINE_SETFAILED,
        .sendError = CURLE_SEND_ERROR,
        .recvError = CURLE_RECV_ERROR,
        .sslCertProblem = CURLE_SSL_CERTPROBLEM,
        .sslCipher = CURLE_SSL_CIPHER,
        .peerFailedVerification = CURLE_PEER_FAILED_VERIFICATION,
        .sslShutdownFailed = CURLE_SSL_SHUTDOWN_FAILED,
        .sendFailRewind = CURLE_SEND_FAIL_REWIND,
        .sslCACertBadFile = CURLE_SSL_CACERT_BADFILE,
        .again = CURLE_AGAIN,
        .sslIssuerError = CURLE_SSL_ISSUER_ERROR,
        .http2Stream = CURLE_HTTP2_STREAM,
        .sslInvalidCertStatus = CURLE_SSL_INVALIDCERTSTATUS,
        .proxy = CURLE_PROXY,
        .sslClientCert = CURLE_SSL_CLIENTCERT,
        .noConnectionAvailable = CURLE_NO_CONNECTION_AVAILABLE,
    };
    return codes;
}
