// SPDX-License-Identifier: Apache-2.0
//
// Typed shims over libcurl, for CurlTransport alone.
//
// Why C at all: curl_easy_setopt, curl_easy_getinfo and curl_multi_setopt are variadic, which Swift
// cannot call, and libcurl's callbacks must neither trap nor throw nor call back into libcurl. So
// the callbacks live here, as plain C that copies bytes and returns, and no Swift code ever runs
// inside a libcurl frame.
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

/// What libcurl says of itself. Strings live as long as the process.
typedef struct CCurlVersion {
    uint32_t number;  // 0x075801 for 7.88.1
    const char *version;
    const char *_Nullable tlsLibrary;
    const char *_Nullable nghttp2;
    bool hasHTTP2;
    bool isThreadSafe;
    bool hasAsynchronousResolver;
} CCurlVersion;

/// Calls curl_global_init after telling OpenSSL not to tear itself down at exit, where it would pull
/// TLS state from under live handles. Returns 0, or libcurl's code. Never undone: other threads may
/// be running whenever one could undo it.
int32_t CCurl_global_init(void);
CCurlVersion CCurl_version(void);
const char *CCurl_error_name(int32_t code);

/// Whether libcurl's calls of nghttp2_submit_rst_stream go through CNghttp2ResetGuard.
bool CCurl_has_reset_guard(void);

// MARK: - Waiting

typedef struct CCurlReactor CCurlReactor;

/// NULL when the system has no descriptor left.
CCurlReactor *_Nullable CCurlReactor_create(void);
void CCurlReactor_destroy(CCurlReactor *reactor);
/// Ends the present or the next wait. The only function that any thread may call.
void CCurlReactor_wake(const CCurlReactor *reactor);
/// Waits until a socket is ready, a timer of a connection is due, wake is called, or
/// `milliseconds` are over, then lets libcurl act on what is ready. Returns whether it was woken.
bool CCurlReactor_turn(CCurlReactor *reactor, int32_t milliseconds);
/// Names the calling thread for `ps` and debuggers; Swift does not import the GNU function.
void CCurl_name_this_thread(const char *name);
/// Monotonic milliseconds on the clock that the reactor's timers use.
int64_t CCurl_monotonic_milliseconds(void);

// MARK: - One connection

typedef struct CCurlConnection CCurlConnection;

/// What all transfers of a connection have in common. Must outlive every connection made with it.
typedef struct CCurlSettings {
    const char *_Nullable url;                           // https://host:port/, never NULL
    const char *_Nullable proxy;                         // "" for none, NULL for the environment
    const char *_Nullable proxyCredentials;              // user:password
    const char *_Nullable certificateAuthorityFile;      // NULL for the system's
    const uint8_t *_Nullable certificateAuthorityPEM;    // instead of a file
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
/// Every exchange must have been removed before.
void CCurlConnection_destroy(CCurlConnection *connection);
/// Whether the connection was up and is no longer: closed by libcurl, or by the peer while idle. Costs
/// a system call; meant for a connection with nothing in flight.
bool CCurlConnection_is_lost(const CCurlConnection *connection);
/// What the peer has said of the connection's end.
typedef struct CCurlGoAway {
    bool came;
    bool isInOrder;      // all of them with NO_ERROR
    int32_t lastStream;  // of the last one
} CCurlGoAway;
/// Known as soon as libcurl acts on a transfer of the connection.
CCurlGoAway CCurlConnection_goaway(const CCurlConnection *connection);
/// Exchanges that were started and have no stream yet: libcurl has not written their header fields.
uint32_t CCurlConnection_waiting(const CCurlConnection *connection);

// MARK: - One exchange

typedef struct CCurlExchange CCurlExchange;

/// A block of request headers that exchanges share: a libcurl list that outlives them.
typedef struct CCurlHeaderBlock CCurlHeaderBlock;
CCurlHeaderBlock *_Nullable CCurlHeaderBlock_create(void);
/// Appends `name: value`. False when memory ran out.
bool CCurlHeaderBlock_append(CCurlHeaderBlock *block, const uint8_t *line, size_t length);
void CCurlHeaderBlock_destroy(CCurlHeaderBlock *block);

/// How many header lines an exchange may have of its own.
#define CCURL_OWN_HEADERS_MAX 8
/// The largest body of an answer, in bytes, unless CCurlExchange_make_other says otherwise; beyond
/// it the exchange is aborted.
#define CCURL_RESPONSE_BODY_MAX 4096
/// The room for those header lines of an answer that a push client reads, in bytes.
#define CCURL_RESPONSE_HEADERS_MAX 2048

/// An exchange for one connection of a reactor. NULL when memory ran out.
CCurlExchange *_Nullable CCurlExchange_create(CCurlConnection *connection);
/// Moves an exchange that is not started to a connection with the same settings. Making one anew
/// takes libcurl longer than a request.
void CCurlExchange_attach(CCurlExchange *exchange, CCurlConnection *connection);
void CCurlExchange_destroy(CCurlExchange *exchange);
uint64_t CCurlExchange_tag(const CCurlExchange *exchange);
void CCurlExchange_set_tag(CCurlExchange *exchange, uint64_t tag);

/// Forgets the last request and answer and takes the next request's path, headers and body, all
/// copied. It is a POST. False when memory ran out or there are too many own headers.
bool CCurlExchange_prepare(CCurlExchange *exchange, const char *path,
                           const CCurlHeaderBlock *shared, const uint8_t *body, size_t bodyLength);
/// Gives the next request, which was prepared, another method, and its answer another largest body.
/// One that has no body must be given a method that needs none. False when memory ran out.
bool CCurlExchange_make_other(CCurlExchange *exchange, const char *method, size_t answerLimit);
/// Adds the line `name: value` to the next request.
bool CCurlExchange_append_header(CCurlExchange *exchange, const uint8_t *name, size_t nameLength,
                                 const uint8_t *value, size_t valueLength);

/// Hands the exchange to its connection. Returns 0 or libcurl's CURLMcode.
int32_t CCurlExchange_start(CCurlExchange *exchange);
/// Takes it back, finished or not. An unfinished stream is reset.
void CCurlExchange_remove(CCurlExchange *exchange);

/// The next finished exchange of a connection, or NULL. `code` is libcurl's CURLcode.
CCurlExchange *_Nullable CCurlConnection_next_finished(CCurlConnection *connection, int32_t *code);

/// What is known of an exchange once it finished or was taken back.
typedef struct CCurlReport {
    int64_t status;                // 0 when no status line came
    int64_t httpVersion;           // 2 for HTTP/2 (libcurl's CURL_HTTP_VERSION_2_0 is 3)
    int64_t proxyStatus;           // a proxy's answer to CONNECT; 0 without a proxy
    bool requestBegan;             // libcurl may have written some of the request
    bool streamWasRefused;         // libcurl said so, of a stream that was not processed
    bool resendWasRefused;         // libcurl wanted to send the body again, and was refused
    bool responseTooLarge;
    bool responseMalformed;        // libcurl let a header field pass that is not allowed
    bool responseHeadersEnded;     // the header block came whole
    bool protocolWasRefused;       // the peer did not agree to HTTP/2; nothing was written
    const char *error;             // libcurl's words, possibly empty; valid until the next prepare
    const uint8_t *headers;        // the kept header lines, each ending in \r\n
    size_t headersLength;
    const uint8_t *body;
    size_t bodyLength;
} CCurlReport;
CCurlReport CCurlExchange_report(const CCurlExchange *exchange);
/// Whether libcurl has written the header fields: the sign that the exchange has a stream.
bool CCurlExchange_request_began(const CCurlExchange *exchange);

// MARK: - Codes, by the names of libcurl's own enumeration

/// Every CURLcode of this libcurl's headers that CurlTransport's table of certainties names.
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
