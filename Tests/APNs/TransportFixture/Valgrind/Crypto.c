// SPDX-License-Identifier: Apache-2.0
//
// Keys, signatures, digests and certificates, again and again, with another allocation of OpenSSL
// failing each time: nothing may be lost, and nothing that failed may be taken for a success.

#include "CCryptoShims.h"
#include "Checks.h"

#include <openssl/crypto.h>
#include <string.h>

enum { NOT_BEFORE = 1795000000, NOT_AFTER = 1795086400, PEM_SIZE = 4096 };

// OpenSSL's own allocations; those of this file never fail.
static void *scarce_allocate(size_t size, const char *file, int line) {
    (void)file;
    (void)line;
    return scarceCountdown >= 0 && scarceCountdown-- == 0 ? NULL : malloc(size);
}

static void *scarce_reallocate(void *block, size_t size, const char *file, int line) {
    (void)file;
    (void)line;
    return scarceCountdown >= 0 && scarceCountdown-- == 0 ? NULL : realloc(block, size);
}

static void release(void *block, const char *file, int line) {
    (void)file;
    (void)line;
    free(block);
}

void use_scarce_memory(void) {
    CHECK(CRYPTO_set_mem_functions(scarce_allocate, scarce_reallocate, release) == 1,
          "OpenSSL has begun to allocate");
}

static size_t make(const char *name, CCryptoRole role, const char *names, const CCryptoKey *key,
                   const uint8_t *issuer, size_t issuerLength, const CCryptoKey *issuerKey,
                   uint8_t *pem) {
    const CCryptoTemplate template = {.commonName = name,
                                      .notBefore = NOT_BEFORE,
                                      .notAfter = NOT_AFTER,
                                      .role = role,
                                      .alternativeNames = names};
    return CCryptoCertificate_make(&template, key, issuer, issuerLength, issuerKey, pem, PEM_SIZE);
}

// Whether all of it could be done.
static bool certify(void) {
    bool isDone = false;
    CCryptoKey *authorityKey = CCryptoKey_generate(), *key = CCryptoKey_generate();
    uint8_t *authority = malloc(PEM_SIZE), *server = malloc(PEM_SIZE), *client = malloc(PEM_SIZE);
    if (authorityKey && key) {
        const size_t length =
            make("CA", CCryptoRoleAuthority, NULL, authorityKey, NULL, 0, authorityKey, authority);
        uint8_t *issuer = lend(authority, length);
        const size_t serverLength =
            length == 0 ? 0
                        : make("A server", CCryptoRoleServer, "DNS:localhost,IP:127.0.0.1", key,
                               issuer, length, authorityKey, server);
        const size_t clientLength = length == 0 ? 0
                                                : make("A client", CCryptoRoleClient, NULL, key,
                                                       issuer, length, authorityKey, client);
        free(issuer);
        uint8_t *pem = malloc(PEM_SIZE);
        const size_t keyLength = CCryptoKey_write_private(key, pem, PEM_SIZE);
        CCryptoCertificate read;
        isDone = serverLength > 0 && clientLength > 0 && keyLength > 0 &&
                 CCryptoCertificate_read_pem(client, clientLength, pem, keyLength, NULL, &read) ==
                     CCryptoFaultNone;
        if (isDone)
            CHECK(strcmp(read.commonName, "A client") == 0 && read.notBefore == NOT_BEFORE,
                  "it says %s", read.commonName);
        free(pem);
    }
    free(authority);
    free(server);
    free(client);
    if (authorityKey) CCryptoKey_destroy(authorityKey);
    if (key) CCryptoKey_destroy(key);
    return isDone;
}

// Whether a copy of a key, read from its PEM text, signs what the copy's public half verifies.
static bool sign(const CCryptoKey *key) {
    uint8_t *pem = malloc(PEM_SIZE), *message = lend_text(100, 1);
    uint8_t *digest = malloc(32), *code = malloc(32), *signature = malloc(64);
    CCryptoFault fault;
    const size_t privateLength = CCryptoKey_write_private(key, pem, PEM_SIZE);
    uint8_t *text = lend(pem, privateLength);
    CCryptoKey *copy = CCryptoKey_read_private(text, privateLength, &fault);
    free(text);
    const size_t publicLength = CCryptoKey_write_public(key, pem, PEM_SIZE);
    text = lend(pem, publicLength);
    CCryptoKey *half = CCryptoKey_read_public(text, publicLength, &fault);
    free(text);
    const bool isDone = copy && half && CCrypto_sha256(message, 100, digest) &&
                        CCrypto_hmac_sha256(digest, 32, message, 100, code) &&
                        CCryptoKey_sign_es256(copy, message, 100, signature) &&
                        CCryptoKey_verify_es256(half, message, 100, signature);
    if (isDone) CHECK(!CCryptoKey_verify_es256(half, message, 99, signature), "another message");
    if (copy) CCryptoKey_destroy(copy);
    if (half) CCryptoKey_destroy(half);
    free(pem);
    free(message);
    free(digest);
    free(code);
    free(signature);
    return isDone;
}

static void check_signatures_in_der(void) {
    uint8_t signature[64];
    const uint8_t der[] = {0x30, 7, 2, 2, 0, 0x80, 2, 1, 5};
    for (size_t length = 0; length <= sizeof der; length++) {
        uint8_t *lent = lend(der, length);
        CHECK(CCrypto_raw_signature(lent, length, signature) == (length == sizeof der),
              "%zu bytes", length);
        free(lent);
    }
    CHECK(signature[31] == 0x80 && signature[63] == 5 && signature[0] == 0, "misplaced");
}

static bool sign_and_certify(void) {
    CCryptoKey *key = CCryptoKey_generate();
    if (!key) return false;
    const bool isDone = sign(key) && certify();
    CCryptoKey_destroy(key);
    return isDone;
}

static void check_archive(const Place *place) {
    uint8_t bytes[16384];
    FILE *file = fopen(place->archive, "rb");
    CHECK(file, "%s", place->archive);
    const size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    CCryptoCertificate read;
    uint8_t *archive = lend(bytes, length);
    CHECK(CCryptoCertificate_read_pkcs12(archive, length, "password", &read) == CCryptoFaultNone,
          "the archive");
    CHECK(CCryptoCertificate_read_pkcs12(archive, length, "other", &read) ==
              CCryptoFaultWrongPassword,
          "another password");
    CHECK(CCryptoCertificate_read_pkcs12(archive, length / 2, "password", &read) ==
              CCryptoFaultOther,
          "half of it");
    free(archive);
}

void check_crypto(const Place *place) {
    // What OpenSSL makes once and keeps is made here.
    CHECK(sign_and_certify(), "nothing fails yet");
    check_signatures_in_der();
    check_archive(place);
    long failed = 0;
    // Ever larger steps: there are some ten thousand allocations, and the first ones differ most.
    for (long step = 0;; step += 1 + step / 16) {
        scarceCountdown = step;
        const bool isDone = sign_and_certify();
        const bool hasFailed = scarceCountdown < 0;
        scarceCountdown = -1;
        if (!hasFailed) {
            CHECK(isDone, "nothing failed");
            break;
        }
        failed++;
    }
    CHECK(failed > 50, "only %ld allocations were made to fail", failed);
    printf("crypto: %ld allocations of OpenSSL failed, one at a time\n", failed);
}
