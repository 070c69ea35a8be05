// SPDX-License-Identifier: Apache-2.0

#ifndef CHTTP2SESSION_H
#define CHTTP2SESSION_H

#include "CHTTP2Encoder.h"

#include <nghttp2/nghttp2.h>

// No index in the table of streams.
#define NO_STREAM UINT32_MAX

// The size of a frame's header, which starts with the length of the payload (RFC 9113 §4.1).
enum { FRAME_HEADER = 9, FRAME_LENGTH = 3 };

// The number of methods of CHTTP2Method.
enum { METHODS = 3 };

// The number of bytes of answer headers that a stream stores without an allocation.
enum { INLINE_HEADERS = 232 };

// An entry of the stream table. nghttp2 refers to it by index, because the table may move when it
// grows.
typedef struct Stream {
    int32_t id;
    uint32_t tag;
    uint32_t nextFree;
    uint32_t errorCode;
    uint16_t status;         // of the final answer; set when its header block is complete and valid
    uint16_t pendingStatus;  // of the header block that is being received
    bool isInUse;
    bool isFinished;   // closed, but not released yet
    bool isCancelled;  // its answer is ignored
    bool isWritten;    // a part of its HEADERS was passed to TLS
    bool isWhole;      // the end of the answer was received
    bool isTooLarge;
    bool isResetHere;   // this side reset the stream with a reason
    bool isResetThere;  // the peer reset it
    uint16_t headersLength;
    uint32_t answerLength;
    uint32_t answerCapacity;
    uint32_t answerLimit;
    uint32_t headerList;  // the size of the current header list, in bytes
    uint32_t bodyLength;
    uint32_t bodyTaken;
    const uint8_t *body;   // the caller's during CHTTP2Session_start, then `ownedBody`
    uint8_t *ownedBody;    // the part that flow control delays; NULL for none
    uint8_t *answer;       // `answerCapacity` bytes; NULL until there is a body
    uint8_t *longHeaders;  // CHTTP2_ANSWER_HEADERS_MAX bytes; NULL while they fit
    uint8_t headers[INLINE_HEADERS];
} Stream;

// A stream whose HEADERS are staged and not yet passed to TLS, and their position among all bytes
// that were ever staged. The stream may have been cancelled, and its entry reused.
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
    uint32_t streamCount;  // entries that exist
    uint32_t streamLimit;  // the maximum number of entries
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
    uint64_t takenBytes;  // the number of staged bytes that TLS has accepted so far

    uint32_t frameLeft;  // the remaining bytes of the current frame
    uint32_t frameLength;  // the length of the next frame, as far as it was received
    uint32_t frameLengthBytes;

    uint32_t starting;  // the stream whose HEADERS nghttp2 returns next, or NO_STREAM
    bool isBroken;      // memory was exhausted, and the state cannot be restored
    CHTTP2SessionState state;
    char goAwayWords[CHTTP2_ERROR_MAX];
    int32_t lastAnswered;  // the highest stream with a complete header block of a final answer
    Head head;
};

// The callbacks for nghttp2, shared by all sessions. Returns NULL if memory is exhausted.
const nghttp2_session_callbacks *CHTTP2Session_callbacks(void);
// Reads from the body of the stream at the index `source->fd`.
ssize_t CHTTP2Session_read_body(nghttp2_session *session, int32_t id, uint8_t *buffer,
                                size_t length, uint32_t *flags, nghttp2_data_source *source,
                                void *context);
// Frees an entry and what it owns.
void CHTTP2Session_free_stream(CHTTP2Session *session, uint32_t place);

#endif
