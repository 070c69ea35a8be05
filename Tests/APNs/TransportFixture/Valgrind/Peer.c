// SPDX-License-Identifier: Apache-2.0

#include "Peer.h"

#include "CHTTP2Shims.h"

#include <nghttp2/nghttp2.h>
#include <string.h>

struct Peer {
    nghttp2_session *session;
    uint32_t requests;
};

typedef struct Request {
    uint64_t fields;
    uint64_t body;
    size_t bodyLength;
    size_t answerLeft;
    bool isCut;  // the answer ends with a reset
    char script[16];
} Request;

static Request *request_of(nghttp2_session *session, int32_t id) {
    return nghttp2_session_get_stream_user_data(session, id);
}

// MARK: - Answers

static nghttp2_nv pair(const char *name, const char *value) {
    return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value), 0};
}

static ssize_t give_answer(nghttp2_session *session, int32_t id, uint8_t *buffer, size_t length,
                           uint32_t *flags, nghttp2_data_source *source, void *context) {
    (void)context;
    Request *request = source->ptr;
    if (request->answerLeft == 0 && request->isCut) {
        nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_INTERNAL_ERROR);
        return NGHTTP2_ERR_DEFERRED;
    }
    const size_t count = request->answerLeft < length ? request->answerLeft : length;
    memset(buffer, 'b', count);
    request->answerLeft -= count;
    if (request->answerLeft == 0 && !request->isCut) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)count;
}

static void respond(nghttp2_session *session, int32_t id, const nghttp2_nv *fields, size_t count,
                    size_t bodyLength) {
    Request *request = request_of(session, id);
    request->answerLeft = bodyLength;
    const nghttp2_data_provider body = {.source.ptr = request, .read_callback = give_answer};
    CHECK(nghttp2_submit_response(session, id, fields, count, bodyLength ? &body : NULL) == 0,
          "the peer cannot answer");
}

// The same field so many times, each with so long a value.
static void respond_at_length(nghttp2_session *session, int32_t id, size_t count, size_t length) {
    char value[2048];
    CHECK(length < sizeof value && count < 32, "no room");
    memset(value, 'v', length);
    value[length] = 0;
    nghttp2_nv fields[32] = {pair(":status", "200")};
    for (size_t index = 1; index <= count; index++) fields[index] = pair("apns-words", value);
    respond(session, id, fields, count + 1, 0);
}

static void respond_with_hashes(nghttp2_session *session, int32_t id) {
    const Request *request = request_of(session, id);
    char hashes[64];
    snprintf(hashes, sizeof hashes, "%016llx-%016llx-%zu", (unsigned long long)request->fields,
             (unsigned long long)request->body, request->bodyLength);
    const nghttp2_nv fields[] = {pair(":status", "200"), pair("apns-unique-id", hashes),
                                 pair("server", "dropped")};
    respond(session, id, fields, sizeof fields / sizeof *fields, 0);
}

static void respond_with_status(nghttp2_session *session, int32_t id, const char *status,
                                size_t bodyLength) {
    const nghttp2_nv fields[] = {pair(":status", status), pair("date", "today")};
    respond(session, id, fields, sizeof fields / sizeof *fields, bodyLength);
}

static void respond_with_interim(nghttp2_session *session, int32_t id) {
    const nghttp2_nv fields[] = {pair(":status", "103"), pair("apns-id", "dropped")};
    CHECK(nghttp2_submit_headers(session, NGHTTP2_FLAG_NONE, id, NULL, fields, 2, NULL) == 0,
          "the peer cannot answer");
    respond_with_hashes(session, id);
}

static void answer(nghttp2_session *session, int32_t id) {
    Request *request = request_of(session, id);
    const char *script = request->script;
    request->isCut = strcmp(script, "cut") == 0;
    if (strcmp(script, "accept") == 0) respond_with_hashes(session, id);
    if (strcmp(script, "interim") == 0) respond_with_interim(session, id);
    if (strcmp(script, "refuse") == 0) respond_with_status(session, id, "410", 60);
    if (strcmp(script, "exact") == 0)
        respond_with_status(session, id, "400", CHTTP2_ANSWER_BODY_MAX);
    if (strcmp(script, "large") == 0)
        respond_with_status(session, id, "400", CHTTP2_ANSWER_BODY_MAX + 1);
    if (request->isCut) respond_with_status(session, id, "200", 30);
    if (strcmp(script, "long") == 0) respond_at_length(session, id, 8, 500);
    if (strcmp(script, "endless") == 0) respond_at_length(session, id, 12, 2000);
    if (strcmp(script, "reset") == 0)
        nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_REFUSED_STREAM);
}

// MARK: - Requests

static int on_begin(nghttp2_session *session, const nghttp2_frame *frame, void *context) {
    Request *request = calloc(1, sizeof *request);
    CHECK(request, "no memory");
    request->fields = request->body = HASH_START;
    nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, request);
    ((Peer *)context)->requests++;
    return 0;
}

static int on_field(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                    size_t nameLength, const uint8_t *value, size_t valueLength, uint8_t flags,
                    void *context) {
    (void)flags;
    (void)context;
    Request *request = request_of(session, frame->hd.stream_id);
    request->fields = hash_field(request->fields, name, nameLength, value, valueLength);
    if (nameLength != 5 || memcmp(name, ":path", 5) != 0) return 0;
    // nghttp2 puts a zero behind each value.
    const char *last = strrchr((const char *)value, '/');
    snprintf(request->script, sizeof request->script, "%s", last ? last + 1 : "");
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes,
                   size_t length, void *context) {
    (void)flags;
    (void)context;
    Request *request = request_of(session, id);
    request->body = hash_bytes(request->body, bytes, length);
    request->bodyLength += length;
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *context) {
    (void)context;
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    const int32_t id = frame->hd.stream_id;
    if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) {
        answer(session, id);
    } else if (frame->hd.type == NGHTTP2_HEADERS &&
               strcmp(request_of(session, id)->script, "early") == 0) {
        respond_with_status(session, id, "413", 20);
    }
    return 0;
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t code, void *context) {
    (void)code;
    (void)context;
    free(request_of(session, id));
    nghttp2_session_set_stream_user_data(session, id, NULL);
    return 0;
}

// MARK: - Life

Peer *Peer_create(uint32_t tableSize, uint32_t window) {
    Peer *peer = calloc(1, sizeof *peer);
    nghttp2_session_callbacks *callbacks;
    CHECK(peer && nghttp2_session_callbacks_new(&callbacks) == 0, "no memory");
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_field);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    CHECK(nghttp2_session_server_new(&peer->session, callbacks, peer) == 0, "no memory");
    nghttp2_session_callbacks_del(callbacks);
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1000},
        {NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, tableSize},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window},
    };
    CHECK(nghttp2_submit_settings(peer->session, NGHTTP2_FLAG_NONE, settings, 3) == 0, "settings");
    return peer;
}

// nghttp2_session_del calls nothing, so that the streams that are open are ended by name.
void Peer_destroy(Peer *peer) {
    for (uint32_t index = 0; index < peer->requests; index++) {
        const int32_t id = (int32_t)(2 * index + 1);
        if (nghttp2_session_find_stream(peer->session, id)) free(request_of(peer->session, id));
    }
    nghttp2_session_del(peer->session);
    free(peer);
}

void Peer_receive(Peer *peer, const uint8_t *bytes, size_t length) {
    const ssize_t taken = nghttp2_session_mem_recv(peer->session, bytes, length);
    CHECK(taken == (ssize_t)length, "the peer: %s", nghttp2_strerror((int)taken));
}

size_t Peer_next(Peer *peer, const uint8_t **bytes) {
    const ssize_t length = nghttp2_session_mem_send(peer->session, bytes);
    CHECK(length >= 0, "the peer: %s", nghttp2_strerror((int)length));
    return (size_t)length;
}

void Peer_set_table(Peer *peer, uint32_t tableSize) {
    const nghttp2_settings_entry setting = {NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, tableSize};
    CHECK(nghttp2_submit_settings(peer->session, NGHTTP2_FLAG_NONE, &setting, 1) == 0, "settings");
}

void Peer_farewell(Peer *peer) {
    static const uint8_t words[] = "{\"reason\":\"Shutdown\"}\x01\xff";
    const int32_t last = nghttp2_session_get_last_proc_stream_id(peer->session);
    CHECK(nghttp2_submit_goaway(peer->session, NGHTTP2_FLAG_NONE, last, NGHTTP2_NO_ERROR, words,
                                sizeof words - 1) == 0,
          "no GOAWAY");
}

uint32_t Peer_requests(const Peer *peer) { return peer->requests; }
