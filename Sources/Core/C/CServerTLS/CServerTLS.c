// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CServerTLS.h"

#include <limits.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

_Static_assert(OPENSSL_VERSION_NUMBER >= 0x30000000L, "OpenSSL 3.0 or later is needed to build");

enum {
    WORDS_MAX = 160,
    // An output buffer that is larger is not kept for the next output.
    KEPT_OUTPUT_BYTES = 8192,
    // As many messages of TLS itself may come and go between bytes of the application: a handshake
    // takes about ten. OpenSSL sets no limit to updates of keys, each of which costs more than it
    // costs the client.
    MESSAGES_MAX = 64,
};

struct CServerTLSContext {
    SSL_CTX *context;
    BIO_METHOD *memory;
    bool requiresALPN;
    unsigned int protocolsLength;
    unsigned char protocols[256];
};

struct CServerTLS {
    SSL *ssl;
    const CServerTLSContext *context;
    const uint8_t *input;
    size_t inputLength;
    uint8_t *output;
    size_t outputLength;
    size_t outputCapacity;
    int messages;
    bool isClosed;
    CServerTLSFailure failure;
    char words[WORDS_MAX];
};

// MARK: - The bytes of a connection as a BIO

static int read_input(BIO *bio, char *buffer, int capacity) {
    CServerTLS *tls = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (capacity <= 0) return 0;
    // Without the flag for a retry it is an error.
    if (tls->messages > MESSAGES_MAX) return -1;
    if (tls->inputLength == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    const size_t count = tls->inputLength < (size_t)capacity ? tls->inputLength : (size_t)capacity;
    memcpy(buffer, tls->input, count);
    tls->input += count;
    tls->inputLength -= count;
    return (int)count;
}

static int write_output(BIO *bio, const char *bytes, int length) {
    CServerTLS *tls = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (length <= 0) return 0;
    const size_t needed = tls->outputLength + (size_t)length;
    if (needed > tls->outputCapacity) {
        const size_t doubled = tls->outputCapacity * 2;
        const size_t capacity = needed > doubled ? needed : doubled;
        uint8_t *larger = realloc(tls->output, capacity);
        if (!larger) return -1;
        tls->output = larger;
        tls->outputCapacity = capacity;
    }
    memcpy(tls->output + tls->outputLength, bytes, (size_t)length);
    tls->outputLength = needed;
    return length;
}

static long control(BIO *bio, int command, long number, void *pointer) {
    (void)bio;
    (void)number;
    (void)pointer;
    // OpenSSL flushes after each flight of a handshake. It asks for nothing else that matters here.
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

// MARK: - The context

// Never prompts: an encrypted key is an error.
static int give_no_password(char *buffer, int size, int isForWriting, void *context) {
    (void)buffer;
    (void)size;
    (void)isForWriting;
    (void)context;
    return -1;
}

// Whether the last certificate was missing because the text ended, and not because it is damaged.
static bool is_at_end(void) {
    return ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
}

static CServerTLSFault use_chain(SSL_CTX *context, BIO *source) {
    X509 *leaf = PEM_read_bio_X509_AUX(source, NULL, give_no_password, NULL);
    if (!leaf) return CServerTLSFaultNoCertificate;
    bool isUsed = SSL_CTX_use_certificate(context, leaf) == 1;
    X509_free(leaf);
    ERR_clear_error();
    X509 *next;
    while (isUsed && (next = PEM_read_bio_X509(source, NULL, give_no_password, NULL))) {
        // Takes ownership on success.
        if (SSL_CTX_add0_chain_cert(context, next) != 1) {
            X509_free(next);
            isUsed = false;
        }
    }
    if (!isUsed) return CServerTLSFaultWeak;
    return is_at_end() ? CServerTLSFaultNone : CServerTLSFaultNoCertificate;
}

static bool trust(SSL_CTX *context, BIO *source) {
    X509_STORE *store = SSL_CTX_get_cert_store(context);
    size_t count = 0;
    X509 *authority;
    ERR_clear_error();
    while ((authority = PEM_read_bio_X509(source, NULL, give_no_password, NULL))) {
        if (X509_STORE_add_cert(store, authority)) count++;
        X509_free(authority);
    }
    return count > 0 && is_at_end();
}

static BIO *text(const uint8_t *bytes, size_t length) {
    return length > INT_MAX ? NULL : BIO_new_mem_buf(bytes, (int)length);
}

static CServerTLSFault use_certificate(SSL_CTX *context, const CServerTLSSettings *settings) {
    BIO *chain = text(settings->certificate, settings->certificateLength);
    const CServerTLSFault fault = chain ? use_chain(context, chain) : CServerTLSFaultNoCertificate;
    BIO_free(chain);
    if (fault != CServerTLSFaultNone) return fault;
    BIO *source = text(settings->key, settings->keyLength);
    EVP_PKEY *key = source ? PEM_read_bio_PrivateKey(source, NULL, give_no_password, NULL) : NULL;
    BIO_free(source);
    if (!key) return CServerTLSFaultNoKey;
    // It refuses a key that is not the certificate's, too.
    const bool isKeyUsed = SSL_CTX_use_PrivateKey(context, key) == 1;
    EVP_PKEY_free(key);
    return isKeyUsed && SSL_CTX_check_private_key(context) == 1 ? CServerTLSFaultNone
                                                                : CServerTLSFaultMismatch;
}

static CServerTLSFault use_authorities(SSL_CTX *context, const CServerTLSSettings *settings) {
    if (!settings->authorities) return CServerTLSFaultNone;
    BIO *source = text(settings->authorities, settings->authoritiesLength);
    const bool isTrusted = source && trust(context, source);
    BIO_free(source);
    if (!isTrusted) return CServerTLSFaultNoAuthority;
    // A client may do without a certificate; one that it shows has to be valid.
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    return CServerTLSFaultNone;
}

// MARK: - ALPN

static int select_protocol(SSL *ssl, const unsigned char **out, unsigned char *outLength,
                           const unsigned char *offered, unsigned int offeredLength,
                           void *argument) {
    const CServerTLSContext *context = argument;
    unsigned char *selected = NULL;
    if (SSL_select_next_proto(&selected, outLength, context->protocols, context->protocolsLength,
                              offered, offeredLength) == OPENSSL_NPN_NEGOTIATED) {
        *out = selected;
        return SSL_TLSEXT_ERR_OK;
    }
    CServerTLS *tls = SSL_get_app_data(ssl);
    tls->failure = CServerTLSFailureNoSharedProtocol;
    // The alert no_application_protocol (RFC 7301 §3.2).
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

static int see_hello(SSL *ssl, int *alert, void *argument) {
    const CServerTLSContext *context = argument;
    const unsigned char *offered;
    size_t length;
    if (!context->requiresALPN ||
        SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_application_layer_protocol_negotiation,
                                  &offered, &length))
        return SSL_CLIENT_HELLO_SUCCESS;
    CServerTLS *tls = SSL_get_app_data(ssl);
    tls->failure = CServerTLSFailureNoProtocol;
    *alert = SSL_AD_NO_APPLICATION_PROTOCOL;
    return SSL_CLIENT_HELLO_ERROR;
}

static void count_message(int isSent, int version, int type, const void *bytes, size_t length,
                          SSL *ssl, void *argument) {
    (void)isSent;
    (void)version;
    (void)bytes;
    (void)length;
    (void)argument;
    CServerTLS *tls = SSL_get_app_data(ssl);
    if (tls && (type == SSL3_RT_HANDSHAKE || type == SSL3_RT_ALERT)) tls->messages++;
}

static bool set_rules(CServerTLSContext *made) {
    static const unsigned char sessions[] = "rouse";
    SSL_CTX *context = made->context;
    SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    // An idle connection keeps no buffers.
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    // Sessions are resumed by tickets only; nothing is kept here.
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_alpn_select_cb(context, select_protocol, made);
    SSL_CTX_set_client_hello_cb(context, see_hello, made);
    SSL_CTX_set_msg_callback(context, count_message);
    // The system's configuration may require more.
    const bool isNewEnough = SSL_CTX_get_min_proto_version(context) >= TLS1_2_VERSION ||
                             SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1;
    // Without one, a client with a certificate that resumes a session would be refused.
    return isNewEnough &&
           SSL_CTX_set_session_id_context(context, sessions, sizeof sessions - 1) == 1;
}

static bool set_memory(CServerTLSContext *made) {
    made->memory = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "connection");
    return made->memory && BIO_meth_set_read(made->memory, read_input) &&
           BIO_meth_set_write(made->memory, write_output) &&
           BIO_meth_set_ctrl(made->memory, control);
}

static bool set_protocols(CServerTLSContext *made, const CServerTLSSettings *settings) {
    if (settings->protocolsLength < 2 || settings->protocolsLength > sizeof made->protocols)
        return false;
    memcpy(made->protocols, settings->protocols, settings->protocolsLength);
    made->protocolsLength = (unsigned int)settings->protocolsLength;
    made->requiresALPN = settings->requiresALPN;
    return true;
}

CServerTLSContext *CServerTLSContext_create(const CServerTLSSettings *settings,
                                            CServerTLSFault *fault) {
    *fault = CServerTLSFaultOther;
    OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL);
    ERR_clear_error();
    CServerTLSContext *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->context = SSL_CTX_new(TLS_server_method());
    if (made->context && set_protocols(made, settings) && set_memory(made) && set_rules(made)) {
        *fault = use_certificate(made->context, settings);
        if (*fault == CServerTLSFaultNone) *fault = use_authorities(made->context, settings);
    }
    ERR_clear_error();
    if (*fault == CServerTLSFaultNone) return made;
    CServerTLSContext_destroy(made);
    return NULL;
}

void CServerTLSContext_destroy(CServerTLSContext *context) {
    SSL_CTX_free(context->context);
    BIO_meth_free(context->memory);
    free(context);
}

// MARK: - A connection

CServerTLS *CServerTLS_create(const CServerTLSContext *context) {
    CServerTLS *tls = calloc(1, sizeof *tls);
    if (!tls) return NULL;
    tls->context = context;
    tls->ssl = SSL_new(context->context);
    BIO *bio = tls->ssl ? BIO_new(context->memory) : NULL;
    if (!bio) {
        CServerTLS_destroy(tls);
        ERR_clear_error();
        return NULL;
    }
    BIO_set_data(bio, tls);
    BIO_set_init(bio, 1);
    // Takes ownership of the BIO.
    SSL_set_bio(tls->ssl, bio, bio);
    SSL_set_app_data(tls->ssl, tls);
    SSL_set_accept_state(tls->ssl);
    return tls;
}

void CServerTLS_destroy(CServerTLS *tls) {
    SSL_free(tls->ssl);
    free(tls->output);
    free(tls);
}

void CServerTLS_set_input(CServerTLS *tls, const uint8_t *bytes, size_t length) {
    tls->input = bytes;
    tls->inputLength = length;
}

void CServerTLS_clear_input(CServerTLS *tls) { CServerTLS_set_input(tls, NULL, 0); }

static CServerTLSStep step(CServerTLS *tls, int result) {
    switch (SSL_get_error(tls->ssl, result)) {
    case SSL_ERROR_NONE: return CServerTLSStepDone;
    case SSL_ERROR_WANT_READ: return CServerTLSStepNeedsInput;
    case SSL_ERROR_ZERO_RETURN: return CServerTLSStepClosed;
    default: break;
    }
    const unsigned long code = ERR_peek_error();
    const char *reason = code ? ERR_reason_error_string(code) : NULL;
    snprintf(tls->words, sizeof tls->words, "%s", reason ? reason : "");
    ERR_clear_error();
    // After a fatal error close_notify must not be sent.
    tls->isClosed = true;
    return CServerTLSStepFailed;
}

CServerTLSStep CServerTLS_handshake(CServerTLS *tls) {
    ERR_clear_error();
    return step(tls, SSL_do_handshake(tls->ssl));
}

CServerTLSStep CServerTLS_read(CServerTLS *tls, uint8_t *buffer, size_t capacity, size_t *count) {
    ERR_clear_error();
    const int room = capacity > INT_MAX ? INT_MAX : (int)capacity;
    const int result = SSL_read(tls->ssl, buffer, room);
    *count = result > 0 ? (size_t)result : 0;
    if (result > 0) tls->messages = 0;
    return step(tls, result);
}

bool CServerTLS_write(CServerTLS *tls, const uint8_t *bytes, size_t length) {
    if (tls->isClosed) return false;
    ERR_clear_error();
    while (length > 0) {
        const int result = SSL_write(tls->ssl, bytes, length > INT_MAX ? INT_MAX : (int)length);
        // The output takes everything, and renegotiation is off: nothing here waits for input.
        if (result <= 0) {
            step(tls, result);
            return false;
        }
        bytes += result;
        length -= (size_t)result;
    }
    return true;
}

void CServerTLS_close(CServerTLS *tls) {
    if (tls->isClosed) return;
    tls->isClosed = true;
    ERR_clear_error();
    SSL_shutdown(tls->ssl);
    ERR_clear_error();
}

const uint8_t *CServerTLS_output(const CServerTLS *tls, size_t *length) {
    *length = tls->outputLength;
    return tls->output;
}

void CServerTLS_clear_output(CServerTLS *tls) {
    tls->outputLength = 0;
    if (tls->outputCapacity <= KEPT_OUTPUT_BYTES) return;
    free(tls->output);
    tls->output = NULL;
    tls->outputCapacity = 0;
}

CServerTLSFailure CServerTLS_failure(const CServerTLS *tls) { return tls->failure; }

const char *CServerTLS_failure_words(const CServerTLS *tls) { return tls->words; }

const uint8_t *CServerTLS_protocol(const CServerTLS *tls, size_t *length) {
    const unsigned char *name = NULL;
    unsigned int count = 0;
    SSL_get0_alpn_selected(tls->ssl, &name, &count);
    *length = count;
    return name;
}

bool CServerTLS_client_valid_until(const CServerTLS *tls, int64_t *seconds) {
    X509 *certificate = SSL_get0_peer_certificate(tls->ssl);
    struct tm until;
    if (!certificate || !ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &until)) return false;
    *seconds = timegm(&until);
    return true;
}
