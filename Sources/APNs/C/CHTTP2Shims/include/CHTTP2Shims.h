// SPDX-License-Identifier: Apache-2.0
//
// Typed shims over libssl and libnghttp2, for HTTP2Transport only.
//
// Why C: nghttp2's callbacks run several times for each push and only copy bytes, OpenSSL's setters
// are macros, and the handles of both libraries have types that Swift cannot distinguish. Bytes are
// copied here; all decisions (which connection, which push, the meaning of a failure) are made in
// Swift. No Swift code runs inside a frame of either library.
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

/// The versions of the loaded libraries. The strings are valid as long as the process runs.
typedef struct CHTTP2Version {
    int32_t nghttp2Number;  // 0x013400 for 1.52.0
    const char *nghttp2;
    uint64_t opensslNumber;  // 0x30000130 for 3.0.19
    const char *openssl;
} CHTTP2Version;

/// Initializes OpenSSL without its exit handler, which would free TLS state of open connections.
/// Returns the loaded versions. May be called from any thread.
CHTTP2Version CHTTP2_load(void);

/// Sets the name of the calling thread, at most 15 bytes, for `ps` and debuggers.
void CHTTP2_name_this_thread(const char *name);

/// The time of the monotonic clock (CLOCK_MONOTONIC), in milliseconds.
int64_t CHTTP2_monotonic_milliseconds(void);

// MARK: - Waiting

typedef struct CHTTP2Reactor CHTTP2Reactor;

/// The events of one descriptor.
typedef struct CHTTP2Event {
    uint64_t token;  // as passed to CHTTP2Reactor_watch
    bool isReadable;  // or failed, or closed by the peer: a read shows which
    bool isWritable;
} CHTTP2Event;

/// Creates a reactor. Returns NULL if the system has no descriptor left.
CHTTP2Reactor *_Nullable CHTTP2Reactor_create(void);
void CHTTP2Reactor_destroy(CHTTP2Reactor *reactor);
/// Ends the current or the next wait. The only function that any thread may call.
void CHTTP2Reactor_wake(const CHTTP2Reactor *reactor);
/// Starts watching a descriptor, level-triggered, if `isNew`; otherwise changes the watched events.
bool CHTTP2Reactor_watch(const CHTTP2Reactor *reactor, int32_t descriptor, uint64_t token,
                         bool reads, bool writes, bool isNew);
/// Stops watching a descriptor. Must be called before it is closed.
void CHTTP2Reactor_forget(const CHTTP2Reactor *reactor, int32_t descriptor);
/// Waits for events, up to a timeout in milliseconds; -1 for no timeout. Returns the number of
/// events.
int32_t CHTTP2Reactor_wait(const CHTTP2Reactor *reactor, CHTTP2Event *events, int32_t capacity,
                           int32_t milliseconds);

// MARK: - Sockets

/// Starts connecting a non-blocking TCP socket with TCP_NODELAY. Returns the descriptor, which the
/// caller owns, or a negative errno.
int32_t CHTTP2Socket_connect(const void *address, uint32_t length);
/// The result of the attempt to connect: 0 or an errno.
int32_t CHTTP2Socket_result(int32_t descriptor);
/// Writes or reads without blocking. Returns the number of bytes, 0 if it would block, or a
/// negative errno; reading returns -EPIPE at the end. Never raises SIGPIPE.
int64_t CHTTP2Socket_send(int32_t descriptor, const uint8_t *bytes, size_t length);
int64_t CHTTP2Socket_receive(int32_t descriptor, uint8_t *bytes, size_t length);

// MARK: - TLS

typedef struct CHTTP2TLSContext CHTTP2TLSContext;

/// The certificate authorities, and the client certificate.
typedef struct CHTTP2TLSSettings {
    const char *_Nullable authorityFile;  // NULL and no PEM: the system's
    const uint8_t *_Nullable authorityPEM;
    size_t authorityPEMLength;
    const uint8_t *_Nullable certificate;  // a PEM chain or a PKCS#12 archive; NULL for none
    size_t certificateLength;
    const uint8_t *_Nullable key;  // PEM
    size_t keyLength;
    const char *_Nullable password;
    bool certificateIsPKCS12;
} CHTTP2TLSSettings;

/// The size of the buffer for an error message, in bytes, including the terminating zero.
#define CHTTP2_ERROR_MAX 256

/// Creates a context for TLS 1.2 or later with ALPN `h2` only; the peer is always verified. Returns
/// NULL with a message in `error`, a buffer of CHTTP2_ERROR_MAX bytes. Reads files: the authorities
/// of the settings, or the system's.
CHTTP2TLSContext *_Nullable CHTTP2TLSContext_create(const CHTTP2TLSSettings *settings,
                                                    char *error);
void CHTTP2TLSContext_destroy(CHTTP2TLSContext *context);

/// The result of a call.
typedef enum __attribute__((enum_extensibility(closed))) CHTTP2Progress {
    CHTTP2ProgressDone,            // complete
    CHTTP2ProgressWantsRead,       // call again when the socket is readable
    CHTTP2ProgressWantsWrite,      // call again when the socket is writable
    CHTTP2ProgressMore,            // incomplete: call again after other connections were served
    CHTTP2ProgressTLSFailed,       // a TLS failure of either side
    CHTTP2ProgressNotHTTP2,        // the peer does not speak HTTP/2; nothing was sent
    CHTTP2ProgressProtocolFailed,  // the peer violated HTTP/2
    CHTTP2ProgressClosed,          // the peer closed the connection normally
    CHTTP2ProgressLost,            // the connection was lost
} CHTTP2Progress;

typedef struct CHTTP2Channel CHTTP2Channel;
typedef struct CHTTP2Session CHTTP2Session;

/// Takes ownership of the descriptor of a connected socket, even if it returns NULL. `name` must be
/// in the certificate: a host name, which is sent as SNI, or an IP address. It is the same for all
/// channels of a context, which outlives them: each resumes the latest TLS session of the others.
CHTTP2Channel *_Nullable CHTTP2Channel_create(CHTTP2TLSContext *context, int32_t descriptor,
                                              const char *name, bool isAddress);
/// Sends the closing messages as far as possible without blocking, and closes the descriptor.
void CHTTP2Channel_destroy(CHTTP2Channel *channel);
int32_t CHTTP2Channel_descriptor(const CHTTP2Channel *channel);
/// Continues the handshake.
CHTTP2Progress CHTTP2Channel_handshake(CHTTP2Channel *channel);
/// Reads available bytes, within limits, and passes them to the session. Adds their number to
/// `received`.
CHTTP2Progress CHTTP2Channel_receive(CHTTP2Channel *channel, CHTTP2Session *session,
                                     size_t *received);
/// Writes the bytes that the session has to send, as far as the socket accepts them.
CHTTP2Progress CHTTP2Channel_send(CHTTP2Channel *channel, CHTTP2Session *session);
/// The message of the last failure; valid until the next call. Never NULL.
const char *CHTTP2Channel_error(const CHTTP2Channel *channel);

// MARK: - Header fields

typedef struct CHTTP2HeaderBlock CHTTP2HeaderBlock;

CHTTP2HeaderBlock *_Nullable CHTTP2HeaderBlock_create(void);
/// Appends a field, which is copied. The value is Huffman-coded once, here. Returns false if memory
/// is exhausted.
bool CHTTP2HeaderBlock_append(CHTTP2HeaderBlock *block, const uint8_t *name, size_t nameLength,
                              const uint8_t *value, size_t valueLength);
/// The maximum size of the block in a request, in bytes.
size_t CHTTP2HeaderBlock_longest(const CHTTP2HeaderBlock *block);
void CHTTP2HeaderBlock_destroy(CHTTP2HeaderBlock *block);

// MARK: - HTTP/2

/// The maximum size of an answer's body, in bytes, unless CHTTP2Session_limit_answer sets another;
/// a stream with a larger one is reset.
#define CHTTP2_ANSWER_BODY_MAX 4096
/// The size of the buffer for the header fields of an answer that a push client reads, in bytes.
#define CHTTP2_ANSWER_HEADERS_MAX 2048
/// The maximum size of an answer's header list, in bytes, as RFC 9113 §10.5.1 counts it.
#define CHTTP2_HEADER_LIST_MAX 16384
/// The maximum size of a request's header block, in bytes: it fits one frame of the minimum
/// SETTINGS_MAX_FRAME_SIZE, with room for two changes of the table size.
#define CHTTP2_HEAD_MAX 16352
/// The number of bytes that a channel collects before it writes them; the last request is always
/// collected completely. Four TLS records, the last with 1 KiB of room for that request.
#define CHTTP2_WRITE_THRESHOLD 64512

/// Creates a session, which sends SETTINGS. `streams` is the maximum number of open streams.
CHTTP2Session *_Nullable CHTTP2Session_create(uint32_t streams, const char *authority,
                                              const char *userAgent);
void CHTTP2Session_destroy(CHTTP2Session *session);

/// Processes bytes from the peer. Returns false if it violated the protocol or memory is exhausted.
bool CHTTP2Session_receive(CHTTP2Session *session, const uint8_t *bytes, size_t length);
/// Collects frames up to the threshold, or to the end of a request beyond it. Returns false if
/// memory is exhausted.
bool CHTTP2Session_collect(CHTTP2Session *session);
/// The collected bytes; valid until the next call with this session.
const uint8_t *CHTTP2Session_staged(const CHTTP2Session *session, size_t *length);
/// Announces that the first `length` collected bytes are passed to TLS: each request that starts
/// among them counts as written from now on.
void CHTTP2Session_will_write(CHTTP2Session *session, size_t length);
/// Removes the first `length` collected bytes, which TLS has accepted.
void CHTTP2Session_did_write(CHTTP2Session *session, size_t length);

/// The method of a request.
typedef enum __attribute__((enum_extensibility(closed))) CHTTP2Method {
    CHTTP2MethodPost,
    CHTTP2MethodGet,
    CHTTP2MethodDelete,
} CHTTP2Method;

/// Begins the next request with another method than POST.
void CHTTP2Session_begin_other(CHTTP2Session *session, CHTTP2Method method, const uint8_t *path,
                               size_t pathLength, const CHTTP2HeaderBlock *shared);
/// Begins the next request. A stream must be free, and CHTTP2Session_may_start must be true.
void CHTTP2Session_begin(CHTTP2Session *session, const uint8_t *path, size_t pathLength,
                         const CHTTP2HeaderBlock *shared);
/// Adds a header field to the request.
void CHTTP2Session_add_field(CHTTP2Session *session, const uint8_t *name, size_t nameLength,
                             const uint8_t *value, size_t valueLength);

/// The result of CHTTP2Session_start.
typedef struct CHTTP2Started {
    int32_t stream;  // the index of the stream; -1 if the session is broken
    bool isFull;     // the collected bytes should be written first
} CHTTP2Started;
/// Appends the frames of the request to the collected bytes. The answer has the same `tag`. Without
/// bytes there is no body, and the header fields end the request.
CHTTP2Started CHTTP2Session_start(CHTTP2Session *session, uint32_t tag, const uint8_t *body,
                                  size_t bodyLength);
/// Sets the maximum size of the answer's body on the stream that was started last, in bytes.
void CHTTP2Session_limit_answer(CHTTP2Session *session, uint32_t stream, uint32_t limit);
/// Whether another request can be started: a stream id is left, no GOAWAY was sent or received, and
/// the connection's window has room for the body (or no stream is open whose end would widen it).
bool CHTTP2Session_may_start(const CHTTP2Session *session, size_t bodyLength);

/// Cancels a stream whose answer has not been taken: resets it with CANCEL. It is not reported any
/// more.
void CHTTP2Session_cancel(CHTTP2Session *session, uint32_t stream);
/// Whether a byte of the stream's request was passed to TLS.
bool CHTTP2Session_is_written(const CHTTP2Session *session, uint32_t stream);
/// Sends a PING.
bool CHTTP2Session_ping(CHTTP2Session *session);
/// Sends GOAWAY with NO_ERROR.
void CHTTP2Session_farewell(CHTTP2Session *session);
/// Ends all open streams, as if the peer had reset them with INTERNAL_ERROR.
void CHTTP2Session_abort(CHTTP2Session *session);

/// The state of a session.
typedef struct CHTTP2SessionState {
    uint32_t openStreams;        // including cancelled ones until their reset is sent
    uint32_t peerStreamLimit;    // SETTINGS_MAX_CONCURRENT_STREAMS
    uint32_t controlFrames;      // the number of frames that ended no answer
    uint32_t pingAnswers;        // the number of acknowledged PINGs
    uint32_t goAwayCode;         // of the last GOAWAY received
    int32_t goAwayLastStream;
    bool hasSettings;            // the peer's first SETTINGS were received
    bool goAwayReceived;
    bool isLeavingInOrder;       // ... and all of them with NO_ERROR
    bool goAwayIsFalse;          // ... and one leaves out a stream that was answered before
    bool goAwaySent;             // nghttp2 or this side ended the session
} CHTTP2SessionState;
CHTTP2SessionState CHTTP2Session_state(const CHTTP2Session *session);
/// The printable part of the last GOAWAY's debug data. Never NULL.
const char *CHTTP2Session_goaway_words(const CHTTP2Session *session);

/// The end of a stream. The pointers are valid until the stream is released.
typedef struct CHTTP2Answer {
    uint32_t stream;
    uint32_t tag;
    uint32_t errorCode;     // 0 if it ended normally; else an HTTP/2 error code
    uint16_t status;        // 0 without a complete and valid header block of a final answer
    bool isWhole;           // the end of the answer was received
    bool isMalformed;       // the answer violates RFC 9113 §8, and is ignored
    bool isTooLarge;        // body or header list
    bool isWritten;         // a byte of the request may have been sent
    uint16_t headersLength;
    uint32_t bodyLength;
    /// The stored fields, each as: length of the name (1 byte), length of the value (2 bytes,
    /// little-endian), name, value.
    const uint8_t *_Nullable headers;
    const uint8_t *_Nullable body;
} CHTTP2Answer;

/// Returns the next stream that ended, in the order of their ends. Returns false if there is none.
bool CHTTP2Session_next_finished(CHTTP2Session *session, CHTTP2Answer *answer);
/// Returns the answer so far on a stream that has not ended. Returns false if its header block is
/// incomplete, or if it is too large.
bool CHTTP2Session_peek_answer(const CHTTP2Session *session, uint32_t stream,
                               CHTTP2Answer *answer);
/// Releases the entry of a stream that ended.
void CHTTP2Session_release(CHTTP2Session *session, uint32_t stream);

#pragma clang assume_nonnull end

#endif
