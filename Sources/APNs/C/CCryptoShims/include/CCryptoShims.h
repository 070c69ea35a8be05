// SPDX-License-Identifier: Apache-2.0
//
// What APNsClient needs of OpenSSL's libcrypto: reading a P-256 signing key, ES256 signatures in
// the raw form of JSON Web Signatures, and a look into client certificates.
//
// Why C: PEM and PKCS#12 reading is built on macros, and OpenSSL's error queue belongs to the
// calling thread, so it must be read and cleared within one call that nothing can suspend.

#ifndef CCRYPTOSHIMS_H
#define CCRYPTOSHIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// What is wrong with a key, a certificate or an archive.
typedef enum CCryptoFault : int32_t {
    CCryptoFaultNone = 0,
    CCryptoFaultNotPEM,          // no PEM block at all
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

/// A P-256 key, private or public. Immutable after reading, so any thread may use it; each use has
/// a context of its own.
typedef struct CCryptoKey CCryptoKey;

CCryptoKey *_Nullable CCryptoKey_read_private(const uint8_t *pem, size_t length,
                                              CCryptoFault *fault);
/// A public key in PEM (SubjectPublicKeyInfo), or the public part of a private one.
CCryptoKey *_Nullable CCryptoKey_read_public(const uint8_t *pem, size_t length,
                                             CCryptoFault *fault);
/// A new private key.
CCryptoKey *_Nullable CCryptoKey_generate(void);
void CCryptoKey_destroy(CCryptoKey *key);

/// Writes the key as PEM: PKCS#8 or SubjectPublicKeyInfo. Returns its length, 0 on failure or when
/// it does not fit.
size_t CCryptoKey_write_private(const CCryptoKey *key, uint8_t *buffer, size_t capacity);
size_t CCryptoKey_write_public(const CCryptoKey *key, uint8_t *buffer, size_t capacity);

/// Signs with ECDSA over SHA-256 and writes r and s, 32 bytes each, big-endian.
bool CCryptoKey_sign_es256(const CCryptoKey *key, const uint8_t *message, size_t length,
                           uint8_t *signature);
/// Whether `signature` (r and s, 64 bytes) is this key's over the message.
bool CCryptoKey_verify_es256(const CCryptoKey *key, const uint8_t *message, size_t length,
                             const uint8_t *signature);

/// A look into a client certificate.
typedef struct CCryptoCertificate {
    int64_t notBefore;           // seconds since the epoch
    int64_t notAfter;
    char commonName[256];        // null-terminated, empty without one
} CCryptoCertificate;

/// Reads a PEM certificate and checks that the PEM key is its own.
CCryptoFault CCryptoCertificate_read_pem(const uint8_t *certificate, size_t certificateLength,
                                         const uint8_t *key, size_t keyLength,
                                         const char *_Nullable password, CCryptoCertificate *read);
/// Reads a PKCS#12 archive and checks that it holds a certificate and its key.
CCryptoFault CCryptoCertificate_read_pkcs12(const uint8_t *archive, size_t length,
                                            const char *_Nullable password,
                                            CCryptoCertificate *read);

/// Compares in constant time.
bool CCrypto_is_equal(const uint8_t *left, const uint8_t *right, size_t length);
/// OpenSSL's version, such as "OpenSSL 3.0.15 3 Sep 2024".
const char *CCrypto_version(void);

#pragma clang assume_nonnull end

#endif
