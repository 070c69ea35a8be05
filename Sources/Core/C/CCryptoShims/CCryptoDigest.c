// SPDX-License-Identifier: Apache-2.0

#include "CCryptoShims.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

bool CCrypto_sha256(const uint8_t *bytes, size_t length, uint8_t *digest) {
    ERR_clear_error();
    bool isDone = EVP_Digest(bytes, length, digest, NULL, EVP_sha256(), NULL) == 1;
    ERR_clear_error();
    return isDone;
}

bool CCrypto_hmac_sha256(const uint8_t *key, size_t keyLength, const uint8_t *message,
                         size_t length, uint8_t *code) {
    if (keyLength > INT32_MAX) return false;
    ERR_clear_error();
    bool isDone = HMAC(EVP_sha256(), key, (int)keyLength, message, length, code, NULL) != NULL;
    ERR_clear_error();
    return isDone;
}

bool CCrypto_is_equal(const uint8_t *left, const uint8_t *right, size_t length) {
    return CRYPTO_memcmp(left, right, length) == 0;
}

void CCrypto_cleanse(void *bytes, size_t length) { OPENSSL_cleanse(bytes, length); }
