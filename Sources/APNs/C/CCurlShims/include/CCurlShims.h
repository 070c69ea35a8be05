// SPDX-License-Identifier: Apache-2.0
//
// Typed shims over libcurl, for CurlTransport only.
//
// Why C: curl_easy_setopt, curl_easy_getinfo and curl_multi_setopt are variadic, which Swift cannot
// call, and libcurl's callbacks must not trap, throw or call libcurl. The callbacks here copy bytes
// and return; no Swift code runs inside a libcurl frame.
//
// Three types, so that Swift distinguishes them (libcurl's own CURL and CURLM are both `void`):
//   CCurlReactor     an epoll instance and an eventfd: what one thread waits on
//   CCurlConnection  one CURLM, limited to one connection
//   CCurlExchange    one easy handle with every byte that must outlive its transfer
// Each belongs to the thread that made it, except for CCurlReactor_wake, which any thread may call
// until CCurlReactor_destroy.

#ifndef CCURLSHIMS_H
#define CCURLSHIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

// MARK: - The library

/// The version of libcurl. The strings are valid as long as the process runs.
typedef struct CCurlVersion {
    uint32_t number;  // 0x075801 for 7.88.1
    const char *version;
    const char *_Nullable tlsLibrary;
    const char *_Nullable nghttp2;
    bool hasHTTP2;
    bool isThreadSafe;
    bool hasAsynchronousResolver;
} CCurlVersion;

/// Calls curl_global_init, and disables OpenSSL's exit handler, which would free TLS state of open
/// connections. Returns 0 or libcurl's error code. There is no counterpart, because other threads
/// may always be running.
int32_t CCurl_global_init(void);
CCurlVersion CCurl_version(void);
const char *CCurl_error_name(int32_t code);

/// Whether libcurl's calls of nghttp2_submit_rst_stream call CNghttp2ResetGuard.
bool CCurl_has_reset_guard(void);

// MARK: - Waiting

typedef struct CCurlReactor CCurlReactor;

/// Creates a reactor. Returns NULL if the system has no descriptor left.
CCurlReactor *_Nullable CCurlReactor_create(void);
void CCurlReactor_destroy(CCurlReactor *reactor);
/// Ends the current or the next wait. The only function that any thread may call.
void CCurlReactor_wake(const CCurlReactor *reactor);
/// Waits until a socket is ready, a timer of a connection is due, wake is called, or `milliseconds`
/// have elapsed, and then lets libcurl handle the ready sockets. Returns whether wake was called.
bool CCurlReactor_turn(CCurlReactor *reactor, int32_t milliseconds);
/// Sets the name of the calling thread for `ps` and debuggers; Swift does not import the GNU
/// function.
void CCurl_name_this_thread(const char *name);
/// The time of the reactor's monotonic clock, in milliseconds.
int64_t CCurl_monotonic_milliseconds(void);

// MARK: - One connection

typedef struct CCurlConnection CCurlConnection;

/// The settings of all transfers of a connection. Must outlive every connection created with it.
typedef struct CCurlSettings {
    const char *_Nullable url;                           // https://host:port/, never NULL
    const char *_Nullable proxy;                         // "" for none, NULL for the environment
    const char *_Nullable proxyCredentials;              // user:password
    const char *_Nullable certificateAuthorityFile;      // NULL for the system's
    const uint8_t *_Nullable certificateAuthorityPEM;    // used instead of a file
    size_t certificateAuthorityPEMLength;
    const uint8_t *_Nullable clientCertificate;
    size_t clientCertificateLength;
    const uint8_t *_Nullable clientKey;
    size_t clientKeyLength;
    const char *_Nullable clientKeyPassword;
    bool clientCertificateIsPKCS12;
    const char *_Nullable userAgent;
    int64_t connectTimeoutMilliseconds;
    int64_t keepAliveIdleSeconds;                        // TCP keep-alive; 0 for none
    int64_t keepAliveIntervalSeconds;
    int64_t maximumIdleSeconds;
    int64_t maximumStreams;
} CCurlSettings;

CCurlConnection *_Nullable CCurlConnection_create(CCurlReactor *reactor,
                                                  const CCurlSettings *settings);
/// Destroys a connection. All exchanges must have been removed before.
void CCurlConnection_destroy(CCurlConnection *connection);
/// Whether the connection was established and is lost: closed by libcurl, or by the peer while
/// idle. Makes a system call; intended for a connection without exchanges in flight.
bool CCurlConnection_is_lost(const CCurlConnection *connection);
/// The GOAWAY frames that were received.
typedef struct CCurlGoAway {
    bool came;
    bool isInOrder;      // all of them with NO_ERROR
    bool isFalse;        // one leaves out a stream that was answered before
    int32_t lastStream;  // of the last one; INT32_MAX if it is unknown
} CCurlGoAway;
/// The GOAWAY frames; known as soon as libcurl handles a transfer of the connection.
CCurlGoAway CCurlConnection_goaway(const CCurlConnection *connection);
/// The number of exchanges that were started and have no stream yet: libcurl has not written their
/// header fields.
uint32_t CCurlConnection_waiting(const CCurlConnection *connection);

// MARK: - One exchange

typedef struct CCurlExchange CCurlExchange;

/// A block of request headers that exchanges share: a libcurl list that outlives them.
typedef struct CCurlHeaderBlock CCurlHeaderBlock;
CCurlHeaderBlock *_Nullable CCurlHeaderBlock_create(void);
/// Appends `name: value`. Returns false if memory is exhausted.
bool CCurlHeaderBlock_append(CCurlHeaderBlock *block, const uint8_t *line, size_t length);
void CCurlHeaderBlock_destroy(CCurlHeaderBlock *block);

/// The maximum number of header fields of an exchange, without the shared ones.
#define CCURL_OWN_HEADERS_MAX 8
/// The maximum size of an answer's body, in bytes, unless CCurlExchange_make_other sets another;
/// beyond it the exchange is aborted.
#define CCURL_RESPONSE_BODY_MAX 4096
/// The size of the buffer for the header lines of an answer that a push client reads, in bytes.
#define CCURL_RESPONSE_HEADERS_MAX 2048

/// An exchange for one connection of a reactor. NULL when memory ran out.
CCurlExchange *_Nullable CCurlExchange_create(CCurlConnection *connection);
/// Moves an exchange that is not started to a connection with the same settings. Making one anew
/// takes libcurl longer than a request.
void CCurlExchange_attach(CCurlExchange *exchange, CCurlConnection *connection);
void CCurlExchange_destroy(CCurlExchange *exchange);
uint64_t CCurlExchange_tag(const CCurlExchange *exchange);
void CCurlExchange_set_tag(CCurlExchange *exchange, uint64_t tag);

/// Discards the last request and answer, and sets the path, header fields and body of the next
/// request, which are copied. The method is POST. Returns false if memory is exhausted or there are
/// too many header fields.
bool CCurlExchange_prepare(CCurlExchange *exchange, const char *path,
                           const CCurlHeaderBlock *shared, const uint8_t *body, size_t bodyLength);
/// Sets another method for the prepared request, and another maximum size of its answer's body, in
/// bytes. A request without a body must have a method that needs none. Returns false if memory is
/// exhausted.
bool CCurlExchange_make_other(CCurlExchange *exchange, const char *method, size_t answerLimit);
/// Adds the header field `name: value` to the next request.
bool CCurlExchange_append_header(CCurlExchange *exchange, const uint8_t *name, size_t nameLength,
                                 const uint8_t *value, size_t valueLength);

/// Starts the exchange on its connection. Returns 0 or libcurl's CURLMcode.
int32_t CCurlExchange_start(CCurlExchange *exchange);
/// Removes the exchange, finished or not, from its connection. An unfinished stream is reset.
void CCurlExchange_remove(CCurlExchange *exchange);

/// Returns the next finished exchange of a connection, or NULL. `code` is libcurl's CURLcode.
CCurlExchange *_Nullable CCurlConnection_next_finished(CCurlConnection *connection, int32_t *code);

/// The result of an exchange that finished or was removed.
typedef struct CCurlReport {
    int64_t status;                // 0 without a status line
    int64_t httpVersion;           // 2 for HTTP/2 (libcurl's CURL_HTTP_VERSION_2_0 is 3)
    int64_t proxyStatus;           // a proxy's answer to CONNECT; 0 without a proxy
    bool requestBegan;             // a part of the request may have been written
    bool streamWasRefused;         // libcurl reported it, or a GOAWAY left the stream out
    bool resendWasRefused;         // libcurl tried to send the body again, which was prevented
    bool responseTooLarge;
    bool responseMalformed;        // libcurl accepted a header field that is not allowed
    bool responseHeadersEnded;     // the header block is complete
    bool protocolWasRefused;       // the peer did not negotiate HTTP/2; nothing was written
    const char *error;             // libcurl's message, may be empty; valid until the next prepare
    const uint8_t *headers;        // the stored header lines, each ending in \r\n
    size_t headersLength;
    const uint8_t *body;
    size_t bodyLength;
} CCurlReport;
CCurlReport CCurlExchange_report(const CCurlExchange *exchange);
/// Whether libcurl has written the header fields, so that the exchange has a stream.
bool CCurlExchange_request_began(const CCurlExchange *exchange);

// MARK: - Codes, by the names of libcurl's own enumeration

/// The values of the CURLcodes in this libcurl's headers that CurlTransport's table of certainties
/// uses.
typedef struct CCurlCodes {
    int32_t ok, unsupportedProtocol, failedInit, urlMalformat, couldntResolveProxy,
        couldntResolveHost, couldntConnect, weirdServerReply, http2, partialFile, writeError,
        readError, outOfMemory, operationTimedOut, sslConnectError, abortedByCallback,
        interfaceFailed, gotNothing, sslEngineNotFound, sslEngineSetFailed, sendError, recvError,
        sslCertProblem, sslCipher, peerFailedVerification, sslShutdownFailed, sendFailRewind,
        sslCACertBadFile, again, sslIssuerError, http2Stream, sslInvalidCertStatus, proxy,
        sslClientCert, noConnectionAvailable;
} CCurlCodes;
CCurlCodes CCurl_codes(void);

#pragma clang assume_nonnull end

#endif
