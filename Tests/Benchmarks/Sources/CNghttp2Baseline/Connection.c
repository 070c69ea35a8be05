// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "Connection.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

uint64_t Nghttp2Connection_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// MARK: - Answers

static Exchange *exchange_of(nghttp2_session *session, Connection *connection, int32_t stream) {
    const uintptr_t known = (uintptr_t)nghttp2_session_get_stream_user_data(session, stream);
    return known == 0 ? NULL : &connection->exchanges[known - 1];
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t nameLength, const uint8_t *value, size_t valueLength, uint8_t flags,
                     void *context) {
    (void)flags;
    Exchange *exchange = exchange_of(session, context, frame->hd.stream_id);
    if (!exchange) return 0;
    if (nameLength == 7 && memcmp(name, ":status", 7) == 0 && valueLength == 3) {
        exchange->status =
            (uint32_t)((value[0] - '0') * 100 + (value[1] - '0') * 10 + (value[2] - '0'));
    } else if (nameLength == 7 && memcmp(name, "apns-id", 7) == 0 && valueLength == APNS_ID) {
        memcpy(exchange->answerID, value, APNS_ID);
    }
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *bytes,
                   size_t length, void *context) {
    (void)flags;
    Exchange *exchange = exchange_of(session, context, stream);
    if (!exchange) return 0;
    const size_t room = ANSWER_MAX - exchange->answerLength;
    const size_t count = length < room ? length : room;
    memcpy(exchange->answer + exchange->answerLength, bytes, count);
    exchange->answerLength += count;
    return 0;
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t code, void *context) {
    Connection *connection = context;
    Exchange *exchange = exchange_of(session, connection, stream);
    if (!exchange) return 0;
    if (code == NGHTTP2_NO_ERROR && exchange->status == 200) connection->accepted++;
    if (connection->latencies) {
        const uint64_t taken = Nghttp2Connection_now() - exchange->startedAt;
        connection->latencies[connection->finished] = (uint32_t)(taken / 1000);
    }
    connection->finished++;
    connection->idle[connection->idleCount++] = (uint32_t)(exchange - connection->exchanges);
    return 0;
}

// MARK: - Requests

static ssize_t read_body(nghttp2_session *session, int32_t stream, uint8_t *buffer, size_t length,
                         uint32_t *flags, nghttp2_data_source *source, void *context) {
    (void)session;
    (void)stream;
    Connection *connection = context;
    Exchange *exchange = &connection->exchanges[source->fd];
    const size_t left = connection->settings->bodyLength - exchange->bodyOffset;
    const size_t count = left < length ? left : length;
    memcpy(buffer, connection->settings->body + exchange->bodyOffset, count);
    exchange->bodyOffset += count;
    if (count == left) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)count;
}

static void write_id(char *id, uint64_t number, uint64_t identity) {
    static const char digits[] = "0123456789abcdef";
    memcpy(id, "00000000-0000-4000-8000-000000000000", APNS_ID);
    for (int place = 0; place < 8; place++) id[7 - place] = digits[identity >> (4 * place) & 15];
    for (int place = 0; place < 12; place++) id[35 - place] = digits[number >> (4 * place) & 15];
}

static bool start(Connection *connection) {
    const CNghttp2BaselineSettings *settings = connection->settings;
    const uint32_t place = connection->idle[--connection->idleCount];
    Exchange *exchange = &connection->exchanges[place];
    exchange->status = 0;
    exchange->bodyOffset = exchange->answerLength = 0;
    write_id(exchange->apnsID, connection->started, connection->identity);
    const char *path = settings->paths[connection->started % settings->pathCount];
    connection->fields[3].value = (uint8_t *)path;
    connection->fields[3].valuelen = strlen(path);
    connection->fields[connection->fieldCount - 1].value = (uint8_t *)exchange->apnsID;
    connection->started++;
    exchange->startedAt = connection->latencies ? Nghttp2Connection_now() : 0;
    const nghttp2_data_provider body = {.source.fd = (int)place, .read_callback = read_body};
    return nghttp2_submit_request(connection->session, NULL, connection->fields,
                                  connection->fieldCount, &body,
                                  (void *)(uintptr_t)(place + 1)) > 0;
}

static bool is_waiting(const Connection *connection, int result) {
    const int error = SSL_get_error(connection->tls, result);
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

// Writes what is staged as one record. False when the connection broke; what does not go stays.
static bool write_record(Connection *connection) {
    if (connection->stagedLength == 0) return true;
    const int taken =
        SSL_write(connection->tls, connection->staged, (int)connection->stagedLength);
    if (taken <= 0) return is_waiting(connection, taken);
    connection->stagedLength -= (size_t)taken;
    memmove(connection->staged, connection->staged + taken, connection->stagedLength);
    return true;
}

bool Connection_write(Connection *connection) {
    for (;;) {
        while (connection->idleCount > 0 && connection->started < connection->wanted) {
            if (!start(connection)) return false;
        }
        ssize_t length = 1;
        while (length > 0 && connection->stagedLength < STAGE_FULL) {
            const uint8_t *bytes;
            length = nghttp2_session_mem_send(connection->session, &bytes);
            if (length < 0) return false;
            memcpy(connection->staged + connection->stagedLength, bytes, (size_t)length);
            connection->stagedLength += (size_t)length;
        }
        if (connection->stagedLength == 0) return true;
        const size_t before = connection->stagedLength;
        if (!write_record(connection)) return false;
        // The socket takes no more now.
        if (connection->stagedLength == before) return true;
    }
}

bool Connection_read(Connection *connection) {
    uint8_t record[16384];
    for (;;) {
        const int length = SSL_read(connection->tls, record, sizeof record);
        if (length <= 0) return is_waiting(connection, length);
        if (nghttp2_session_mem_recv(connection->session, record, (size_t)length) != length) {
            return false;
        }
    }
}

// MARK: - Life

static nghttp2_nv field(const char *name, const char *value, uint8_t flags) {
    return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value),
                        NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE | flags};
}

static void make_fields(Connection *connection, const CNghttp2BaselineSettings *settings) {
    nghttp2_nv *fields = connection->fields;
    size_t count = 0;
    fields[count++] = field(":method", "POST", 0);
    fields[count++] = field(":scheme", "https", 0);
    fields[count++] = field(":authority", settings->authority, 0);
    fields[count++] = field(":path", settings->paths[0], NGHTTP2_NV_FLAG_NO_INDEX);
    for (size_t index = 0; index < settings->sharedCount && count < FIELDS_MAX - 1; index++) {
        const char *name = settings->sharedNames[index];
        const bool isSecret = strcmp(name, "authorization") == 0;
        fields[count++] = field(name, settings->sharedValues[index],
                                isSecret ? NGHTTP2_NV_FLAG_NO_INDEX : 0);
    }
    fields[count] = field("apns-id", "", NGHTTP2_NV_FLAG_NO_INDEX);
    fields[count++].valuelen = APNS_ID;
    connection->fieldCount = count;
}

static bool open_session(Connection *connection) {
    nghttp2_session_callbacks *callbacks;
    if (nghttp2_session_callbacks_new(&callbacks) != 0) return false;
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    const int code = nghttp2_session_client_new(&connection->session, callbacks, connection);
    nghttp2_session_callbacks_del(callbacks);
    return code == 0 &&
           nghttp2_submit_settings(connection->session, NGHTTP2_FLAG_NONE, NULL, 0) == 0;
}

static bool open_tls(Connection *connection, SSL_CTX *context) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(connection->settings->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    connection->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int one = 1;
    setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(connection->socket, (struct sockaddr *)&address, sizeof address) != 0) return false;
    connection->tls = SSL_new(context);
    return connection->tls && SSL_set_fd(connection->tls, connection->socket) == 1 &&
           X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection->tls), "127.0.0.1") == 1 &&
           SSL_connect(connection->tls) == 1 &&
           fcntl(connection->socket, F_SETFL, O_NONBLOCK) == 0;
}

bool Nghttp2Connection_open(Connection *connection, SSL_CTX *context,
                     const CNghttp2BaselineSettings *settings, uint64_t identity) {
    const uint32_t count = settings->streamsPerConnection;
    *connection = (Connection){.settings = settings, .socket = -1, .identity = identity};
    connection->exchanges = calloc(count, sizeof *connection->exchanges);
    connection->idle = calloc(count, sizeof *connection->idle);
    connection->staged = malloc(STAGE_MAX);
    if (!connection->exchanges || !connection->idle || !connection->staged) return false;
    for (uint32_t place = 0; place < count; place++) connection->idle[place] = count - 1 - place;
    connection->idleCount = count;
    make_fields(connection, settings);
    return open_tls(connection, context) && open_session(connection);
}

void Nghttp2Connection_close(Connection *connection) {
    nghttp2_session_del(connection->session);
    SSL_free(connection->tls);
    if (connection->socket >= 0) close(connection->socket);
    free(connection->exchanges);
    free(connection->idle);
    free(connection->staged);
}

void Nghttp2Connection_begin(Connection *connection, uint64_t wanted, uint32_t *latencies) {
    connection->wanted = wanted;
    connection->started = connection->finished = connection->accepted = 0;
    connection->latencies = latencies;
    connection->identity += 16;
}
