// SPDX-License-Identifier: Apache-2.0

#include "Checks.h"

#include <string.h>

uint8_t *lend(const void *bytes, size_t length) {
    uint8_t *copy = malloc(length);
    CHECK(copy || length == 0, "no memory");
    if (length > 0) memcpy(copy, bytes, length);
    return copy;
}

uint8_t *lend_text(size_t length, uint32_t seed) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    uint8_t *text = malloc(length);
    CHECK(text || length == 0, "no memory");
    for (size_t index = 0; index < length; index++) {
        seed = seed * 1664525 + 1013904223;
        text[index] = (uint8_t)letters[seed >> 26];
    }
    return text;
}

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length) {
    for (size_t index = 0; index < length; index++) {
        hash = (hash ^ ((const uint8_t *)bytes)[index]) * 0x100000001b3;
    }
    return hash;
}

uint64_t hash_field(uint64_t hash, const void *name, size_t nameLength, const void *value,
                    size_t valueLength) {
    hash = hash_bytes(hash_bytes(hash, name, nameLength), "", 1);
    return hash_bytes(hash_bytes(hash, value, valueLength), "", 1);
}
