// SPDX-License-Identifier: Apache-2.0

#include "CHTTP2Session.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// nghttp2 calls these functions while it receives or returns bytes. They copy and return; none
// calls nghttp2, except to reset a stream, which is allowed.

static Stream *stream_of(CHTTP2Session *session, nghttp2_session *library, int32_t id) {
    const uintptr_t known = (uintptr_t)nghttp2_session_get_stream_user_data(library, id);
    return known == 0 ? NULL : &session->streams[known - 1];
}

// MARK: - Answers

static bool is_named(const uint8_t *name, size_t length, const char *text) {
    return length == strlen(text) && memcmp(name, text, length) == 0;
}

static bool is_kept(const uint8_t *name, size_t length) {
    return (length > 5 && memcmp(name, "apns-", 5) == 0) || is_named(name, length, "date");
}

// Stores a field of an answer. Fields beyond the limit are omitted, because a push client does not
// need them.
static void keep(Stream *stream, const uint8_t *name, size_t nameLength, const uint8_t *value,
                 size_t valueLength) {
    const size_t needed = 3 + nameLength + valueLength;
    const size_t end = stream->headersLength + needed;
    if (nameLength > UINT8_MAX || end > CHTTP2_ANSWER_HEADERS_MAX) return;
    if (!stream->longHeaders && end > INLINE_HEADERS) {
        stream->longHeaders = malloc(CHTTP2_ANSWER_HEADERS_MAX);
        if (!stream->longHeaders) return;
        memcpy(stream->longHeaders, stream->headers, stream->headersLength);
    }
    uint8_t *place =
        (stream->longHeaders ? stream->longHeaders : stream->headers) + stream->headersLength;
    place[0] = (uint8_t)nameLength;
    place[1] = (uint8_t)valueLength;
    place[2] = (uint8_t)(valueLength >> 8);
    memcpy(place + 3, name, nameLength);
    memcpy(place + 3 + nameLength, value, valueLength);
    stream->headersLength = (uint16_t)end;
}

static int on_begin_headers(nghttp2_session *library, const nghttp2_frame *frame, void *context) {
    Stream *stream = stream_of(context, library, frame->hd.stream_id);
    if (!stream || frame->hd.type != NGHTTP2_HEADERS) return 0;
    stream->headerList = 0;
    // The fields of interim answers are dropped. Only trailers can follow a final answer.
    if (stream->status == 0) stream->pendingStatus = stream->headersLength = 0;
    return 0;
}

// Stores a field of a header block that may still be incomplete or malformed.
static int on_header(nghttp2_session *library, const nghttp2_frame *frame, const uint8_t *name,
                     size_t nameLength, const uint8_t *value, size_t valueLength, uint8_t flags,
                     void *context) {
    (void)flags;
    Stream *stream = stream_of(context, library, frame->hd.stream_id);
    if (!stream || frame->hd.type != NGHTTP2_HEADERS) return 0;
    stream->headerList += (uint32_t)(nameLength + valueLength + 32);
    if (stream->headerList > CHTTP2_HEADER_LIST_MAX) {
        stream->isTooLarge = true;
        // nghttp2 resets the stream.
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    if (stream->status != 0) return 0;
    if (is_named(name, nameLength, ":status") && valueLength == 3) {
        // nghttp2 has checked that these are digits, and that there is only one such field.
        stream->pendingStatus =
            (uint16_t)((value[0] - '0') * 100 + (value[1] - '0') * 10 + (value[2] - '0'));
    } else if (is_kept(name, nameLength)) {
        keep(stream, name, nameLength, value, valueLength);
    }
    return 0;
}

// nghttp2 would omit a field with an invalid name or value, and accept the rest. RFC 9113 §8.2.1
// says that the message is malformed.
static int on_invalid_header(nghttp2_session *library, const nghttp2_frame *frame,
                             const uint8_t *name, size_t nameLength, const uint8_t *value,
                             size_t valueLength, uint8_t flags, void *context) {
    (void)library, (void)frame, (void)name, (void)nameLength, (void)value, (void)valueLength;
    (void)flags, (void)context;
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

// Handles a complete header block, which nghttp2 has checked against RFC 9113 §8.2 and §8.3.
static int on_header_block(CHTTP2Session *session, nghttp2_session *library, int32_t id) {
    Stream *stream = stream_of(session, library, id);
    if (!stream || stream->status != 0) return 0;
    if (stream->pendingStatus >= 100) {
        if (stream->pendingStatus < 200) return 0;
        stream->status = stream->pendingStatus;
        if (id > session->lastAnswered) session->lastAnswered = id;
        return 0;
    }
    // Three digits that are not a status (RFC 9110 §15).
    return nghttp2_submit_rst_stream(library, NGHTTP2_FLAG_NONE, id, NGHTTP2_PROTOCOL_ERROR) == 0
               ? 0
               : NGHTTP2_ERR_CALLBACK_FAILURE;
}

// Reserves memory for further bytes of an answer. Returns false if memory is exhausted.
static bool reserve_answer(Stream *stream, size_t length) {
    const size_t needed = stream->answerLength + length;
    if (needed <= stream->answerCapacity) return true;
    size_t capacity = stream->answerCapacity ? stream->answerCapacity : CHTTP2_ANSWER_BODY_MAX;
    while (capacity < needed) capacity *= 2;
    if (capacity > stream->answerLimit) capacity = stream->answerLimit;
    uint8_t *answer = realloc(stream->answer, capacity);
    if (!answer) return false;
    stream->answer = answer;
    stream->answerCapacity = (uint32_t)capacity;
    return true;
}

static int on_data(nghttp2_session *library, uint8_t flags, int32_t id, const uint8_t *bytes,
                   size_t length, void *context) {
    (void)flags;
    Stream *stream = stream_of(context, library, id);
    if (!stream || stream->isTooLarge || stream->isCancelled) return 0;
    if (length > (size_t)(stream->answerLimit - stream->answerLength) ||
        !reserve_answer(stream, length)) {
        stream->isTooLarge = stream->isResetHere = true;
        return nghttp2_submit_rst_stream(library, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL) == 0
                   ? 0
                   : NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    memcpy(stream->answer + stream->answerLength, bytes, length);
    stream->answerLength += (uint32_t)length;
    return 0;
}

// An answer may end before the request does (RFC 9113 §8.1): then the rest of the request is not
// sent.
static int on_answer_end(CHTTP2Session *session, nghttp2_session *library, int32_t id) {
    Stream *stream = stream_of(session, library, id);
    if (!stream || stream->status == 0) return 0;
    stream->isWhole = true;
    session->state.controlFrames--;
    if (stream->bodyTaken == stream->bodyLength) return 0;
    stream->isResetHere = true;
    return nghttp2_submit_rst_stream(library, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL) == 0
               ? 0
               : NGHTTP2_ERR_CALLBACK_FAILURE;
}

// MARK: - The connection

static void on_settings(CHTTP2Session *session, nghttp2_session *library) {
    session->state.hasSettings = true;
    session->state.peerStreamLimit = nghttp2_session_get_remote_settings(
        library, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
    Encoder_set_capacity(session->encoder, nghttp2_session_get_remote_settings(
                                               library, NGHTTP2_SETTINGS_HEADER_TABLE_SIZE));
}

static void on_goaway(CHTTP2Session *session, const nghttp2_goaway *frame) {
    session->state.isLeavingInOrder =
        frame->error_code == NGHTTP2_NO_ERROR &&
        (session->state.isLeavingInOrder || !session->state.goAwayReceived);
    session->state.goAwayReceived = true;
    session->state.goAwayCode = frame->error_code;
    session->state.goAwayLastStream = frame->last_stream_id;
    if (frame->last_stream_id < session->lastAnswered) session->state.goAwayIsFalse = true;
    size_t length = 0;
    for (size_t index = 0; index < frame->opaque_data_len; index++) {
        const uint8_t byte = frame->opaque_data[index];
        if (length == sizeof session->goAwayWords - 1) break;
        if (byte >= 0x20 && byte < 0x7f) session->goAwayWords[length++] = (char)byte;
    }
    session->goAwayWords[length] = 0;
}

static int on_frame(nghttp2_session *library, const nghttp2_frame *frame, void *context) {
    CHTTP2Session *session = context;
    switch (frame->hd.type) {
    case NGHTTP2_HEADERS: {
        const int code = on_header_block(session, library, frame->hd.stream_id);
        if (code != 0) return code;
    }
        // Falls through: the header block may be the whole answer.
        __attribute__((fallthrough));
    case NGHTTP2_DATA:
        if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) {
            return on_answer_end(session, library, frame->hd.stream_id);
        }
        return 0;
    case NGHTTP2_RST_STREAM: {
        Stream *stream = stream_of(session, library, frame->hd.stream_id);
        if (stream) stream->isResetThere = true;
        return 0;
    }
    case NGHTTP2_SETTINGS:
        if (!(frame->hd.flags & NGHTTP2_FLAG_ACK)) on_settings(session, library);
        return 0;
    case NGHTTP2_PING:
        if (frame->hd.flags & NGHTTP2_FLAG_ACK) session->state.pingAnswers++;
        return 0;
    case NGHTTP2_GOAWAY: on_goaway(session, &frame->goaway); return 0;
    default: return 0;
    }
}

static int on_stream_close(nghttp2_session *library, int32_t id, uint32_t code, void *context) {
    CHTTP2Session *session = context;
    Stream *stream = stream_of(session, library, id);
    if (!stream || stream->isFinished) return 0;
    const uint32_t place = (uint32_t)(stream - session->streams);
    session->state.openStreams--;
    if (stream->isCancelled) {
        CHTTP2Session_free_stream(session, place);
        return 0;
    }
    stream->errorCode = code;
    stream->isFinished = true;
    session->finished[session->finishedCount++] = place;
    return 0;
}

// MARK: - Bodies

ssize_t CHTTP2Session_read_body(nghttp2_session *library, int32_t id, uint8_t *buffer,
                                size_t length, uint32_t *flags, nghttp2_data_source *source,
                                void *context) {
    (void)library;
    (void)id;
    CHTTP2Session *session = context;
    Stream *stream = &session->streams[source->fd];
    const size_t left = stream->bodyLength - stream->bodyTaken;
    const size_t count = left < length ? left : length;
    if (count > 0) memcpy(buffer, stream->body + stream->bodyTaken, count);
    stream->bodyTaken += (uint32_t)count;
    if (count == left) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)count;
}

// MARK: - Registration

static nghttp2_session_callbacks *callbacks;

static void make_callbacks(void) {
    nghttp2_session_callbacks *made;
    if (nghttp2_session_callbacks_new(&made) != 0) return;
    nghttp2_session_callbacks_set_on_begin_headers_callback(made, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(made, on_header);
    nghttp2_session_callbacks_set_on_invalid_header_callback(made, on_invalid_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(made, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(made, on_stream_close);
    callbacks = made;
}

const nghttp2_session_callbacks *CHTTP2Session_callbacks(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_callbacks);
    return callbacks;
}

// MARK: - Frame counts

// Counts every frame by its header. nghttp2 reports nothing for frames that it ignores, which a
// peer could send without end. A frame that ends an answer is subtracted again, because it belongs
// to a request.
static void count_frames(CHTTP2Session *session, const uint8_t *bytes, size_t length) {
    while (length > 0) {
        if (session->frameLeft > 0) {
            const size_t count = length < session->frameLeft ? length : session->frameLeft;
            session->frameLeft -= (uint32_t)count;
            bytes += count;
            length -= count;
            continue;
        }
        session->frameLength = session->frameLength << 8 | *bytes++;
        length--;
        if (++session->frameLengthBytes < FRAME_LENGTH) continue;
        session->state.controlFrames++;
        session->frameLeft = session->frameLength + FRAME_HEADER - FRAME_LENGTH;
        session->frameLength = session->frameLengthBytes = 0;
    }
}

bool CHTTP2Session_receive(CHTTP2Session *session, const uint8_t *bytes, size_t length) {
    if (session->isBroken) return false;
    count_frames(session, bytes, length);
    return nghttp2_session_mem_recv(session->session, bytes, length) == (ssize_t)length;
}
