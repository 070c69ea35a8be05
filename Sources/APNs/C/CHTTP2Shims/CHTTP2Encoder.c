// SPDX-License-Identifier: Apache-2.0

#include "CHTTP2Encoder.h"

#include <nghttp2/nghttp2.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef enum Policy { POLICY_INDEXED, POLICY_ONCE, POLICY_NEVER } Policy;

typedef struct Field {
    const uint8_t *name;
    size_t nameLength;
    const uint8_t *value;
    size_t valueLength;
    // The value as a string literal (RFC 7541 §5.2), Huffman-coded if that is shorter; NULL to
    // encode it without Huffman coding when it is written.
    const uint8_t *literal;
    size_t literalLength;
} Field;

// MARK: - Shared fields

struct CHTTP2HeaderBlock {
    uint64_t serial;  // unique, so that a cache needs no other key
    size_t count;
    size_t longest;
    Field *fields;  // each field has one allocation, which starts with its name
};

// The maximum overhead of a literal: a prefix and two lengths of up to four bytes.
enum { LITERAL_OVERHEAD = 12 };

CHTTP2HeaderBlock *CHTTP2HeaderBlock_create(void) {
    static _Atomic uint64_t serials;
    CHTTP2HeaderBlock *block = calloc(1, sizeof *block);
    if (block) block->serial = atomic_fetch_add_explicit(&serials, 1, memory_order_relaxed) + 1;
    return block;
}

void CHTTP2HeaderBlock_destroy(CHTTP2HeaderBlock *block) {
    for (size_t index = 0; index < block->count; index++) {
        Field *field = &block->fields[index];
        // One of them may be a provider token.
        explicit_bzero((void *)field->value, field->valueLength + field->literalLength);
        free((void *)field->name);
    }
    free(block->fields);
    free(block);
}

// Encodes a value with nghttp2: its encoder turns a field named `a` into 0x10 0x01 'a' and the
// literal of the value. Returns the length of the literal; 0 if there is none.
static size_t code_value(const uint8_t *value, size_t length, uint8_t *out, size_t capacity) {
    nghttp2_hd_deflater *deflater;
    if (nghttp2_hd_deflate_new(&deflater, TABLE_CAPACITY) != 0) return 0;
    uint8_t name[] = {'a'};
    nghttp2_nv pair = {name, (uint8_t *)value, 1, length, NGHTTP2_NV_FLAG_NO_INDEX};
    uint8_t *coded = malloc(capacity + 3);
    size_t literal = 0;
    if (coded) {
        ssize_t total = nghttp2_hd_deflate_hd(deflater, coded, capacity + 3, &pair, 1);
        if (total > 3 && coded[0] == 0x10 && coded[1] == 0x01 && coded[2] == 'a') {
            literal = (size_t)total - 3;
            memcpy(out, coded + 3, literal);
        }
        explicit_bzero(coded, capacity + 3);
        free(coded);
    }
    nghttp2_hd_deflate_del(deflater);
    return literal;
}

bool CHTTP2HeaderBlock_append(CHTTP2HeaderBlock *block, const uint8_t *name, size_t nameLength,
                              const uint8_t *value, size_t valueLength) {
    if (nameLength > CHTTP2_HEAD_MAX || valueLength > CHTTP2_HEAD_MAX) return false;
    Field *fields = realloc(block->fields, (block->count + 1) * sizeof *fields);
    if (!fields) return false;
    block->fields = fields;
    size_t capacity = valueLength + LITERAL_OVERHEAD;
    uint8_t *bytes = malloc(nameLength + valueLength + capacity);
    if (!bytes) return false;
    memcpy(bytes, name, nameLength);
    memcpy(bytes + nameLength, value, valueLength);
    uint8_t *literal = bytes + nameLength + valueLength;
    size_t literalLength = code_value(value, valueLength, literal, capacity);
    fields[block->count++] =
        (Field){bytes, nameLength, bytes + nameLength, valueLength,
                literalLength ? literal : NULL, literalLength};
    block->longest += nameLength + valueLength + LITERAL_OVERHEAD;
    return true;
}

size_t CHTTP2HeaderBlock_longest(const CHTTP2HeaderBlock *block) { return block->longest; }

// MARK: - The dynamic table

typedef struct Entry {
    uint8_t *bytes;  // the name, then the value
    size_t nameLength;
    size_t valueLength;
} Entry;

// The encoding of a block on this connection, once all its fields are indexed. Valid until an entry
// is added to or evicted from the table.
typedef struct CachedBlock {
    uint64_t serial;
    uint64_t epoch;
    size_t length;
    uint8_t bytes[488];
} CachedBlock;

enum { CACHED_BLOCKS = 64, ONCE_NAMES = 3 };

struct Encoder {
    size_t capacity;
    size_t size;
    uint64_t inserted;  // entries added so far; also the number of the newest one
    uint64_t evicted;   // entries evicted so far; the oldest one has the next number
    uint64_t epoch;
    uint64_t onceEntry[ONCE_NAMES];  // the entry for each of those names
    Entry entries[ENTRIES_MAX];
    CachedBlock cache[CACHED_BLOCKS];
};

Encoder *Encoder_create(void) {
    Encoder *encoder = calloc(1, sizeof *encoder);
    if (encoder) encoder->capacity = TABLE_CAPACITY;
    return encoder;
}

static Entry *entry_numbered(Encoder *encoder, uint64_t number) {
    return &encoder->entries[number % ENTRIES_MAX];
}

static void evict_to(Encoder *encoder, size_t size) {
    while (encoder->size > size && encoder->evicted < encoder->inserted) {
        Entry *oldest = entry_numbered(encoder, ++encoder->evicted);
        encoder->size -= oldest->nameLength + oldest->valueLength + 32;
        free(oldest->bytes);
        oldest->bytes = NULL;
        encoder->epoch++;
    }
}

void Encoder_destroy(Encoder *encoder) {
    evict_to(encoder, 0);
    explicit_bzero(encoder->cache, sizeof encoder->cache);
    free(encoder);
}

void Encoder_set_capacity(Encoder *encoder, size_t capacity) {
    encoder->capacity = capacity < TABLE_CAPACITY ? capacity : TABLE_CAPACITY;
    evict_to(encoder, encoder->capacity);
}

// Adds a field to the table. Returns its number; 0 if memory is exhausted: then the table differs
// from the peer's, and the header block must not be used.
static uint64_t insert(Encoder *encoder, const Field *field) {
    size_t size = field->nameLength + field->valueLength + 32;
    evict_to(encoder, encoder->capacity - size);
    uint8_t *bytes = malloc(field->nameLength + field->valueLength);
    if (!bytes) return 0;
    memcpy(bytes, field->name, field->nameLength);
    memcpy(bytes + field->nameLength, field->value, field->valueLength);
    *entry_numbered(encoder, ++encoder->inserted) =
        (Entry){bytes, field->nameLength, field->valueLength};
    encoder->size += size;
    encoder->epoch++;
    return encoder->inserted;
}

// The static table has 61 entries; the newest dynamic entry follows (RFC 7541 §2.3.3).
static uint64_t index_of(const Encoder *encoder, uint64_t number) {
    return 62 + encoder->inserted - number;
}

static bool equals(const uint8_t *bytes, size_t length, const char *text) {
    return length == strlen(text) && memcmp(bytes, text, length) == 0;
}

// Returns the index of a field with its value; 0 if no table has it.
static uint64_t find_field(Encoder *encoder, const Field *field) {
    if (equals(field->name, field->nameLength, ":method")) {
        if (equals(field->value, field->valueLength, "POST")) return 3;
        if (equals(field->value, field->valueLength, "GET")) return 2;
    }
    if (equals(field->name, field->nameLength, ":scheme") &&
        equals(field->value, field->valueLength, "https"))
        return 7;
    for (uint64_t number = encoder->inserted; number > encoder->evicted; number--) {
        const Entry *entry = entry_numbered(encoder, number);
        if (entry->nameLength == field->nameLength && entry->valueLength == field->valueLength &&
            memcmp(entry->bytes, field->name, field->nameLength) == 0 &&
            memcmp(entry->bytes + entry->nameLength, field->value, field->valueLength) == 0)
            return index_of(encoder, number);
    }
    return 0;
}

// Returns the index of a name; 0 if no table has it. Of the static table, only the names that
// requests to APNs use are searched.
static uint64_t find_name(Encoder *encoder, const Field *field) {
    static const struct {
        const char *name;
        uint64_t index;
    } names[] = {
        {":authority", 1}, {":method", 2}, {"authorization", 23}, {"user-agent", 58}};
    for (size_t place = 0; place < sizeof names / sizeof *names; place++) {
        if (equals(field->name, field->nameLength, names[place].name)) return names[place].index;
    }
    for (uint64_t number = encoder->inserted; number > encoder->evicted; number--) {
        const Entry *entry = entry_numbered(encoder, number);
        if (entry->nameLength == field->nameLength &&
            memcmp(entry->bytes, field->name, field->nameLength) == 0)
            return index_of(encoder, number);
    }
    return 0;
}

// MARK: - Writing

static uint8_t *room(Head *head, size_t length) {
    if (length > CHTTP2_HEAD_MAX - head->length) {
        head->isOverflown = true;
        return NULL;
    }
    uint8_t *place = head->bytes + head->length;
    head->length += length;
    return place;
}

static void put(Head *head, const uint8_t *bytes, size_t length) {
    uint8_t *place = room(head, length);
    if (place && length) memcpy(place, bytes, length);
}

// Writes an integer with a prefix of `bits` bits, the other bits being `flags` (RFC 7541 §5.1).
static void put_integer(Head *head, uint8_t flags, int bits, uint64_t value) {
    uint8_t bytes[11];
    size_t length = 0;
    const uint64_t limit = (1u << bits) - 1;
    if (value < limit) {
        bytes[length++] = (uint8_t)(flags | value);
    } else {
        bytes[length++] = (uint8_t)(flags | limit);
        for (value -= limit; value >= 128; value >>= 7) bytes[length++] = (uint8_t)(value | 128);
        bytes[length++] = (uint8_t)value;
    }
    put(head, bytes, length);
}

static void put_string(Head *head, const uint8_t *bytes, size_t length) {
    put_integer(head, 0, 7, length);
    put(head, bytes, length);
}

// Writes a literal (RFC 7541 §6.2) with these flags and a prefix of `bits` bits for the index of
// the name.
static void put_literal(Head *head, uint8_t flags, int bits, uint64_t name, const Field *field) {
    put_integer(head, flags, bits, name);
    if (name == 0) put_string(head, field->name, field->nameLength);
    if (field->literal) {
        put(head, field->literal, field->literalLength);
    } else {
        put_string(head, field->value, field->valueLength);
    }
}

// A field that would evict a large part of the table is not indexed.
static bool is_worth_indexing(const Encoder *encoder, const Field *field) {
    return field->nameLength + field->valueLength + 32 <= encoder->capacity / 4 * 3;
}

static uint64_t put_incremental(Encoder *encoder, Head *head, const Field *field) {
    put_literal(head, 0x40, 6, find_name(encoder, field), field);
    uint64_t number = insert(encoder, field);
    if (number == 0) head->isOverflown = true;
    return number;
}

static void put_indexed(Encoder *encoder, Head *head, const Field *field) {
    uint64_t index = find_field(encoder, field);
    if (index) {
        put_integer(head, 0x80, 7, index);
    } else if (is_worth_indexing(encoder, field)) {
        put_incremental(encoder, head, field);
    } else {
        put_literal(head, 0x00, 4, find_name(encoder, field), field);
    }
}

static int once_place(const uint8_t *name, size_t length) {
    if (equals(name, length, "apns-id")) return 0;
    if (equals(name, length, "apns-expiration")) return 1;
    if (equals(name, length, "apns-collapse-id")) return 2;
    return -1;
}

static void put_once(Encoder *encoder, Head *head, const Field *field, int place) {
    uint64_t number = encoder->onceEntry[place];
    if (number > encoder->evicted) {
        put_literal(head, 0x00, 4, index_of(encoder, number), field);
    } else if (is_worth_indexing(encoder, field)) {
        encoder->onceEntry[place] = put_incremental(encoder, head, field);
    } else {
        put_literal(head, 0x00, 4, 0, field);
    }
}

static void put_field(Encoder *encoder, Head *head, const Field *field) {
    int place = once_place(field->name, field->nameLength);
    if (place >= 0) {
        put_once(encoder, head, field, place);
    } else if (equals(field->name, field->nameLength, "authorization")) {
        put_literal(head, 0x10, 4, find_name(encoder, field), field);
    } else {
        put_indexed(encoder, head, field);
    }
}

void Encoder_append_path(Head *head, const uint8_t *path, size_t length) {
    // A literal without indexing, with name 4 of the static table.
    put_integer(head, 0x00, 4, 4);
    put_string(head, path, length);
}

void Encoder_append_field(Encoder *encoder, Head *head, const uint8_t *name, size_t nameLength,
                          const uint8_t *value, size_t valueLength) {
    const Field field = {name, nameLength, value, valueLength, NULL, 0};
    put_field(encoder, head, &field);
}

void Encoder_append_block(Encoder *encoder, Head *head, const CHTTP2HeaderBlock *block) {
    CachedBlock *cached = &encoder->cache[block->serial % CACHED_BLOCKS];
    if (cached->serial == block->serial && cached->epoch == encoder->epoch) {
        put(head, cached->bytes, cached->length);
        return;
    }
    const size_t start = head->length;
    const uint64_t epoch = encoder->epoch;
    for (size_t index = 0; index < block->count; index++) {
        put_field(encoder, head, &block->fields[index]);
    }
    // An encoding that added entries to the table must not be repeated.
    const size_t length = head->length - start;
    if (head->isOverflown || epoch != encoder->epoch || length > sizeof cached->bytes) return;
    cached->serial = block->serial;
    cached->epoch = epoch;
    cached->length = length;
    memcpy(cached->bytes, head->bytes + start, length);
}
