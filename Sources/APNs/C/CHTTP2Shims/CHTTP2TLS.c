// SPDX-License-Identifier: Apache-2.0

#include "CHTTP2TLS.h"

#include <nghttp2/nghttp2.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// nghttp2 1.41 has all functions used here; Debian 12 has OpenSSL 3.0.
_Static_assert(NGHTTP2_VERSION_NUM >= 0x012900, "libnghttp2 1.41 or later is needed to build");
_Static_assert(OPENSSL_VERSION_NUMBER >= 0x30000000L, "OpenSSL 3.0 or later is needed to build");

// A TLS record has up to 16 KiB; one call reads four of them.
enum { READ_BUFFER_BYTES = 65536 };

CHTTP2Version CHTTP2_load(void) {
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
    const nghttp2_info *info = nghttp2_version(0);
    return (CHTTP2Version){
        .nghttp2Number = info->version_num,
        .nghttp2 = info->version_str,
        .opensslNumber = OpenSSL_version_num(),
        .openssl = OpenSSL_version(OPENSSL_VERSION_STRING),
    };
}

void CHTTP2TLS_take_error(char *words, const char *fallback) {
    const unsigned long code = ERR_get_error();
    const char *reason = code ? ERR_reason_error_string(code) : NULL;
    snprintf(words, CHTTP2_ERROR_MAX, "%s", reason ? reason : fallback);
    ERR_clear_error();
}

// MARK: - Certificate authorities

// Never prompts: an encrypted key without a password is an error.
static int give_password(char *buffer, int size, int isForWriting, void *context) {
    (void)isForWriting;
    const char *password = context;
    if (!password) return -1;
    const size_t length = strlen(password);
    if (length > (size_t)size) return -1;
    memcpy(buffer, password, length);
    return (int)length;
}

static bool trust_pem(SSL_CTX *context, const uint8_t *pem, size_t length) {
    BIO *source = BIO_new_mem_buf(pem, (int)length);
    if (!source) return false;
    X509_STORE *store = SSL_CTX_get_cert_store(context);
    size_t count = 0;
    X509 *authority;
    while ((authority = PEM_read_bio_X509(source, NULL, give_password, NULL))) {
        if (X509_STORE_add_cert(store, authority)) count++;
        X509_free(authority);
    }
    BIO_free(source);
    // OpenSSL reports the end of the text as an error.
    if (count > 0) ERR_clear_error();
    return count > 0;
}

static bool set_trust(SSL_CTX *context, const CHTTP2TLSSettings *settings, char *error) {
    if (settings->authorityFile) {
        if (SSL_CTX_load_verify_file(context, settings->authorityFile)) return true;
        CHTTP2TLS_take_error(error, "the file of authorities cannot be read");
        return false;
    }
    if (settings->authorityPEM) {
        if (trust_pem(context, settings->authorityPEM, settings->authorityPEMLength)) return true;
        CHTTP2TLS_take_error(error, "the PEM text holds no certificate");
        return false;
    }
    if (SSL_CTX_set_default_verify_paths(context)) return true;
    CHTTP2TLS_take_error(error, "the system's authorities cannot be read");
    return false;
}

// MARK: - The client's certificate

static bool use_chain(SSL_CTX *context, BIO *source, void *password) {
    X509 *leaf = PEM_read_bio_X509_AUX(source, NULL, give_password, password);
    if (!leaf) return false;
    bool isUsed = SSL_CTX_use_certificate(context, leaf) == 1;
    X509_free(leaf);
    X509 *next;
    while (isUsed && (next = PEM_read_bio_X509(source, NULL, give_password, password))) {
        // Takes ownership on success.
        if (SSL_CTX_add0_chain_cert(context, next) != 1) {
            X509_free(next);
            isUsed = false;
        }
    }
    if (isUsed) ERR_clear_error();
    return isUsed;
}

static bool use_pem(SSL_CTX *context, const CHTTP2TLSSettings *settings) {
    void *password = (void *)settings->password;
    BIO *chain = BIO_new_mem_buf(settings->certificate, (int)settings->certificateLength);
    BIO *locked = BIO_new_mem_buf(settings->key, (int)settings->keyLength);
    bool isUsed = chain && locked && use_chain(context, chain, password);
    if (isUsed) {
        EVP_PKEY *key = PEM_read_bio_PrivateKey(locked, NULL, give_password, password);
        isUsed = key && SSL_CTX_use_PrivateKey(context, key) == 1;
        EVP_PKEY_free(key);
    }
    BIO_free(chain);
    BIO_free(locked);
    return isUsed;
}

static bool use_pkcs12(SSL_CTX *context, const CHTTP2TLSSettings *settings) {
    const unsigned char *bytes = settings->certificate;
    PKCS12 *archive = d2i_PKCS12(NULL, &bytes, (long)settings->certificateLength);
    if (!archive) return false;
    EVP_PKEY *key = NULL;
    X509 *leaf = NULL;
    STACK_OF(X509) *chain = NULL;
    const char *password = settings->password ? settings->password : "";
    bool isUsed = PKCS12_parse(archive, password, &key, &leaf, &chain) == 1 && key && leaf &&
                  SSL_CTX_use_certificate(context, leaf) == 1 &&
                  SSL_CTX_use_PrivateKey(context, key) == 1;
    // Copies the references.
    if (isUsed && chain) isUsed = SSL_CTX_set1_chain(context, chain) == 1;
    PKCS12_free(archive);
    EVP_PKEY_free(key);
    X509_free(leaf);
    sk_X509_pop_free(chain, X509_free);
    return isUsed;
}

static bool set_certificate(SSL_CTX *context, const CHTTP2TLSSettings *settings, char *error) {
    if (!settings->certificate) return true;
    bool isUsed = settings->certificateIsPKCS12 ? use_pkcs12(context, settings)
                                                : use_pem(context, settings);
    if (isUsed && SSL_CTX_check_private_key(context) == 1) return true;
    char words[CHTTP2_ERROR_MAX];
    CHTTP2TLS_take_error(words, "it holds no certificate with its key");
    snprintf(error, CHTTP2_ERROR_MAX, "the client certificate cannot be used: %.200s", words);
    return false;
}

// MARK: - Resumption

// A resumed session stands for a certificate that was verified before, and each connection gives
// sessions for the next. So that a server is verified again all the same, none is resumed later
// than this after the last verification.
enum { RESUMPTION_MILLISECONDS = 3600 * 1000 };

// Takes the session over.
static int keep_session(SSL *tls, SSL_SESSION *session) {
    CHTTP2TLSContext *context = SSL_CTX_get_app_data(SSL_get_SSL_CTX(tls));
    SSL_SESSION_free(context->session);
    context->session = session;
    return 1;
}

bool CHTTP2TLSContext_resume(CHTTP2TLSContext *context, SSL *tls) {
    SSL_SESSION *session = context->session;
    if (!session || context->neverResumes ||
        CHTTP2_monotonic_milliseconds() - context->verifiedAt >= RESUMPTION_MILLISECONDS ||
        !SSL_SESSION_is_resumable(session))
        return false;
    const bool isSet = SSL_set_session(tls, session) == 1;
    // Each is used once (RFC 8446 §C.4), so that two connections cannot be linked by it.
    SSL_SESSION_free(session);
    context->session = NULL;
    return isSet;
}

void CHTTP2TLSContext_did_connect(CHTTP2TLSContext *context, SSL *tls) {
    if (!SSL_session_reused(tls)) context->verifiedAt = CHTTP2_monotonic_milliseconds();
}

void CHTTP2TLSContext_did_fail_to_resume(CHTTP2TLSContext *context) {
    context->neverResumes = true;
}

// MARK: - The context

static bool set_rules(SSL_CTX *context) {
    static const unsigned char h2[] = {2, 'h', '2'};
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_session_cache_mode(context,
                                   SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, keep_session);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_default_read_buffer_len(context, READ_BUFFER_BYTES);
    // This function returns 0 on success.
    return SSL_CTX_set_alpn_protos(context, h2, sizeof h2) == 0 &&
           SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1;
}

CHTTP2TLSContext *CHTTP2TLSContext_create(const CHTTP2TLSSettings *settings, char *error) {
    ERR_clear_error();
    CHTTP2TLSContext *made = calloc(1, sizeof *made);
    SSL_CTX *context = made ? SSL_CTX_new(TLS_client_method()) : NULL;
    if (!context || !set_rules(context)) {
        CHTTP2TLS_take_error(error, "OpenSSL gives no TLS 1.2");
    } else if (set_trust(context, settings, error) && set_certificate(context, settings, error)) {
        made->context = context;
        // A server on OpenSSL that verifies clients and lacks a session id context ends a handshake
        // that would resume a session.
        made->neverResumes = settings->certificate != NULL;
        SSL_CTX_set_app_data(context, made);
        return made;
    }
    SSL_CTX_free(context);
    free(made);
    return NULL;
}

void CHTTP2TLSContext_destroy(CHTTP2TLSContext *context) {
    SSL_SESSION_free(context->session);
    SSL_CTX_free(context->context);
    free(context);
}
