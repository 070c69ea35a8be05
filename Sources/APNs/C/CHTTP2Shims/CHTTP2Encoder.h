// SPDX-License-Identifier: Apache-2.0
//
// HPACK encoding (RFC 7541) as APNs recommends it (facts §1.4): `:path` and `authorization` are
// literals that are not indexed; `apns-id`, `apns-expiration` and `apns-collapse-id` are added to
// the table once, for their names, and are literals without indexing afterwards; all other fields
// are indexed.
//
// Why not nghttp2's encoder: it Huffman-codes a provider token of 200 bytes for each push, which
// takes two thirds of the time of a push. Here fields that pushes share are encoded once per
// connection and copied. nghttp2 decodes all received header blocks.

#ifndef CHTTP2ENCODER_H
#define CHTTP2ENCODER_H

#include "CHTTP2Shims.h"

// The table size of RFC 9113 §6.5.2 before any SETTINGS; a larger one is never used.
enum { TABLE_CAPACITY = 4096, ENTRIES_MAX = TABLE_CAPACITY / 32 };

// A header block that is being encoded. An overflow sets a flag, and nothing is written.
typedef struct Head {
    size_t length;
    bool isOverflown;
    uint8_t bytes[CHTTP2_HEAD_MAX];
} Head;

typedef struct Encoder Encoder;

Encoder *Encoder_create(void);
void Encoder_destroy(Encoder *encoder);
// Sets the peer's SETTINGS_HEADER_TABLE_SIZE. nghttp2 announces the change: its own encoder uses
// the same size, with an empty table.
void Encoder_set_capacity(Encoder *encoder, size_t capacity);
void Encoder_append_block(Encoder *encoder, Head *head, const CHTTP2HeaderBlock *block);
void Encoder_append_path(Head *head, const uint8_t *path, size_t length);
void Encoder_append_field(Encoder *encoder, Head *head, const uint8_t *name, size_t nameLength,
                          const uint8_t *value, size_t valueLength);

#endif
