// SPDX-License-Identifier: Apache-2.0

#include "CHTTP2Session.h"

#include <stdlib.h>
#include <string.h>

// The last byte of nghttp2's HEADERS for every request: `:method: POST`, entry 3 of the static
// table.
static const uint8_t PLACEHOLDER = 0x83;
enum {
    FIRST_STREAMS = 64,
    // The minimum that RFC 9113 §6.5.2 recommends, as the assumption before any SETTINGS.
    STREAMS_BEFORE_SETTINGS = 100,
};

// MARK: - Lifecycle

static bool append_text(CHTTP2HeaderBlock *block, const char *name, const char *value) {
    return CHTTP2HeaderBlock_append(block, (const uint8_t *)name, strlen(name),
                                    (const uint8_t *)value, strlen(value));
}

static bool make_blocks(CHTTP2Session *session, const char *authority, const char *userAgent) {
    static const char *const methods[METHODS] = {
        [CHTTP2MethodPost] = "POST", [CHTTP2MethodGet] = "GET", [CHTTP2MethodDelete] = "DELETE"};
    for (size_t method = 0; method < METHODS; method++) {
        CHTTP2HeaderBlock *prologue = session->prologues[method] = CHTTP2HeaderBlock_create();
        if (!prologue || !append_text(prologue, ":method", methods[method]) ||
            !append_text(prologue, ":scheme", "https") ||
            !append_text(prologue, ":authority", authority))
            return false;
    }
    session->epilogue = CHTTP2HeaderBlock_create();
    return session->epilogue && append_text(session->epilogue, "user-agent", userAgent);
}

static bool open_session(CHTTP2Session *session) {
    const nghttp2_session_callbacks *callbacks = CHTTP2Session_callbacks();
    nghttp2_option *options;
    if (!callbacks || nghttp2_option_new(&options) != 0) return false;
    // Closed streams are kept for priorities only, which are not used (facts §1.3).
    nghttp2_option_set_no_closed_streams(options, 1);
    const int code = nghttp2_session_client_new2(&session->session, callbacks, session, options);
    nghttp2_option_del(options);
    if (code != 0) return false;
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, CHTTP2_HEADER_LIST_MAX},
    };
    return nghttp2_submit_settings(session->session, NGHTTP2_FLAG_NONE, settings,
                                   sizeof settings / sizeof *settings) == 0;
}

CHTTP2Session *CHTTP2Session_create(uint32_t streams, const char *authority,
                                    const char *userAgent) {
    CHTTP2Session *session = calloc(1, sizeof *session);
    if (!session) return NULL;
    session->streamLimit = streams;
    session->firstFree = NO_STREAM;
    session->starting = NO_STREAM;
    session->state.peerStreamLimit = STREAMS_BEFORE_SETTINGS;
    session->encoder = Encoder_create();
    if (!session->encoder || !make_blocks(session, authority, userAgent) ||
        !open_session(session)) {
        CHTTP2Session_destroy(session);
        return NULL;
    }
    return session;
}

void CHTTP2Session_destroy(CHTTP2Session *session) {
    // Open streams get no callback after this.
    nghttp2_session_del(session->session);
    for (uint32_t place = 0; place < session->streamCount; place++) {
        if (session->streams[place].isInUse) CHTTP2Session_free_stream(session, place);
    }
    free(session->streams);
    free(session->finished);
    free(session->unwritten);
    if (session->encoder) Encoder_destroy(session->encoder);
    for (size_t method = 0; method < METHODS; method++) {
        if (session->prologues[method]) CHTTP2HeaderBlock_destroy(session->prologues[method]);
    }
    if (session->epilogue) CHTTP2HeaderBlock_destroy(session->epilogue);
    // These buffers contained device tokens, provider tokens and payloads.
    explicit_bzero(&session->head, sizeof session->head);
    if (session->staged) explicit_bzero(session->staged, session->stagedCapacity);
    free(session->staged);
    free(session);
}

// MARK: - The stream table

static bool grow(CHTTP2Session *session) {
    uint32_t count = session->streamCount ? session->streamCount * 2 : FIRST_STREAMS;
    if (count > session->streamLimit) count = session->streamLimit;
    if (count <= session->streamCount) return false;
    Stream *streams = realloc(session->streams, count * sizeof *streams);
    if (streams) session->streams = streams;
    uint32_t *finished = realloc(session->finished, count * sizeof *finished);
    if (finished) session->finished = finished;
    Unwritten *unwritten = realloc(session->unwritten, count * sizeof *unwritten);
    if (unwritten) session->unwritten = unwritten;
    if (!streams || !finished || !unwritten) return false;
    for (uint32_t place = count; place-- > session->streamCount;) {
        streams[place].isInUse = false;
        streams[place].nextFree = session->firstFree;
        session->firstFree = place;
    }
    session->streamCount = count;
    return true;
}

static uint32_t take_place(CHTTP2Session *session) {
    if (session->firstFree == NO_STREAM && !grow(session)) return NO_STREAM;
    const uint32_t place = session->firstFree;
    Stream *stream = &session->streams[place];
    session->firstFree = stream->nextFree;
    // Clears all but the inline headers, whose length says which bytes are valid.
    memset(stream, 0, offsetof(Stream, headers));
    stream->isInUse = true;
    stream->answerLimit = CHTTP2_ANSWER_BODY_MAX;
    session->state.openStreams++;
    return place;
}

void CHTTP2Session_free_stream(CHTTP2Session *session, uint32_t place) {
    Stream *stream = &session->streams[place];
    if (stream->ownedBody) explicit_bzero(stream->ownedBody, stream->bodyLength);
    free(stream->ownedBody);
    free(stream->answer);
    free(stream->longHeaders);
    stream->isInUse = false;
    stream->nextFree = session->firstFree;
    session->firstFree = place;
}

void CHTTP2Session_release(CHTTP2Session *session, uint32_t stream) {
    CHTTP2Session_free_stream(session, stream);
}

// MARK: - Staged bytes

static bool stage(CHTTP2Session *session, const uint8_t *bytes, size_t length) {
    if (session->stagedCapacity - session->stagedEnd < length) {
        size_t capacity = session->stagedCapacity ? session->stagedCapacity : 32768;
        while (capacity - session->stagedEnd < length) capacity *= 2;
        // Not realloc, which may leave a copy of tokens and payloads in freed memory.
        uint8_t *grown = malloc(capacity);
        if (!grown) return false;
        if (session->staged) {
            memcpy(grown, session->staged, session->stagedEnd);
            explicit_bzero(session->staged, session->stagedCapacity);
            free(session->staged);
        }
        session->staged = grown;
        session->stagedCapacity = capacity;
    }
    memcpy(session->staged + session->stagedEnd, bytes, length);
    session->stagedEnd += length;
    return true;
}

// Records the position of the stream's HEADERS, which are staged next.
static void remember_unwritten(CHTTP2Session *session) {
    if (session->unwrittenCount == session->streamCount && session->unwrittenHead > 0) {
        session->unwrittenCount -= session->unwrittenHead;
        memmove(session->unwritten, session->unwritten + session->unwrittenHead,
                session->unwrittenCount * sizeof *session->unwritten);
        session->unwrittenHead = 0;
    }
    if (session->unwrittenCount == session->streamCount) {
        // The queue is full of requests that were cancelled before they were written. Counting this
        // one as written is the safe choice.
        session->streams[session->starting].isWritten = true;
        return;
    }
    session->unwritten[session->unwrittenCount++] = (Unwritten){
        .start = session->takenBytes + session->stagedEnd - session->stagedStart,
        .place = session->starting,
    };
}

// Replaces nghttp2's header block, which has changes of the table size, if there are any, and the
// placeholder, by the one that was encoded here.
static bool stage_head(CHTTP2Session *session, const uint8_t *frame, size_t length) {
    if (frame[length - 1] != PLACEHOLDER) return false;
    const size_t changes = length - FRAME_HEADER - 1;
    const size_t payload = changes + session->head.length;
    uint8_t header[FRAME_HEADER];
    memcpy(header, frame, FRAME_HEADER);
    header[0] = (uint8_t)(payload >> 16);
    header[1] = (uint8_t)(payload >> 8);
    header[2] = (uint8_t)payload;
    remember_unwritten(session);
    session->starting = NO_STREAM;
    return stage(session, header, FRAME_HEADER) && stage(session, frame + FRAME_HEADER, changes) &&
           stage(session, session->head.bytes, session->head.length);
}

bool CHTTP2Session_collect(CHTTP2Session *session) {
    if (session->isBroken) return false;
    // A body is staged with its HEADERS, even beyond the threshold. Otherwise it would be copied
    // until the next write, and would need its own TLS record.
    bool isInRequest = session->starting != NO_STREAM;
    while (session->stagedEnd - session->stagedStart < CHTTP2_WRITE_THRESHOLD || isInRequest) {
        const uint8_t *bytes;
        const ssize_t length = nghttp2_session_mem_send(session->session, &bytes);
        if (length == 0) return true;
        // nghttp2 returns one frame at a time, except for the preface, whose fourth byte is a
        // space.
        const bool isFrame = length > FRAME_HEADER;
        const bool isHead =
            isFrame && bytes[3] == NGHTTP2_HEADERS && session->starting != NO_STREAM;
        if (length >= FRAME_HEADER && bytes[3] == NGHTTP2_GOAWAY) session->state.goAwaySent = true;
        if (length < 0 || !(isHead ? stage_head(session, bytes, (size_t)length)
                                   : stage(session, bytes, (size_t)length))) {
            session->isBroken = true;
            return false;
        }
        isInRequest = isHead || session->starting != NO_STREAM;
    }
    return true;
}

const uint8_t *CHTTP2Session_staged(const CHTTP2Session *session, size_t *length) {
    *length = session->stagedEnd - session->stagedStart;
    static const uint8_t nothing;
    return session->staged ? session->staged + session->stagedStart : &nothing;
}

void CHTTP2Session_will_write(CHTTP2Session *session, size_t length) {
    const uint64_t end = session->takenBytes + length;
    while (session->unwrittenHead < session->unwrittenCount &&
           session->unwritten[session->unwrittenHead].start < end) {
        session->streams[session->unwritten[session->unwrittenHead++].place].isWritten = true;
    }
    if (session->unwrittenHead == session->unwrittenCount) {
        session->unwrittenHead = session->unwrittenCount = 0;
    }
}

void CHTTP2Session_did_write(CHTTP2Session *session, size_t length) {
    session->takenBytes += length;
    session->stagedStart += length;
    if (session->stagedStart == session->stagedEnd) {
        session->stagedStart = session->stagedEnd = 0;
    } else if (session->stagedStart >= CHTTP2_WRITE_THRESHOLD) {
        memmove(session->staged, session->staged + session->stagedStart,
                session->stagedEnd - session->stagedStart);
        session->stagedEnd -= session->stagedStart;
        session->stagedStart = 0;
    }
}

// MARK: - Requests

bool CHTTP2Session_may_start(const CHTTP2Session *session, size_t bodyLength) {
    if (session->isBroken || session->state.goAwayReceived || session->state.goAwaySent) {
        return false;
    }
    if (!nghttp2_session_check_request_allowed(session->session)) return false;
    const int32_t window = nghttp2_session_get_remote_window_size(session->session);
    return session->state.openStreams == 0 || (window > 0 && (size_t)window >= bodyLength);
}

void CHTTP2Session_begin(CHTTP2Session *session, const uint8_t *path, size_t pathLength,
                         const CHTTP2HeaderBlock *shared) {
    CHTTP2Session_begin_other(session, CHTTP2MethodPost, path, pathLength, shared);
}

void CHTTP2Session_begin_other(CHTTP2Session *session, CHTTP2Method method, const uint8_t *path,
                               size_t pathLength, const CHTTP2HeaderBlock *shared) {
    session->head.length = 0;
    session->head.isOverflown = false;
    Encoder_append_block(session->encoder, &session->head, session->prologues[method]);
    Encoder_append_path(&session->head, path, pathLength);
    Encoder_append_block(session->encoder, &session->head, session->epilogue);
    Encoder_append_block(session->encoder, &session->head, shared);
}

void CHTTP2Session_add_field(CHTTP2Session *session, const uint8_t *name, size_t nameLength,
                             const uint8_t *value, size_t valueLength) {
    Encoder_append_field(session->encoder, &session->head, name, nameLength, value, valueLength);
}

// Copies the part of the body that flow control delays: the caller's bytes are valid only during
// this call.
static bool keep_rest_of_body(Stream *stream) {
    if (stream->bodyTaken == stream->bodyLength) {
        stream->body = NULL;
        return true;
    }
    stream->ownedBody = malloc(stream->bodyLength);
    if (!stream->ownedBody) return false;
    memcpy(stream->ownedBody, stream->body, stream->bodyLength);
    stream->body = stream->ownedBody;
    return true;
}

static bool submit(CHTTP2Session *session, uint32_t place) {
    static const uint8_t method[] = ":method", post[] = "POST";
    static const nghttp2_nv placeholder = {(uint8_t *)method, (uint8_t *)post, sizeof method - 1,
                                           sizeof post - 1,
                                           NGHTTP2_NV_FLAG_NO_COPY_NAME |
                                               NGHTTP2_NV_FLAG_NO_COPY_VALUE};
    const nghttp2_data_provider body = {.source.fd = (int)place,
                                        .read_callback = CHTTP2Session_read_body};
    session->starting = place;
    const bool hasBody = session->streams[place].bodyLength > 0;
    const int32_t id =
        nghttp2_submit_request(session->session, NULL, &placeholder, 1, hasBody ? &body : NULL,
                               (void *)(uintptr_t)(place + 1));
    if (id < 0) return false;
    session->streams[place].id = id;
    // nghttp2 delays a request only if there are too many streams, which the caller has checked.
    return CHTTP2Session_collect(session) && session->starting == NO_STREAM;
}

CHTTP2Started CHTTP2Session_start(CHTTP2Session *session, uint32_t tag, const uint8_t *body,
                                  size_t bodyLength) {
    const uint32_t place = session->head.isOverflown ? NO_STREAM : take_place(session);
    if (place == NO_STREAM) {
        // The peer's table may lack an entry, so no further header block can be encoded.
        session->isBroken = true;
        return (CHTTP2Started){-1, false};
    }
    Stream *stream = &session->streams[place];
    stream->tag = tag;
    stream->body = body;
    stream->bodyLength = (uint32_t)bodyLength;
    if (!submit(session, place) || !keep_rest_of_body(&session->streams[place])) {
        session->isBroken = true;
        session->starting = NO_STREAM;
        // Reported to the caller by -1 only.
        stream->isCancelled = true;
        stream->body = NULL;
        stream->bodyLength = stream->bodyTaken = 0;
        return (CHTTP2Started){-1, false};
    }
    const size_t length = session->stagedEnd - session->stagedStart;
    return (CHTTP2Started){(int32_t)place, length >= CHTTP2_WRITE_THRESHOLD};
}

void CHTTP2Session_limit_answer(CHTTP2Session *session, uint32_t stream, uint32_t limit) {
    session->streams[stream].answerLimit = limit;
}

void CHTTP2Session_cancel(CHTTP2Session *session, uint32_t place) {
    Stream *stream = &session->streams[place];
    stream->isCancelled = true;
    nghttp2_submit_rst_stream(session->session, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_CANCEL);
}

bool CHTTP2Session_is_written(const CHTTP2Session *session, uint32_t stream) {
    return session->streams[stream].isWritten;
}

bool CHTTP2Session_ping(CHTTP2Session *session) {
    return nghttp2_submit_ping(session->session, NGHTTP2_FLAG_NONE, NULL) == 0;
}

void CHTTP2Session_farewell(CHTTP2Session *session) {
    nghttp2_submit_goaway(session->session, NGHTTP2_FLAG_NONE, 0, NGHTTP2_NO_ERROR, NULL, 0);
}

void CHTTP2Session_abort(CHTTP2Session *session) {
    for (uint32_t place = 0; place < session->streamCount; place++) {
        Stream *stream = &session->streams[place];
        if (!stream->isInUse || stream->isFinished) continue;
        session->state.openStreams--;
        if (stream->isCancelled) {
            CHTTP2Session_free_stream(session, place);
            continue;
        }
        stream->errorCode = NGHTTP2_INTERNAL_ERROR;
        stream->isFinished = true;
        session->finished[session->finishedCount++] = place;
    }
    session->isBroken = true;
}

// MARK: - Queries

CHTTP2SessionState CHTTP2Session_state(const CHTTP2Session *session) { return session->state; }

const char *CHTTP2Session_goaway_words(const CHTTP2Session *session) {
    return session->goAwayWords;
}

// Whether nghttp2 reset the stream by itself, for which the only reason is a malformed answer.
static bool is_malformed(const Stream *stream) {
    return stream->isFinished && stream->errorCode == NGHTTP2_PROTOCOL_ERROR &&
           !stream->isResetHere && !stream->isResetThere;
}

static void describe(const CHTTP2Session *session, uint32_t place, CHTTP2Answer *answer) {
    const Stream *stream = &session->streams[place];
    const bool isMalformed = is_malformed(stream);
    *answer = (CHTTP2Answer){
        .stream = place,
        .tag = stream->tag,
        .errorCode = stream->errorCode,
        .status = isMalformed ? 0 : stream->status,
        .isWhole = stream->isWhole,
        .isMalformed = isMalformed,
        .isTooLarge = stream->isTooLarge,
        .isWritten = stream->isWritten,
        .headersLength = stream->headersLength,
        .bodyLength = stream->answerLength,
        .headers = stream->longHeaders ? stream->longHeaders : stream->headers,
        .body = stream->answer,
    };
}

bool CHTTP2Session_next_finished(CHTTP2Session *session, CHTTP2Answer *answer) {
    if (session->finishedHead == session->finishedCount) {
        session->finishedHead = session->finishedCount = 0;
        return false;
    }
    describe(session, session->finished[session->finishedHead++], answer);
    return true;
}

bool CHTTP2Session_peek_answer(const CHTTP2Session *session, uint32_t stream,
                               CHTTP2Answer *answer) {
    describe(session, stream, answer);
    return answer->status != 0 && !answer->isTooLarge;
}
