// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CCryptoShims.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

// CCryptoKey is EVP_PKEY under another name, so that Swift does not import OpenSSL's headers.
static EVP_PKEY *pkey(const CCryptoKey *key) { return (EVP_PKEY *)(uintptr_t)key; }

static bool contains(const uint8_t *bytes, size_t length, const char *text) {
    return memmem(bytes, length, text, strlen(text)) != NULL;
}

static bool is_p256(EVP_PKEY *key, CCryptoFault *fault) {
    if (EVP_PKEY_get_base_id(key) != EVP_PKEY_EC) {
        *fault = CCryptoFaultNotEC;
        return false;
    }
    char group[80] = "";
    size_t length = 0;
    if (EVP_PKEY_get_group_name(key, group, sizeof group, &length) != 1 ||
        strcmp(group, "prime256v1") != 0) {
        *fault = CCryptoFaultWrongCurve;
        return false;
    }
    *fault = CCryptoFaultNone;
    return true;
}

// No prompt: a command that waits for a password on an unattended terminal would never end.
static int refuse_password(char *buffer, int size, int writing, void *context) {
    (void)buffer;
    (void)size;
    (void)writing;
    (void)context;
    return -1;
}

static CCryptoFault fault_of_pem(const uint8_t *pem, size_t length) {
    if (contains(pem, length, "-----BEGIN ENCRYPTED PRIVATE KEY-----") ||
        contains(pem, length, "Proc-Type: 4,ENCRYPTED"))
        return CCryptoFaultEncrypted;
    if (contains(pem, length, "PRIVATE KEY-----")) return CCryptoFaultNone;
    if (contains(pem, length, "-----BEGIN CERTIFICATE")) return CCryptoFaultCertificate;
    if (contains(pem, length, "-----BEGIN PUBLIC KEY-----")) return CCryptoFaultPublicKey;
    if (contains(pem, length, "-----BEGIN ")) return CCryptoFaultMangledPEM;
    return CCryptoFaultNotPEM;
}

// A file with a few changed characters can decode to a private key that does not belong to its
// public key. APNs would reject its signatures without an apparent reason.
static bool is_consistent(EVP_PKEY *key) {
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    bool isConsistent = context && EVP_PKEY_check(context) == 1;
    EVP_PKEY_CTX_free(context);
    ERR_clear_error();
    return isConsistent;
}

static CCryptoKey *accept_p256(EVP_PKEY *key, CCryptoFault *fault) {
    ERR_clear_error();
    if (!key) {
        *fault = CCryptoFaultMangledPEM;
        return NULL;
    }
    if (!is_p256(key, fault)) {
        EVP_PKEY_free(key);
        ERR_clear_error();
        return NULL;
    }
    return (CCryptoKey *)key;
}

CCryptoKey *CCryptoKey_read_private(const uint8_t *pem, size_t length, CCryptoFault *fault) {
    *fault = length > INT32_MAX ? CCryptoFaultOther : fault_of_pem(pem, length);
    if (*fault != CCryptoFaultNone) return NULL;
    ERR_clear_error();
    BIO *bio = BIO_new_mem_buf(pem, (int)length);
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, refuse_password, NULL) : NULL;
    BIO_free(bio);
    CCryptoKey *accepted = accept_p256(key, fault);
    if (accepted && !is_consistent((EVP_PKEY *)accepted)) {
        *fault = CCryptoFaultMangledPEM;
        CCryptoKey_destroy(accepted);
        return NULL;
    }
    return accepted;
}

CCryptoKey *CCryptoKey_read_public(const uint8_t *pem, size_t length, CCryptoFault *fault) {
    if (length <= INT32_MAX && contains(pem, length, "-----BEGIN PUBLIC KEY-----")) {
        ERR_clear_error();
        BIO *bio = BIO_new_mem_buf(pem, (int)length);
        EVP_PKEY *key = bio ? PEM_read_bio_PUBKEY(bio, NULL, refuse_password, NULL) : NULL;
        BIO_free(bio);
        return accept_p256(key, fault);
    }
    return CCryptoKey_read_private(pem, length, fault);
}

CCryptoKey *CCryptoKey_generate(void) {
    EVP_PKEY *key = EVP_EC_gen("P-256");
    ERR_clear_error();
    return (CCryptoKey *)key;
}

void CCryptoKey_destroy(CCryptoKey *key) { EVP_PKEY_free((EVP_PKEY *)key); }

static size_t take_memory(BIO *bio, bool isWritten, uint8_t *buffer, size_t capacity) {
    size_t copied = 0;
    char *bytes = NULL;
    long length = bio ? BIO_get_mem_data(bio, &bytes) : 0;
    if (isWritten && length > 0 && (size_t)length <= capacity) {
        memcpy(buffer, bytes, (size_t)length);
        copied = (size_t)length;
    }
    BIO_free(bio);
    ERR_clear_error();
    return copied;
}

size_t CCryptoKey_write_private(const CCryptoKey *key, uint8_t *buffer, size_t capacity) {
    BIO *bio = BIO_new(BIO_s_mem());
    bool isWritten =
        bio && PEM_write_bio_PKCS8PrivateKey(bio, pkey(key), NULL, NULL, 0, NULL, NULL) == 1;
    return take_memory(bio, isWritten, buffer, capacity);
}

size_t CCryptoKey_write_public(const CCryptoKey *key, uint8_t *buffer, size_t capacity) {
    BIO *bio = BIO_new(BIO_s_mem());
    bool isWritten = bio && PEM_write_bio_PUBKEY(bio, pkey(key)) == 1;
    return take_memory(bio, isWritten, buffer, capacity);
}

bool CCrypto_raw_signature(const uint8_t *der, size_t length, uint8_t *signature) {
    if (length > INT32_MAX) return false;
    ERR_clear_error();
    const uint8_t *cursor = der;
    ECDSA_SIG *pair = d2i_ECDSA_SIG(NULL, &cursor, (long)length);
    bool isConverted = pair && cursor == der + length &&
                       BN_bn2binpad(ECDSA_SIG_get0_r(pair), signature, 32) == 32 &&
                       BN_bn2binpad(ECDSA_SIG_get0_s(pair), signature + 32, 32) == 32;
    ECDSA_SIG_free(pair);
    ERR_clear_error();
    return isConverted;
}

bool CCryptoKey_sign_es256(const CCryptoKey *key, const uint8_t *message, size_t length,
                           uint8_t *signature) {
    ERR_clear_error();
    uint8_t der[128];
    size_t derLength = sizeof der;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool isSigned = context &&
                    EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, pkey(key)) == 1 &&
                    EVP_DigestSign(context, der, &derLength, message, length) == 1;
    EVP_MD_CTX_free(context);
    ERR_clear_error();
    // OpenSSL encodes signatures in DER; JSON Web Signatures use two fixed-width integers.
    return isSigned && CCrypto_raw_signature(der, derLength, signature);
}

bool CCryptoKey_verify_es256(const CCryptoKey *key, const uint8_t *message, size_t length,
                             const uint8_t *signature) {
    ERR_clear_error();
    bool isValid = false;
    uint8_t *der = NULL;
    int derLength = 0;
    ECDSA_SIG *pair = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(signature, 32, NULL);
    BIGNUM *s = BN_bin2bn(signature + 32, 32, NULL);
    if (pair && r && s && ECDSA_SIG_set0(pair, r, s) == 1) {
        r = s = NULL;  // the signature owns them now
        derLength = i2d_ECDSA_SIG(pair, &der);
    }
    BN_free(r);
    BN_free(s);
    ECDSA_SIG_free(pair);
    if (derLength > 0) {
        EVP_MD_CTX *context = EVP_MD_CTX_new();
        isValid = context &&
                  EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, pkey(key)) == 1 &&
                  EVP_DigestVerify(context, der, (size_t)derLength, message, length) == 1;
        EVP_MD_CTX_free(context);
    }
    OPENSSL_free(der);
    ERR_clear_error();
    return isValid;
}

// MARK: - Certificates

static int64_t seconds_of(const ASN1_TIME *time) {
    struct tm parts;
    if (!time || ASN1_TIME_to_tm(time, &parts) != 1) return 0;
    return (int64_t)timegm(&parts);
}

static CCryptoFault read_pair(X509 *certificate, EVP_PKEY *key, CCryptoCertificate *read) {
    if (!certificate) return CCryptoFaultNoCertificate;
    if (!key) return CCryptoFaultNoKey;
    if (X509_check_private_key(certificate, key) != 1) return CCryptoFaultMismatch;
    memset(read, 0, sizeof *read);
    read->notBefore = seconds_of(X509_get0_notBefore(certificate));
    read->notAfter = seconds_of(X509_get0_notAfter(certificate));
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName,
                              read->commonName, sizeof read->commonName);
    return CCryptoFaultNone;
}

static int give_password(char *buffer, int size, int writing, void *context) {
    (void)writing;
    const char *password = context;
    if (!password) return -1;
    size_t length = strlen(password);
    if (length > (size_t)size) return -1;
    memcpy(buffer, password, length);
    return (int)length;
}

CCryptoFault CCryptoCertificate_read_pem(const uint8_t *certificate, size_t certificateLength,
                                         const uint8_t *key, size_t keyLength,
                                         const char *password, CCryptoCertificate *read) {
    if (certificateLength > INT32_MAX || keyLength > INT32_MAX) return CCryptoFaultOther;
    ERR_clear_error();
    BIO *certificateBIO = BIO_new_mem_buf(certificate, (int)certificateLength);
    BIO *keyBIO = BIO_new_mem_buf(key, (int)keyLength);
    X509 *x509 =
        certificateBIO ? PEM_read_bio_X509(certificateBIO, NULL, refuse_password, NULL) : NULL;
    EVP_PKEY *privateKey =
        keyBIO ? PEM_read_bio_PrivateKey(keyBIO, NULL, give_password, (void *)(uintptr_t)password)
               : NULL;
    CCryptoFault fault = read_pair(x509, privateKey, read);
    if (fault == CCryptoFaultNoKey && fault_of_pem(key, keyLength) == CCryptoFaultEncrypted)
        fault = password ? CCryptoFaultWrongPassword : CCryptoFaultEncrypted;
    X509_free(x509);
    EVP_PKEY_free(privateKey);
    BIO_free(certificateBIO);
    BIO_free(keyBIO);
    ERR_clear_error();
    return fault;
}

// Checks the password by the archive's MAC, which needs no cipher.
static bool is_password_of(PKCS12 *archive, const char *password) {
    if (PKCS12_mac_present(archive) != 1) return false;
    if (PKCS12_verify_mac(archive, password, password ? -1 : 0) == 1) return true;
    // An absent password is encoded in two ways.
    return !password && PKCS12_verify_mac(archive, "", 0) == 1;
}

CCryptoFault CCryptoCertificate_read_pkcs12(const uint8_t *archive, size_t length,
                                            const char *password, CCryptoCertificate *read) {
    ERR_clear_error();
    const uint8_t *cursor = archive;
    PKCS12 *pkcs12 = length <= INT32_MAX ? d2i_PKCS12(NULL, &cursor, (long)length) : NULL;
    if (!pkcs12) {
        ERR_clear_error();
        return CCryptoFaultOther;
    }
    CCryptoFault fault;
    X509 *x509 = NULL;
    EVP_PKEY *key = NULL;
    if (PKCS12_parse(pkcs12, password, &key, &x509, NULL) == 1)
        fault = key ? read_pair(x509, key, read) : CCryptoFaultNoKey;
    else if (is_password_of(pkcs12, password))
        fault = CCryptoFaultOutdatedCipher;
    else
        fault = password ? CCryptoFaultWrongPassword : CCryptoFaultEncrypted;
    X509_free(x509);
    EVP_PKEY_free(key);
    PKCS12_free(pkcs12);
    ERR_clear_error();
    return fault;
}
