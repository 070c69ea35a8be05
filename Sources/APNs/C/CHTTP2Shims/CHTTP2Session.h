// SPDX-License-Identifier: Apache-2.0

#ifndef CHTTP2SESSION_H
#define CHTTP2SESSION_H

#include "CHTTP2Encoder.h"

#include <nghttp2/nghttp2.h>

// No place in a table of streams.
#define NO_STREAM UINT32_MAX

// RFC 9113 §4.1: a frame's header, which begins with the length of what follows it.
enum { FRAME_HEADER = 9, FRAME_LENGTH = 3 };

// The methods of CHTTP2Method.
enum { METHODS = 3 };

// The answer headers that fit a stream without an allocation.
enum { INLINE_HEADERS = 232 };

// One place in the table. nghttp2 refers to it by index, because the table may move when it grows.
typedef struct Stream {
    int32_t id;
    uint32_t tag;
    uint32_t nextFree;
    uint32_t errorCode;
    uint16_t status;         // of the final answer, once its header block is complete and right
    uint16_t pendingStatus;  // of the block that is coming in
    bool isInUse;
    bool isFinished;   // closed, and not released yet
    bool isCancelled;  // its answer is not wanted
    bool isWritten;    // its HEADERS, or their beginning, were handed to TLS
    bool isWhole;      // the answer's end came
    bool isTooLarge;
    bool isResetHere;   // this side gave its reason for resetting the stream
    bool isResetThere;  // the peer reset it
    uint16_t headersLength;
    uint32_t answerLength;
    uint32_t answerCapacity;
    uint32_t answerLimit;
    uint32_t headerList;  // bytes of the present header list
    uint32_t bodyLength;
    uint32_t bodyTaken;
    const uint8_t *body;   // the submitter's during CHTTP2Session_start, then `ownedBody`
    uint8_t *ownedBody;    // what flow control held back; NULL for none
    uint8_t *answer;       // `answerCapacity` bytes; NULL until there is a body
    uint8_t *longHeaders;  // CHTTP2_ANSWER_HEADERS_MAX bytes; NULL while they fit
    uint8_t headers[INLINE_HEADERS];
} Stream;

// A stream whose HEADERS are staged and not handed to TLS, and where they begin among all bytes
// that were ever staged. The stream may have been cancelled meanwhile, and its place have another.
typedef struct Unwritten {
    uint64_t start;
    uint32_t place;
} Unwritten;

struct CHTTP2Session {
    nghttp2_session *session;
    Encoder *encoder;
    CHTTP2HeaderBlock *prologues[METHODS];  // method, scheme, authority
    CHTTP2HeaderBlock *epilogue;  // user-agent

    Stream *streams;
    uint32_t streamCount;  // places that exist
    uint32_t streamLimit;  // places that may
    uint32_t firstFree;
    uint32_t *finished;  // a queue from `finishedHead` to `finishedCount`
    uint32_t finishedHead;
    uint32_t finishedCount;
    Unwritten *unwritten;  // a queue from `unwrittenHead` to `unwrittenCount`
    uint32_t unwrittenHead;
    uint32_t unwrittenCount;

    uint8_t *staged;
    size_t stagedStart;
    size_t stagedEnd;
    size_t stagedCapacity;
    uint64_t takenBytes;  // how many of all that were ever staged TLS has taken

    uint32_t frameLeft;  // bytes of the present frame that are still to come
    uint32_t frameLength;  // of the next one, as far as its bytes are there
    uint32_t frameLengthBytes;

    uint32_t starting;  // the stream whose HEADERS nghttp2 is about to give, or NO_STREAM
    bool isBroken;      // memory ran out where nothing could be undone
    CHTTP2SessionState state;
    char goAwayWords[CHTTP2_ERROR_MAX];
    Head head;
};

// The callbacks that nghttp2 needs, shared by all sessions. NULL when memory ran out.
const nghttp2_session_callbacks *CHTTP2Session_callbacks(void);
// Reads from the body of the stream whose place is in `source->fd`.
ssize_t CHTTP2Session_read_body(nghttp2_session *session, int32_t id, uint8_t *buffer,
                                size_t length, uint32_t *flags, nghttp2_data_source *source,
                                void *context);
// Gives a place back, with what it holds.
void CHTTP2Session_free_stream(CHTTP2Session *session, uint32_t place);

#endif
