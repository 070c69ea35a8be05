// SPDX-License-Identifier: Apache-2.0
//
// What Rouse needs of OpenSSL's libcrypto: SHA-256 and HMAC, P-256 keys, ES256 signatures in the
// raw form of JSON Web Signatures, and certificates. The module OpenSSLCrypto is its one user.
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

/// Converts an ECDSA signature from DER to r and s, 32 bytes each, big-endian. False for what is
/// not DER to its last byte, or holds larger numbers.
bool CCrypto_raw_signature(const uint8_t *der, size_t length, uint8_t *signature);

/// The validity and the subject of a client certificate.
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

/// What a certificate is for.
typedef enum CCryptoRole : int32_t {
    CCryptoRoleAuthority,  // it signs other certificates, and those sign none
    CCryptoRoleServer,
    CCryptoRoleClient,
} CCryptoRole;

/// What a new certificate says.
typedef struct CCryptoTemplate {
    const char *commonName;                 // UTF-8, 1 to 64 characters
    int64_t notBefore;                      // seconds since the epoch
    int64_t notAfter;
    CCryptoRole role;
    const char *_Nullable alternativeNames;  // of a server, as in "DNS:localhost,IP:127.0.0.1"
} CCryptoTemplate;

/// Makes an X.509 certificate for `key`, signed by `issuerKey`, and writes it as PEM. `issuerPEM`
/// is the issuer's certificate; without one, the new certificate is its own issuer. Returns the
/// length of the PEM text, 0 on failure or when it does not fit.
size_t CCryptoCertificate_make(const CCryptoTemplate *template, const CCryptoKey *key,
                               const uint8_t *_Nullable issuerPEM, size_t issuerLength,
                               const CCryptoKey *issuerKey, uint8_t *buffer, size_t capacity);

/// Writes the SHA-256 of the bytes, 32 bytes. False only when there is no memory.
bool CCrypto_sha256(const uint8_t *bytes, size_t length, uint8_t *digest);
/// Writes the HMAC-SHA-256 of the message, 32 bytes. False only when there is no memory.
bool CCrypto_hmac_sha256(const uint8_t *key, size_t keyLength, const uint8_t *message,
                         size_t length, uint8_t *code);

/// Compares in constant time.
bool CCrypto_is_equal(const uint8_t *left, const uint8_t *right, size_t length);
/// Overwrites the bytes, also where the compiler sees that they are not read again.
void CCrypto_cleanse(void *bytes, size_t length);

#pragma clang assume_nonnull end

#endif
