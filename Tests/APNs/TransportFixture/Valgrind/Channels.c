// SPDX-License-Identifier: Apache-2.0
//
// Connections by TLS to nghttpd, as HTTP2Transport makes, uses and ends them.

#include "CHTTP2Shims.h"
#include "Checks.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { STREAMS = 100, PATIENCE_MILLISECONDS = 20000, TURN_MILLISECONDS = 200 };

typedef struct Connection {
    CHTTP2Reactor *reactor;
    CHTTP2Channel *channel;
    CHTTP2Session *session;
    CHTTP2HeaderBlock *shared;
    int64_t due;
    uint32_t started, answered, failed;
} Connection;

// MARK: - Opening

static CHTTP2TLSContext *make_context(CHTTP2TLSSettings settings) {
    char error[CHTTP2_ERROR_MAX];
    CHTTP2TLSContext *context = CHTTP2TLSContext_create(&settings, error);
    CHECK(context, "%s", error);
    return context;
}

static void await(Connection *connection, bool reads, bool writes) {
    const int32_t descriptor = CHTTP2Channel_descriptor(connection->channel);
    CHTTP2Reactor_watch(connection->reactor, descriptor, 1, reads, writes, false);
    CHTTP2Event event;
    CHTTP2Reactor_wait(connection->reactor, &event, 1, TURN_MILLISECONDS);
    CHECK(CHTTP2_monotonic_milliseconds() < connection->due, "nghttpd does not answer");
}

static int32_t connect_socket(const Connection *connection, uint16_t port) {
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons(port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int32_t descriptor = CHTTP2Socket_connect(&address, sizeof address);
    CHECK(descriptor >= 0, "%s", strerror(-descriptor));
    CHECK(CHTTP2Reactor_watch(connection->reactor, descriptor, 1, false, true, true), "epoll");
    CHTTP2Event event;
    CHECK(CHTTP2Reactor_wait(connection->reactor, &event, 1, PATIENCE_MILLISECONDS) == 1 &&
              event.isWritable && CHTTP2Socket_result(descriptor) == 0,
          "nothing listens on port %u", port);
    return descriptor;
}

static CHTTP2Progress open_channel(Connection *connection, CHTTP2TLSContext *context,
                                   uint16_t port, const char *name, bool isAddress) {
    *connection = (Connection){.reactor = CHTTP2Reactor_create(),
                               .due = CHTTP2_monotonic_milliseconds() + PATIENCE_MILLISECONDS};
    CHECK(connection->reactor, "no reactor");
    const int32_t descriptor = connect_socket(connection, port);
    connection->channel = CHTTP2Channel_create(context, descriptor, name, isAddress);
    CHECK(connection->channel, "no channel");
    for (;;) {
        const CHTTP2Progress progress = CHTTP2Channel_handshake(connection->channel);
        if (progress != CHTTP2ProgressWantsRead && progress != CHTTP2ProgressWantsWrite)
            return progress;
        await(connection, progress == CHTTP2ProgressWantsRead,
              progress == CHTTP2ProgressWantsWrite);
    }
}

static void close_channel(Connection *connection) {
    CHTTP2Reactor_forget(connection->reactor, CHTTP2Channel_descriptor(connection->channel));
    CHTTP2Channel_destroy(connection->channel);
    if (connection->session) CHTTP2Session_destroy(connection->session);
    if (connection->shared) CHTTP2HeaderBlock_destroy(connection->shared);
    CHTTP2Reactor_wake(connection->reactor);
    CHTTP2Event event;
    CHECK(CHTTP2Reactor_wait(connection->reactor, &event, 1, 0) == 0, "a closed socket woke");
    CHTTP2Reactor_destroy(connection->reactor);
}

static void open_session(Connection *connection, CHTTP2TLSContext *context, uint16_t port) {
    const CHTTP2Progress progress = open_channel(connection, context, port, "127.0.0.1", true);
    CHECK(progress == CHTTP2ProgressDone, "%s", CHTTP2Channel_error(connection->channel));
    connection->session = CHTTP2Session_create(STREAMS, "127.0.0.1", "rouse-check");
    connection->shared = CHTTP2HeaderBlock_create();
    CHECK(connection->session && connection->shared, "no memory");
    uint8_t *value = lend_text(200, 1);
    CHECK(CHTTP2HeaderBlock_append(connection->shared, (const uint8_t *)"authorization", 13, value,
                                   200),
          "no memory");
    free(value);
}

// MARK: - Pushes

static void take_answers(Connection *connection) {
    CHTTP2Answer answer;
    while (CHTTP2Session_next_finished(connection->session, &answer)) {
        if (answer.errorCode == 0) {
            CHECK(answer.status == (answer.tag % 2 ? 404 : 200), "%u: %u", answer.tag,
                  answer.status);
            connection->answered++;
        } else {
            connection->failed++;
        }
        CHTTP2Session_release(connection->session, answer.stream);
    }
}

static CHTTP2Progress turn(Connection *connection) {
    size_t received = 0;
    CHTTP2Progress progress = CHTTP2Channel_send(connection->channel, connection->session);
    if (progress >= CHTTP2ProgressTLSFailed) return progress;
    await(connection, true, progress == CHTTP2ProgressWantsWrite);
    progress = CHTTP2Channel_receive(connection->channel, connection->session, &received);
    take_answers(connection);
    return progress;
}

static void push(Connection *connection, size_t bodyLength) {
    char path[128];
    const uint32_t tag = connection->started++;
    const int length = snprintf(path, sizeof path, "/3/device/%064d%s", 0, tag % 2 ? "1" : "");
    uint8_t *lent = lend(path, (size_t)length), *id = lend_text(36, tag);
    uint8_t *body = lend_text(bodyLength, tag);
    CHTTP2Session_begin(connection->session, lent, (size_t)length, connection->shared);
    CHTTP2Session_add_field(connection->session, (const uint8_t *)"apns-id", 7, id, 36);
    const CHTTP2Started started =
        CHTTP2Session_start(connection->session, tag, body, bodyLength);
    free(lent);
    free(id);
    free(body);
    CHECK(started.stream >= 0, "push %u was not started", tag);
    if (tag % 40 == 39) {
        CHTTP2Session_cancel(connection->session, (uint32_t)started.stream);
        connection->answered++;
    }
    if (started.isFull) CHTTP2Channel_send(connection->channel, connection->session);
}

static void push_many(Connection *connection, uint32_t count) {
    static const size_t lengths[] = {60, 4096, 5120, 1, 40000, 200000};
    while (connection->started < count) {
        const size_t length = lengths[connection->started % 10 == 9 ? connection->started / 10 % 6
                                                                    : connection->started % 4];
        const CHTTP2SessionState state = CHTTP2Session_state(connection->session);
        const bool hasRoom = state.openStreams < STREAMS &&
                             state.openStreams < state.peerStreamLimit &&
                             CHTTP2Session_may_start(connection->session, length);
        if (hasRoom) {
            push(connection, length);
        } else {
            CHECK(turn(connection) < CHTTP2ProgressTLSFailed, "%s",
                  CHTTP2Channel_error(connection->channel));
        }
    }
}

// MARK: - Cases

static void check_pushes(CHTTP2TLSContext *context, uint16_t port) {
    Connection connection;
    open_session(&connection, context, port);
    push_many(&connection, 300);
    CHECK(CHTTP2Session_ping(connection.session), "no PING");
    while (CHTTP2Session_state(connection.session).openStreams > 0 ||
           CHTTP2Session_state(connection.session).pingAnswers == 0) {
        CHECK(turn(&connection) < CHTTP2ProgressTLSFailed, "%s",
              CHTTP2Channel_error(connection.channel));
    }
    CHECK(connection.answered == 300 && connection.failed == 0, "%u answers, %u failures",
          connection.answered, connection.failed);
    CHTTP2Session_farewell(connection.session);
    CHECK(CHTTP2Channel_send(connection.channel, connection.session) == CHTTP2ProgressDone,
          "no farewell");
    close_channel(&connection);
}

// The connection breaks with pushes on it: in both directions, or for writing alone.
static void check_loss(CHTTP2TLSContext *context, uint16_t port, int direction) {
    Connection connection;
    open_session(&connection, context, port);
    push_many(&connection, 30);
    CHTTP2Channel_send(connection.channel, connection.session);
    push_many(&connection, 60);
    shutdown(CHTTP2Channel_descriptor(connection.channel), direction);
    CHTTP2Progress progress;
    do progress = turn(&connection);
    while (progress < CHTTP2ProgressTLSFailed);
    CHECK(progress == CHTTP2ProgressLost || progress == CHTTP2ProgressClosed, "%d", progress);
    CHECK(strlen(CHTTP2Channel_error(connection.channel)) > 0, "no words");
    CHTTP2Session_abort(connection.session);
    take_answers(&connection);
    CHECK(connection.answered + connection.failed == 60, "%u and %u", connection.answered,
          connection.failed);
    // As the transport closes what is broken.
    CHTTP2Session_farewell(connection.session);
    CHTTP2Channel_send(connection.channel, connection.session);
    close_channel(&connection);
}

static void check_refused_handshake(CHTTP2TLSContext *context, uint16_t port,
                                    const char *name, bool isAddress) {
    Connection connection;
    const CHTTP2Progress progress = open_channel(&connection, context, port, name, isAddress);
    CHECK(progress == CHTTP2ProgressTLSFailed, "%s was accepted", name);
    CHECK(strstr(CHTTP2Channel_error(connection.channel), "certificate"), "%s",
          CHTTP2Channel_error(connection.channel));
    close_channel(&connection);
}

static void check_other_protocol(CHTTP2TLSContext *context, uint16_t port) {
    Connection connection;
    const CHTTP2Progress progress = open_channel(&connection, context, port, "127.0.0.1", true);
    CHECK(progress == CHTTP2ProgressNotHTTP2, "%d: %s", progress,
          CHTTP2Channel_error(connection.channel));
    CHECK(strlen(CHTTP2Channel_error(connection.channel)) > 0, "no words");
    close_channel(&connection);
}

// Without memory nothing is made, and nothing is left.
static void check_scarcity(CHTTP2TLSContext *context, const Place *place) {
    char error[CHTTP2_ERROR_MAX];
    const CHTTP2TLSSettings settings = {.authorityFile = place->authority};
    scarceCountdown = 0;
    CHECK(!CHTTP2TLSContext_create(&settings, error) && strlen(error) > 0, "a context");
    scarceCountdown = 0;
    CHECK(!CHTTP2Reactor_create(), "a reactor");
    Connection connection = {.reactor = CHTTP2Reactor_create()};
    const int32_t descriptor = connect_socket(&connection, place->port);
    scarceCountdown = 0;
    CHECK(!CHTTP2Channel_create(context, descriptor, "127.0.0.1", true), "a channel");
    CHTTP2Reactor_destroy(connection.reactor);
}

// Closed before the handshake, in its midst, and with a name that is none.
static void check_short_lives(CHTTP2TLSContext *context, uint16_t port) {
    Connection connection = {.reactor = CHTTP2Reactor_create()};
    connection.channel =
        CHTTP2Channel_create(context, connect_socket(&connection, port), "127.0.0.1", true);
    CHECK(connection.channel, "no channel");
    CHECK(CHTTP2Channel_handshake(connection.channel) == CHTTP2ProgressWantsRead, "too fast");
    close_channel(&connection);
    connection = (Connection){.reactor = CHTTP2Reactor_create()};
    connection.channel =
        CHTTP2Channel_create(context, connect_socket(&connection, port), "localhost", false);
    close_channel(&connection);
    connection = (Connection){.reactor = CHTTP2Reactor_create()};
    const int32_t descriptor = connect_socket(&connection, port);
    CHECK(!CHTTP2Channel_create(context, descriptor, "no address", true), "it is an address");
    CHTTP2Reactor_destroy(connection.reactor);
}

static uint8_t *read_file(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    CHECK(file, "%s", path);
    static uint8_t bytes[65536];
    *length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return lend(bytes, *length);
}

// A context with a client's certificate, which stays good after what it was made of is gone.
static CHTTP2TLSContext *identify(const Place *place, const char *certificatePath,
                                  const char *keyPath, const char *password) {
    CHTTP2TLSSettings settings = {.password = password, .certificateIsPKCS12 = !keyPath};
    uint8_t *authority = read_file(place->authority, &settings.authorityPEMLength);
    uint8_t *certificate = read_file(certificatePath, &settings.certificateLength);
    uint8_t *key = keyPath ? read_file(keyPath, &settings.keyLength) : NULL;
    settings.authorityPEM = authority;
    settings.certificate = certificate;
    settings.key = key;
    char error[CHTTP2_ERROR_MAX];
    CHTTP2TLSContext *context = CHTTP2TLSContext_create(&settings, error);
    CHECK(context || strlen(error) > 0, "no words");
    free(authority);
    free(certificate);
    free(key);
    return context;
}

static void check_identities(const Place *place) {
    const struct {
        const char *certificate, *key, *password;
        bool isGood;
    } cases[] = {
        {place->stranger, place->key, NULL, true},
        {place->stranger, place->lockedKey, "password", true},
        {place->archive, NULL, "password", true},
        {place->stranger, place->lockedKey, NULL, false},
        {place->stranger, place->lockedKey, "wrong", false},
        {place->archive, NULL, NULL, false},
        {place->archive, NULL, "wrong", false},
        {place->key, NULL, "password", false},
        {place->key, place->key, NULL, false},
        {place->stranger, place->stranger, NULL, false},
        {place->authority, place->key, NULL, false},
    };
    for (size_t index = 0; index < sizeof cases / sizeof *cases; index++) {
        CHTTP2TLSContext *context = identify(place, cases[index].certificate, cases[index].key,
                                             cases[index].password);
        CHECK((context != NULL) == cases[index].isGood, "identity %zu", index);
        if (!context) continue;
        check_pushes(context, place->port);
        CHTTP2TLSContext_destroy(context);
    }
    char error[CHTTP2_ERROR_MAX];
    CHECK(!CHTTP2TLSContext_create(&(CHTTP2TLSSettings){.authorityFile = "/nonexistent"}, error),
          "a missing file");
    CHECK(!CHTTP2TLSContext_create(&(CHTTP2TLSSettings){.authorityFile = place->key}, error),
          "a file without certificates");
    const CHTTP2TLSSettings empty = {.authorityPEM = (const uint8_t *)"x", .authorityPEMLength = 1};
    CHECK(!CHTTP2TLSContext_create(&empty, error), "a text without certificates");
}

void check_channels(const Place *place) {
    const CHTTP2Version version = CHTTP2_load();
    printf("channels: nghttp2 %s, OpenSSL %s\n", version.nghttp2, version.openssl);
    const CHTTP2TLSSettings settings = {.authorityFile = place->authority};
    CHTTP2TLSContext *context = make_context(settings);
    check_pushes(context, place->port);
    check_loss(context, place->port, SHUT_RDWR);
    check_loss(context, place->port, SHUT_WR);
    check_short_lives(context, place->port);
    check_scarcity(context, place);
    check_other_protocol(context, place->otherPort);
    check_refused_handshake(context, place->port, "localhost", false);
    check_refused_handshake(context, place->port, "127.0.0.2", true);
    CHTTP2TLSContext_destroy(context);
    context = make_context((CHTTP2TLSSettings){.authorityFile = place->stranger});
    check_refused_handshake(context, place->port, "127.0.0.1", true);
    CHTTP2TLSContext_destroy(context);
    check_identities(place);
    puts("channels: every push was answered, and every loss told");
}
