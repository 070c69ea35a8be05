// SPDX-License-Identifier: Apache-2.0

#include "CCryptoShims.h"

#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <string.h>

// The length of a serial number, in bits: more than the 64 random bits that the CA/Browser Forum
// requires, and short enough to be positive in the 20 bytes of RFC 5280 §4.1.2.2.
enum { serialBits = 127 };

static EVP_PKEY *pkey(const CCryptoKey *key) { return (EVP_PKEY *)(uintptr_t)key; }

static X509 *read_certificate(const uint8_t *pem, size_t length) {
    if (length > INT32_MAX) return NULL;
    BIO *bio = BIO_new_mem_buf(pem, (int)length);
    X509 *certificate = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
    BIO_free(bio);
    return certificate;
}

static bool set_serial(X509 *certificate) {
    BIGNUM *number = BN_new();
    bool isSet = number &&
                 BN_rand(number, serialBits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
                 BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != NULL;
    BN_free(number);
    return isSet;
}

static bool set_subject(X509 *certificate, const char *commonName) {
    X509_NAME *name = X509_get_subject_name(certificate);
    return X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8,
                                      (const unsigned char *)commonName, -1, -1, 0) == 1;
}

static bool add_extension(X509 *certificate, X509V3_CTX *context, int kind, const char *value) {
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, context, kind, value);
    bool isAdded = extension && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return isAdded;
}

// Adds the extensions that RFC 5280 §4.2 requires for each role. The subject key identifier is
// first, because the authority key identifier of a self-signed certificate is copied from it.
static bool add_extensions(X509 *certificate, X509 *issuer, const CCryptoTemplate *template) {
    X509V3_CTX context;
    memset(&context, 0, sizeof context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    if (!add_extension(certificate, &context, NID_subject_key_identifier, "hash") ||
        !add_extension(certificate, &context, NID_authority_key_identifier, "keyid:always"))
        return false;
    switch (template->role) {
        case CCryptoRoleAuthority:
            return add_extension(certificate, &context, NID_basic_constraints,
                                 "critical,CA:TRUE,pathlen:0") &&
                   add_extension(certificate, &context, NID_key_usage,
                                 "critical,keyCertSign,cRLSign");
        case CCryptoRoleServer:
            return add_extension(certificate, &context, NID_basic_constraints,
                                 "critical,CA:FALSE") &&
                   add_extension(certificate, &context, NID_key_usage,
                                 "critical,digitalSignature") &&
                   add_extension(certificate, &context, NID_ext_key_usage, "serverAuth") &&
                   add_extension(certificate, &context, NID_subject_alt_name,
                                 template->alternativeNames);
        case CCryptoRoleClient:
            return add_extension(certificate, &context, NID_basic_constraints,
                                 "critical,CA:FALSE") &&
                   add_extension(certificate, &context, NID_key_usage,
                                 "critical,digitalSignature") &&
                   add_extension(certificate, &context, NID_ext_key_usage, "clientAuth");
    }
    return false;
}

static bool fill(X509 *certificate, X509 *issuer, const CCryptoTemplate *template,
                 const CCryptoKey *key, const CCryptoKey *issuerKey) {
    return X509_set_version(certificate, X509_VERSION_3) == 1 && set_serial(certificate) &&
           ASN1_TIME_set(X509_getm_notBefore(certificate), (time_t)template->notBefore) &&
           ASN1_TIME_set(X509_getm_notAfter(certificate), (time_t)template->notAfter) &&
           set_subject(certificate, template->commonName) &&
           X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1 &&
           X509_set_pubkey(certificate, pkey(key)) == 1 &&
           add_extensions(certificate, issuer, template) &&
           X509_sign(certificate, pkey(issuerKey), EVP_sha256()) > 0;
}

static size_t write_certificate(X509 *certificate, uint8_t *buffer, size_t capacity) {
    size_t copied = 0;
    BIO *bio = BIO_new(BIO_s_mem());
    if (bio && PEM_write_bio_X509(bio, certificate) == 1) {
        char *bytes = NULL;
        const long length = BIO_get_mem_data(bio, &bytes);
        if (length > 0 && (size_t)length <= capacity) {
            memcpy(buffer, bytes, (size_t)length);
            copied = (size_t)length;
        }
    }
    BIO_free(bio);
    return copied;
}

size_t CCryptoCertificate_make(const CCryptoTemplate *template, const CCryptoKey *key,
                               const uint8_t *issuerPEM, size_t issuerLength,
                               const CCryptoKey *issuerKey, uint8_t *buffer, size_t capacity) {
    ERR_clear_error();
    size_t length = 0;
    X509 *certificate = X509_new();
    X509 *issuer = issuerPEM ? read_certificate(issuerPEM, issuerLength) : certificate;
    if (certificate && issuer && fill(certificate, issuer, template, key, issuerKey))
        length = write_certificate(certificate, buffer, capacity);
    if (issuer != certificate) X509_free(issuer);
    X509_free(certificate);
    ERR_clear_error();
    return length;
}
