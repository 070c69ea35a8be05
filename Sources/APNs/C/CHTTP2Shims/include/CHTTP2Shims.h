// SPDX-License-Identifier: Apache-2.0
//
// Typed shims over libssl and libnghttp2, for HTTP2Transport alone.
//
// Why C at all: nghttp2's callbacks run several times for each push and only copy bytes, OpenSSL's
// setters are macros, and neither library's handles have types that Swift could distinguish. So the
// bytes are moved here, and every decision (which connection, which push, what a failure means) is
// made in Swift. No Swift code ever runs inside a frame of either library.
//
// Five types:
//   CHTTP2Reactor      an epoll instance and an eventfd: what one thread waits on
//   CHTTP2TLSContext   an SSL_CTX: whom to trust, and who we are
//   CHTTP2Channel      one socket with TLS on it
//   CHTTP2Session      one nghttp2 session, its streams, and the bytes on their way out
//   CHTTP2HeaderBlock  header fields that requests share
// Each belongs to the thread that made it, except for CHTTP2Reactor_wake, which any thread may call
// until CHTTP2Reactor_destroy. Every pointer that a function takes is read during that call only,
// unless its comment says otherwise.

#ifndef CHTTP2SHIMS_H
#define CHTTP2SHIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

// MARK: - The libraries

/// What the loaded libraries say of themselves. Strings live as long as the process.
typedef struct CHTTP2Version {
    int32_t nghttp2Number;  // 0x013400 for 1.52.0
    const char *nghttp2;
    uint64_t opensslNumber;  // 0x30000130 for 3.0.19
    const char *openssl;
} CHTTP2Version;

/// Sets OpenSSL up, without its handler at exit, which would pull TLS state from under live
/// connections; then says which versions are loaded. Any thread may call it.
CHTTP2Version CHTTP2_load(void);

/// Names the calling thread, in at most 15 bytes, for `ps` and debuggers.
void CHTTP2_name_this_thread(const char *name);

/// Monotonic milliseconds (CLOCK_MONOTONIC).
int64_t CHTTP2_monotonic_milliseconds(void);

// MARK: - Waiting

typedef struct CHTTP2Reactor CHTTP2Reactor;

/// What happened to one descriptor.
typedef struct CHTTP2Event {
    uint64_t token;  // as given to CHTTP2Reactor_watch
    bool isReadable;  // or failed, or closed by the peer: reading shows which
    bool isWritable;
} CHTTP2Event;

/// NULL when the system has no descriptor left.
CHTTP2Reactor *_Nullable CHTTP2Reactor_create(void);
void CHTTP2Reactor_destroy(CHTTP2Reactor *reactor);
/// Ends the present or the next wait. The only function that any thread may call.
void CHTTP2Reactor_wake(const CHTTP2Reactor *reactor);
/// Watches a descriptor, level-triggered, or changes what is watched. `isNew` says which.
bool CHTTP2Reactor_watch(const CHTTP2Reactor *reactor, int32_t descriptor, uint64_t token,
                         bool reads, bool writes, bool isNew);
/// Stops watching. To be called before the descriptor is closed.
void CHTTP2Reactor_forget(const CHTTP2Reactor *reactor, int32_t descriptor);
/// Waits at most so long; -1 for as long as it takes. Returns how many events it wrote.
int32_t CHTTP2Reactor_wait(const CHTTP2Reactor *reactor, CHTTP2Event *events, int32_t capacity,
                           int32_t milliseconds);

// MARK: - Sockets

/// Begins to connect a non-blocking TCP socket with TCP_NODELAY. Returns the descriptor, which the
/// caller owns, or the negative errno.
int32_t CHTTP2Socket_connect(const void *address, uint32_t length);
/// How the attempt ended: 0, or an errno.
int32_t CHTTP2Socket_result(int32_t descriptor);
/// Writes or reads what can be without waiting. Returns the count, 0 for none now, a negative errno
/// for a failure; reading gives -EPIPE at the end. Never raises SIGPIPE.
int64_t CHTTP2Socket_send(int32_t descriptor, const uint8_t *bytes, size_t length);
int64_t CHTTP2Socket_receive(int32_t descriptor, uint8_t *bytes, size_t length);

// MARK: - TLS

typedef struct CHTTP2TLSContext CHTTP2TLSContext;

/// Whom to trust, and who we are.
typedef struct CHTTP2TLSSettings {
    const char *_Nullable authorityFile;  // NULL and no PEM: the system's authorities
    const uint8_t *_Nullable authorityPEM;
    size_t authorityPEMLength;
    const uint8_t *_Nullable certificate;  // a PEM chain, or a PKCS#12 archive; NULL for none
    size_t certificateLength;
    const uint8_t *_Nullable key;  // PEM
    size_t keyLength;
    const char *_Nullable password;
    bool certificateIsPKCS12;
} CHTTP2TLSSettings;

/// The room for a failure's words, in bytes, the closing zero included.
#define CHTTP2_ERROR_MAX 256

/// TLS 1.2 or later with ALPN `h2` alone, peer always verified. NULL with words in `error`, which
/// has room for CHTTP2_ERROR_MAX bytes. Reads files: the settings' one, or the system's.
CHTTP2TLSContext *_Nullable CHTTP2TLSContext_create(const CHTTP2TLSSettings *settings,
                                                    char *error);
void CHTTP2TLSContext_destroy(CHTTP2TLSContext *context);

/// How far a call got.
typedef enum __attribute__((enum_extensibility(closed))) CHTTP2Progress {
    CHTTP2ProgressDone,            // all that there was to do
    CHTTP2ProgressWantsRead,       // go on when the socket can be read
    CHTTP2ProgressWantsWrite,      // go on when the socket can be written
    CHTTP2ProgressMore,            // there is more: call again, after the others had their turn
    CHTTP2ProgressTLSFailed,       // TLS refused, or was refused
    CHTTP2ProgressNotHTTP2,        // the peer does not speak HTTP/2; nothing was sent
    CHTTP2ProgressProtocolFailed,  // the peer broke HTTP/2
    CHTTP2ProgressClosed,          // the peer closed the connection in order
    CHTTP2ProgressLost,            // the connection broke
} CHTTP2Progress;

typedef struct CHTTP2Channel CHTTP2Channel;
typedef struct CHTTP2Session CHTTP2Session;

/// Takes over the descriptor of a connected socket, also when it returns NULL. `name` is what the
/// certificate must carry: a host's name, sent as SNI, or an IP address; the same for all channels of
/// a context, which outlives them, because each resumes the latest TLS session of the others.
CHTTP2Channel *_Nullable CHTTP2Channel_create(CHTTP2TLSContext *context, int32_t descriptor,
                                              const char *name, bool isAddress);
/// Says farewell as far as that goes without waiting, and closes the descriptor.
void CHTTP2Channel_destroy(CHTTP2Channel *channel);
int32_t CHTTP2Channel_descriptor(const CHTTP2Channel *channel);
/// Goes on with the handshake.
CHTTP2Progress CHTTP2Channel_handshake(CHTTP2Channel *channel);
/// Reads what is there, within limits, and lets the session act on it. Adds the number of bytes to
/// `received`.
CHTTP2Progress CHTTP2Channel_receive(CHTTP2Channel *channel, CHTTP2Session *session,
                                     size_t *received);
/// Writes all that the session has to send, as far as the socket takes it.
CHTTP2Progress CHTTP2Channel_send(CHTTP2Channel *channel, CHTTP2Session *session);
/// Words for the last failure; valid until the next call. Never NULL.
const char *CHTTP2Channel_error(const CHTTP2Channel *channel);

// MARK: - Header fields

typedef struct CHTTP2HeaderBlock CHTTP2HeaderBlock;

CHTTP2HeaderBlock *_Nullable CHTTP2HeaderBlock_create(void);
/// Appends a field, copied. The value is Huffman-coded here, once. False when memory ran out.
bool CHTTP2HeaderBlock_append(CHTTP2HeaderBlock *block, const uint8_t *name, size_t nameLength,
                              const uint8_t *value, size_t valueLength);
/// The most bytes that the block can take in a request.
size_t CHTTP2HeaderBlock_longest(const CHTTP2HeaderBlock *block);
void CHTTP2HeaderBlock_destroy(CHTTP2HeaderBlock *block);

// MARK: - HTTP/2

/// The largest body of an answer, in bytes, unless CHTTP2Session_limit_answer says otherwise; a stream
/// with a larger one is reset.
#define CHTTP2_ANSWER_BODY_MAX 4096
/// The room for those header fields of an answer that a push client reads, in bytes.
#define CHTTP2_ANSWER_HEADERS_MAX 2048
/// The largest header list of an answer, by RFC 9113 §10.5.1's count, in bytes.
#define CHTTP2_HEADER_LIST_MAX 16384
/// The most bytes that a request's header block may take: all of them fit one frame of the least
/// SETTINGS_MAX_FRAME_SIZE, with room for two changes of the table's size.
#define CHTTP2_HEAD_MAX 16352
/// A channel collects frames until this much is there, and the request is whole that is the last.
/// Then it writes them: four TLS records, the last of which has 1 KiB of room for that request.
#define CHTTP2_WRITE_THRESHOLD 64512

/// Opens a session and has it send SETTINGS. `streams` is the most that will be open at a time.
CHTTP2Session *_Nullable CHTTP2Session_create(uint32_t streams, const char *authority,
                                              const char *userAgent);
void CHTTP2Session_destroy(CHTTP2Session *session);

/// Acts on bytes from the peer. False if it broke the protocol or memory ran out.
bool CHTTP2Session_receive(CHTTP2Session *session, const uint8_t *bytes, size_t length);
/// Collects frames up to the threshold, and beyond it to a request's end. False if memory ran out.
bool CHTTP2Session_collect(CHTTP2Session *session);
/// What is collected; valid until the next call with this session.
const uint8_t *CHTTP2Session_staged(const CHTTP2Session *session, size_t *length);
/// The first so many of the bytes collected are about to be handed to TLS: from here on each
/// request that begins among them counts as written.
void CHTTP2Session_will_write(CHTTP2Session *session, size_t length);
/// So many of them were taken.
void CHTTP2Session_did_write(CHTTP2Session *session, size_t length);

/// What a request does.
typedef enum __attribute__((enum_extensibility(closed))) CHTTP2Method {
    CHTTP2MethodPost,
    CHTTP2MethodGet,
    CHTTP2MethodDelete,
} CHTTP2Method;

/// Begins the next request with another method than POST.
void CHTTP2Session_begin_other(CHTTP2Session *session, CHTTP2Method method, const uint8_t *path,
                               size_t pathLength, const CHTTP2HeaderBlock *shared);
/// Begins the next request. There must be a stream free, and CHTTP2Session_may_start.
void CHTTP2Session_begin(CHTTP2Session *session, const uint8_t *path, size_t pathLength,
                         const CHTTP2HeaderBlock *shared);
/// Adds a field of the request's own.
void CHTTP2Session_add_field(CHTTP2Session *session, const uint8_t *name, size_t nameLength,
                             const uint8_t *value, size_t valueLength);

/// What CHTTP2Session_start gives back.
typedef struct CHTTP2Started {
    int32_t stream;  // the stream's place in the session's table; -1: the session is broken
    bool isFull;     // so much is collected that it should be written first
} CHTTP2Started;
/// Turns what was begun into frames, behind those that are collected. `tag` comes back with the
/// answer. Without any bytes there is no body, and the header fields end the request.
CHTTP2Started CHTTP2Session_start(CHTTP2Session *session, uint32_t tag, const uint8_t *body,
                                  size_t bodyLength);
/// Sets the largest body of the answer on a stream that was started last, in bytes.
void CHTTP2Session_limit_answer(CHTTP2Session *session, uint32_t stream, uint32_t limit);
/// Whether another request may be started: a stream id is left, no GOAWAY was exchanged, and the
/// connection's window takes the body now (or nothing is open whose end would widen it).
bool CHTTP2Session_may_start(const CHTTP2Session *session, size_t bodyLength);

/// Gives up on a stream whose answer has not been taken: resets it with CANCEL. Nothing more is
/// heard of it.
void CHTTP2Session_cancel(CHTTP2Session *session, uint32_t stream);
/// Whether a byte of the stream's request has been handed to TLS.
bool CHTTP2Session_is_written(const CHTTP2Session *session, uint32_t stream);
/// Sends a PING.
bool CHTTP2Session_ping(CHTTP2Session *session);
/// Sends GOAWAY with NO_ERROR.
void CHTTP2Session_farewell(CHTTP2Session *session);
/// Ends every stream that is open, as if the peer had reset it with INTERNAL_ERROR.
void CHTTP2Session_abort(CHTTP2Session *session);

/// What Swift decides by.
typedef struct CHTTP2SessionState {
    uint32_t openStreams;        // cancelled ones included until their reset is on its way
    uint32_t peerStreamLimit;    // SETTINGS_MAX_CONCURRENT_STREAMS
    uint32_t controlFrames;      // frames so far that ended no answer
    uint32_t pingAnswers;        // acknowledged PINGs so far
    uint32_t goAwayCode;         // of the last GOAWAY received
    int32_t goAwayLastStream;
    bool hasSettings;            // the peer's first SETTINGS came
    bool goAwayReceived;
    bool isLeavingInOrder;       // ... and all of them with NO_ERROR
    bool goAwaySent;             // nghttp2 or this side ended the session
} CHTTP2SessionState;
CHTTP2SessionState CHTTP2Session_state(const CHTTP2Session *session);
/// The printable part of the last GOAWAY's debug data. Never NULL.
const char *CHTTP2Session_goaway_words(const CHTTP2Session *session);

/// How a stream ended. Pointers are valid until the stream is released.
typedef struct CHTTP2Answer {
    uint32_t stream;
    uint32_t tag;
    uint32_t errorCode;     // 0 when it ended well; else an HTTP/2 error code
    uint16_t status;        // 0 unless a final answer's header block came, complete and right
    bool isWhole;           // the answer's end was seen
    bool isMalformed;       // what came breaks RFC 9113 §8: there is no answer
    bool isTooLarge;        // body or header list
    bool isWritten;         // a byte of the request may have left
    uint16_t headersLength;
    uint32_t bodyLength;
    /// Kept fields, each as: length of the name (1 byte), length of the value (2 bytes, least
    /// significant first), name, value.
    const uint8_t *_Nullable headers;
    const uint8_t *_Nullable body;
} CHTTP2Answer;

/// The next stream that ended, in the order in which they did. False when there is none.
bool CHTTP2Session_next_finished(CHTTP2Session *session, CHTTP2Answer *answer);
/// What has come of an answer on a stream that has not finished. False when its header block has not,
/// or when it is too large.
bool CHTTP2Session_peek_answer(const CHTTP2Session *session, uint32_t stream,
                               CHTTP2Answer *answer);
/// Gives a finished stream's place back.
void CHTTP2Session_release(CHTTP2Session *session, uint32_t stream);

#pragma clang assume_nonnull end

#endif
