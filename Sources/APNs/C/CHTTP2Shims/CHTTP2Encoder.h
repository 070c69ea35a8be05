// SPDX-License-Identifier: Apache-2.0
//
// HPACK encoding (RFC 7541) as APNs asks for it (facts §1.4): `:path` and `authorization` are
// literals that no table keeps; `apns-id`, `apns-expiration` and `apns-collapse-id` enter the table
// once, for their names, and are literals without indexing from then on; all else is indexed.
//
// Why not nghttp2's encoder: it Huffman-codes a provider token of 200 bytes anew for each push,
// which is two thirds of what a push costs with it. Here what pushes share is coded once for each
// connection and copied. nghttp2 still decodes everything that comes in.

#ifndef CHTTP2ENCODER_H
#define CHTTP2ENCODER_H

#include "CHTTP2Shims.h"

// The table that RFC 9113 §6.5.2 grants before any SETTINGS; a larger one is never used.
enum { TABLE_CAPACITY = 4096, ENTRIES_MAX = TABLE_CAPACITY / 32 };

// A header block on its way. An overflow is remembered instead of written.
typedef struct Head {
    size_t length;
    bool isOverflown;
    uint8_t bytes[CHTTP2_HEAD_MAX];
} Head;

typedef struct Encoder Encoder;

Encoder *Encoder_create(void);
void Encoder_destroy(Encoder *encoder);
// The peer's SETTINGS_HEADER_TABLE_SIZE. The change itself is announced by nghttp2, whose own
// encoder follows the same rule with an empty table.
void Encoder_set_capacity(Encoder *encoder, size_t capacity);
void Encoder_append_block(Encoder *encoder, Head *head, const CHTTP2HeaderBlock *block);
void Encoder_append_path(Head *head, const uint8_t *path, size_t length);
void Encoder_append_field(Encoder *encoder, Head *head, const uint8_t *name, size_t nameLength,
                          const uint8_t *value, size_t valueLength);

#endif
