// SPDX-License-Identifier: Apache-2.0
//
// Shims over OpenSSL's libcrypto: SHA-256 and HMAC, P-256 keys, ES256 signatures in the raw form of
// JSON Web Signatures, and certificates. Only the module OpenSSLCrypto uses them.
//
// Why C: the functions for PEM and PKCS#12 are macros, and OpenSSL's error queue belongs to the
// calling thread, so it must be read and cleared within one call that cannot be suspended.

#ifndef CCRYPTOSHIMS_H
#define CCRYPTOSHIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// The reason why a key, a certificate or an archive is refused.
typedef enum CCryptoFault : int32_t {
    CCryptoFaultNone = 0,
    CCryptoFaultNotPEM,          // no PEM block
    CCryptoFaultMangledPEM,      // a PEM block that cannot be decoded
    CCryptoFaultEncrypted,       // an encrypted private key
    CCryptoFaultCertificate,     // a certificate where a key is needed
    CCryptoFaultPublicKey,       // a public key where a private one is needed
    CCryptoFaultNotEC,           // another algorithm than elliptic curves
    CCryptoFaultWrongCurve,      // another curve than P-256
    CCryptoFaultNoKey,           // no private key where one is needed
    CCryptoFaultNoCertificate,   // no certificate where one is needed
    CCryptoFaultMismatch,        // the private key is not the certificate's
    CCryptoFaultWrongPassword,   // the password does not open it
    CCryptoFaultOutdatedCipher,  // the password is right, but this OpenSSL lacks the cipher
    CCryptoFaultOther,
} CCryptoFault;

/// A P-256 key, private or public. Immutable, so that any thread may use it: each operation creates
/// its own context.
typedef struct CCryptoKey CCryptoKey;

CCryptoKey *_Nullable CCryptoKey_read_private(const uint8_t *pem, size_t length,
                                              CCryptoFault *fault);
/// Reads a public key in PEM (SubjectPublicKeyInfo), or the public part of a private one. Returns
/// NULL on failure, with the reason in `fault`.
CCryptoKey *_Nullable CCryptoKey_read_public(const uint8_t *pem, size_t length,
                                             CCryptoFault *fault);
/// Generates a private key. Returns NULL on failure.
CCryptoKey *_Nullable CCryptoKey_generate(void);
void CCryptoKey_destroy(CCryptoKey *key);

/// Writes the key as PEM: PKCS#8 or SubjectPublicKeyInfo. Returns the length in bytes; 0 on failure
/// or if `capacity` is too small.
size_t CCryptoKey_write_private(const CCryptoKey *key, uint8_t *buffer, size_t capacity);
size_t CCryptoKey_write_public(const CCryptoKey *key, uint8_t *buffer, size_t capacity);

/// Signs with ECDSA over SHA-256. Writes r and s, 32 bytes each, big-endian. Returns false on
/// failure.
bool CCryptoKey_sign_es256(const CCryptoKey *key, const uint8_t *message, size_t length,
                           uint8_t *signature);
/// Verifies `signature` (r and s, 64 bytes) of the message.
bool CCryptoKey_verify_es256(const CCryptoKey *key, const uint8_t *message, size_t length,
                             const uint8_t *signature);

/// Converts an ECDSA signature from DER to r and s, 32 bytes each, big-endian. Returns false if the
/// bytes are not exactly one DER signature, or if a number is larger.
bool CCrypto_raw_signature(const uint8_t *der, size_t length, uint8_t *signature);

/// The validity and the subject of a client certificate.
typedef struct CCryptoCertificate {
    int64_t notBefore;           // seconds since the epoch
    int64_t notAfter;
    char commonName[256];        // null-terminated; empty if there is none
} CCryptoCertificate;

/// Reads a PEM certificate, and checks that the PEM key belongs to it.
CCryptoFault CCryptoCertificate_read_pem(const uint8_t *certificate, size_t certificateLength,
                                         const uint8_t *key, size_t keyLength,
                                         const char *_Nullable password, CCryptoCertificate *read);
/// Reads a PKCS#12 archive, and checks that it contains a certificate and its key.
CCryptoFault CCryptoCertificate_read_pkcs12(const uint8_t *archive, size_t length,
                                            const char *_Nullable password,
                                            CCryptoCertificate *read);

/// The purpose of a certificate.
typedef enum CCryptoRole : int32_t {
    CCryptoRoleAuthority,  // signs other certificates, which must not sign any themselves
    CCryptoRoleServer,
    CCryptoRoleClient,
} CCryptoRole;

/// The contents of a new certificate.
typedef struct CCryptoTemplate {
    const char *commonName;                 // UTF-8, 1 to 64 characters
    int64_t notBefore;                      // seconds since the epoch
    int64_t notAfter;
    CCryptoRole role;
    const char *_Nullable alternativeNames;  // for a server, such as "DNS:localhost,IP:127.0.0.1"
} CCryptoTemplate;

/// Creates an X.509 certificate for `key`, signed by `issuerKey`, and writes it as PEM. `issuerPEM`
/// is the certificate of the issuer; without one, the new certificate is self-signed. Returns the
/// length of the PEM text in bytes; 0 on failure or if `capacity` is too small.
size_t CCryptoCertificate_make(const CCryptoTemplate *template, const CCryptoKey *key,
                               const uint8_t *_Nullable issuerPEM, size_t issuerLength,
                               const CCryptoKey *issuerKey, uint8_t *buffer, size_t capacity);

/// Writes the SHA-256 of the bytes, 32 bytes. Returns false only if memory is exhausted.
bool CCrypto_sha256(const uint8_t *bytes, size_t length, uint8_t *digest);
/// Writes the HMAC-SHA-256 of the message, 32 bytes. Returns false only if memory is exhausted.
bool CCrypto_hmac_sha256(const uint8_t *key, size_t keyLength, const uint8_t *message,
                         size_t length, uint8_t *code);

/// Compares the bytes in constant time.
bool CCrypto_is_equal(const uint8_t *left, const uint8_t *right, size_t length);
/// Overwrites the bytes with zeros; the compiler does not optimize this away.
void CCrypto_cleanse(void *bytes, size_t length);

#pragma clang assume_nonnull end

#endif
