// SPDX-License-Identifier: Apache-2.0

#include "CHTTP2TLS.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The maximum number of TLS records that one call reads before other connections are served, and
// the maximum size of a record (RFC 8446 §5.1).
enum { RECORDS_PER_TURN = 16, RECORD_MAX = 16384 };

// The size of the buffer for records: those of the write threshold and a few more. TLS adds at most
// 261 bytes to a record in version 1.3 (RFC 8446 §5.2) and 2,053 bytes in version 1.2 (RFC 5246
// §6.2.3).
enum { GATHERED_MAX = (CHTTP2_WRITE_THRESHOLD / RECORD_MAX + 1) * (RECORD_MAX + 2053) };

struct CHTTP2Channel {
    SSL *tls;
    CHTTP2TLSContext *context;
    int32_t descriptor;
    int32_t failure;     // the errno of the socket's last failure; 0 for none
    bool isDrained;      // the last read emptied the socket
    bool hasHandshaken;
    bool isResuming;     // the handshake is to resume a session
    bool isGathering;    // records are buffered before they are written to the socket
    char error[CHTTP2_ERROR_MAX];
    // Records that the socket has not accepted yet: from `gatheredStart` to `gatheredEnd`.
    size_t gatheredStart;
    size_t gatheredEnd;
    uint8_t gathered[GATHERED_MAX];
};

// MARK: - The BIO

// OpenSSL's socket BIO would raise SIGPIPE, and needs one more system call after every read to find
// that the socket is empty.
static int read_socket(BIO *bio, char *bytes, int length) {
    CHTTP2Channel *channel = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (channel->isDrained) {
        BIO_set_retry_read(bio);
        return -1;
    }
    int64_t count = CHTTP2Socket_receive(channel->descriptor, (uint8_t *)bytes, (size_t)length);
    channel->isDrained = count >= 0 && count < length;
    if (count > 0) return (int)count;
    if (count == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    if (count == -EPIPE) return 0;
    channel->failure = (int32_t)-count;
    return -1;
}

// Writes bytes to the socket. Returns their number, 0 if the socket is full, -1 on failure.
static int64_t give(CHTTP2Channel *channel, const uint8_t *bytes, size_t length) {
    const int64_t count = CHTTP2Socket_send(channel->descriptor, bytes, length);
    if (count >= 0) return count;
    channel->failure = (int32_t)-count;
    return -1;
}

// Writes the buffered bytes to the socket. Returns 1 if it accepted all, 0 if it is full, -1 on
// failure.
static int give_gathered(CHTTP2Channel *channel) {
    const size_t length = channel->gatheredEnd - channel->gatheredStart;
    if (length == 0) return 1;
    const int64_t count = give(channel, channel->gathered + channel->gatheredStart, length);
    if (count < 0) return -1;
    channel->gatheredStart += (size_t)count;
    if ((size_t)count < length) return 0;
    channel->gatheredStart = channel->gatheredEnd = 0;
    return 1;
}

// Appends bytes to the buffer. This includes records that TLS sends by itself, such as alerts,
// while earlier records are buffered: TLS would keep a record that it cannot write, and then refuse
// to write requests.
static bool gather(CHTTP2Channel *channel, const char *bytes, size_t length) {
    if (!channel->isGathering && channel->gatheredEnd == 0) return false;
    if (length > GATHERED_MAX - channel->gatheredEnd) return false;
    memcpy(channel->gathered + channel->gatheredEnd, bytes, length);
    channel->gatheredEnd += length;
    return true;
}

static int write_socket(BIO *bio, const char *bytes, int length) {
    CHTTP2Channel *channel = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (gather(channel, bytes, (size_t)length)) return length;
    // Buffered bytes are written first.
    int64_t count = give_gathered(channel);
    if (count > 0) count = give(channel, (const uint8_t *)bytes, (size_t)length);
    if (count > 0) return (int)count;
    if (count == 0) BIO_set_retry_write(bio);
    return -1;
}

static long control_socket(BIO *bio, int command, long number, void *pointer) {
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

static BIO_METHOD *method;

static void make_method(void) {
    BIO_METHOD *made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "rouse socket");
    if (!made) return;
    BIO_meth_set_read(made, read_socket);
    BIO_meth_set_write(made, write_socket);
    BIO_meth_set_ctrl(made, control_socket);
    method = made;
}

static BIO *make_bio(CHTTP2Channel *channel) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_method);
    BIO *bio = method ? BIO_new(method) : NULL;
    if (!bio) return NULL;
    BIO_set_data(bio, channel);
    BIO_set_init(bio, 1);
    return bio;
}

// MARK: - Lifecycle

static bool set_name(SSL *tls, const char *name, bool isAddress) {
    X509_VERIFY_PARAM *rules = SSL_get0_param(tls);
    if (isAddress) return X509_VERIFY_PARAM_set1_ip_asc(rules, name) == 1;
    X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return X509_VERIFY_PARAM_set1_host(rules, name, 0) == 1 &&
           SSL_set_tlsext_host_name(tls, name) == 1;
}

CHTTP2Channel *CHTTP2Channel_create(CHTTP2TLSContext *context, int32_t descriptor,
                                    const char *name, bool isAddress) {
    CHTTP2Channel *channel = calloc(1, sizeof *channel);
    if (!channel) {
        close(descriptor);
        return NULL;
    }
    channel->descriptor = descriptor;
    channel->context = context;
    channel->tls = SSL_new(context->context);
    BIO *bio = channel->tls ? make_bio(channel) : NULL;
    if (!bio || !set_name(channel->tls, name, isAddress)) {
        BIO_free(bio);
        SSL_free(channel->tls);
        channel->tls = NULL;
        ERR_clear_error();
        CHTTP2Channel_destroy(channel);
        return NULL;
    }
    // One BIO for both directions: OpenSSL takes over one reference.
    SSL_set_bio(channel->tls, bio, bio);
    SSL_set_connect_state(channel->tls);
    channel->isResuming = CHTTP2TLSContext_resume(context, channel->tls);
    return channel;
}

void CHTTP2Channel_destroy(CHTTP2Channel *channel) {
    if (channel->tls) {
        // After a failure OpenSSL must not write any more.
        if (channel->hasHandshaken && channel->failure == 0) {
            SSL_shutdown(channel->tls);
            give_gathered(channel);
        }
        SSL_free(channel->tls);
        ERR_clear_error();
    }
    close(channel->descriptor);
    free(channel);
}

int32_t CHTTP2Channel_descriptor(const CHTTP2Channel *channel) { return channel->descriptor; }

const char *CHTTP2Channel_error(const CHTTP2Channel *channel) { return channel->error; }

// MARK: - Reading and writing

static CHTTP2Progress fail(CHTTP2Channel *channel, CHTTP2Progress progress, const char *words) {
    if (channel->failure) {
        snprintf(channel->error, sizeof channel->error, "%s", strerror(channel->failure));
        ERR_clear_error();
    } else {
        CHTTP2TLS_take_error(channel->error, words);
        // The connection is no longer usable for OpenSSL either.
        channel->failure = EPROTO;
    }
    return progress;
}

static CHTTP2Progress fail_handshake(CHTTP2Channel *channel) {
    // A socket that failed says nothing about resumption.
    if (channel->isResuming && channel->failure == 0)
        CHTTP2TLSContext_did_fail_to_resume(channel->context);
    const unsigned long code = ERR_peek_error();
    if (ERR_GET_LIB(code) == ERR_LIB_SSL &&
        ERR_GET_REASON(code) == SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL) {
        return fail(channel, CHTTP2ProgressNotHTTP2, "");
    }
    const long verdict = SSL_get_verify_result(channel->tls);
    CHTTP2Progress progress =
        fail(channel, CHTTP2ProgressTLSFailed, "the peer closed the connection in the handshake");
    if (verdict != X509_V_OK) {
        snprintf(channel->error, sizeof channel->error, "the certificate was not accepted: %s",
                 X509_verify_cert_error_string(verdict));
    }
    return progress;
}

static CHTTP2Progress finish_handshake(CHTTP2Channel *channel) {
    const unsigned char *chosen;
    unsigned int length;
    SSL_get0_alpn_selected(channel->tls, &chosen, &length);
    if (length != 2 || memcmp(chosen, "h2", 2) != 0) {
        snprintf(channel->error, sizeof channel->error, "the peer did not agree to h2 in TLS");
        return CHTTP2ProgressNotHTTP2;
    }
    channel->hasHandshaken = true;
    CHTTP2TLSContext_did_connect(channel->context, channel->tls);
    return CHTTP2ProgressDone;
}

CHTTP2Progress CHTTP2Channel_handshake(CHTTP2Channel *channel) {
    if (ERR_peek_error()) ERR_clear_error();
    channel->isDrained = false;
    const int result = SSL_do_handshake(channel->tls);
    if (result == 1) return finish_handshake(channel);
    switch (SSL_get_error(channel->tls, result)) {
    case SSL_ERROR_WANT_READ: return CHTTP2ProgressWantsRead;
    case SSL_ERROR_WANT_WRITE: return CHTTP2ProgressWantsWrite;
    default: return fail_handshake(channel);
    }
}

static CHTTP2Progress fail_transfer(CHTTP2Channel *channel, int result) {
    switch (SSL_get_error(channel->tls, result)) {
    case SSL_ERROR_WANT_READ: return CHTTP2ProgressWantsRead;
    case SSL_ERROR_WANT_WRITE: return CHTTP2ProgressWantsWrite;
    case SSL_ERROR_ZERO_RETURN:
        snprintf(channel->error, sizeof channel->error, "the peer closed the connection");
        return CHTTP2ProgressClosed;
    default: return fail(channel, CHTTP2ProgressLost, "the peer closed the connection");
    }
}

CHTTP2Progress CHTTP2Channel_receive(CHTTP2Channel *channel, CHTTP2Session *session,
                                     size_t *received) {
    uint8_t record[RECORD_MAX];
    if (ERR_peek_error()) ERR_clear_error();
    channel->isDrained = false;
    for (int count = 0; count < RECORDS_PER_TURN; count++) {
        const int length = SSL_read(channel->tls, record, sizeof record);
        if (length <= 0) return fail_transfer(channel, length);
        *received += (size_t)length;
        if (!CHTTP2Session_receive(session, record, (size_t)length)) {
            snprintf(channel->error, sizeof channel->error, "the peer broke HTTP/2");
            return CHTTP2ProgressProtocolFailed;
        }
    }
    return CHTTP2ProgressMore;
}

// Encrypts all bytes that the session has to send, and buffers the records.
static CHTTP2Progress seal(CHTTP2Channel *channel, CHTTP2Session *session) {
    for (;;) {
        if (!CHTTP2Session_collect(session)) {
            snprintf(channel->error, sizeof channel->error, "the HTTP/2 session broke");
            return CHTTP2ProgressProtocolFailed;
        }
        size_t length;
        const uint8_t *bytes = CHTTP2Session_staged(session, &length);
        if (length == 0) return CHTTP2ProgressDone;
        if (length > RECORD_MAX) length = RECORD_MAX;
        CHTTP2Session_will_write(session, length);
        const int taken = SSL_write(channel->tls, bytes, (int)length);
        if (taken <= 0) return fail_transfer(channel, taken);
        CHTTP2Session_did_write(session, (size_t)taken);
    }
}

CHTTP2Progress CHTTP2Channel_send(CHTTP2Channel *channel, CHTTP2Session *session) {
    if (ERR_peek_error()) ERR_clear_error();
    // One system call for several records, because a call costs more than copying them.
    channel->isGathering = true;
    const CHTTP2Progress progress = seal(channel, session);
    channel->isGathering = false;
    if (progress >= CHTTP2ProgressTLSFailed) return progress;
    const int given = give_gathered(channel);
    if (given < 0) return fail(channel, CHTTP2ProgressLost, "");
    return progress == CHTTP2ProgressDone && given == 0 ? CHTTP2ProgressWantsWrite : progress;
}
