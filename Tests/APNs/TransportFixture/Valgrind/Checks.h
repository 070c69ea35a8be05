// SPDX-License-Identifier: Apache-2.0
//
// What the parts of this program share. It drives the C targets from C alone, for valgrind, which
// crashes under a Swift program (3.19, Debian 12's); Tests/APNs/TransportFixture/valgrind.sh runs it.
//
// Whatever a shim is only lent is handed to it in an allocation of exactly its size, and freed as
// soon as the call returns: what reads past the end, or later, is seen.

#ifndef CHECKS_H
#define CHECKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// Ends the program with the words if the condition does not hold.
#define CHECK(condition, ...)                                               \
    do {                                                                    \
        if (condition) break;                                               \
        fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);     \
        fprintf(stderr, __VA_ARGS__);                                       \
        fputc('\n', stderr);                                                \
        exit(EXIT_FAILURE);                                                 \
    } while (0)

// A copy of exactly that size, for the caller to free.
uint8_t *lend(const void *bytes, size_t length);
// A text of so many letters that differs with `seed`, without a zero at its end.
uint8_t *lend_text(size_t length, uint32_t seed);

// A hash (FNV-1a) that begins with HASH_START.
static const uint64_t HASH_START = 0xcbf29ce484222325;
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length);
// Of a header field: its name, a zero, its value, a zero.
uint64_t hash_field(uint64_t hash, const void *name, size_t nameLength, const void *value,
                    size_t valueLength);

// Where nghttpd is, and what openssl made for the run: paths of PEM and PKCS#12 files.
typedef struct Place {
    uint16_t port;
    uint16_t otherPort;     // a server with the same certificate that speaks HTTP/1.1 alone
    const char *authority;  // the server's certificate signs itself
    const char *stranger;   // a certificate that nobody here signed
    const char *key;
    const char *lockedKey;  // password "password"
    const char *archive;    // the certificate and its key, the same password
} Place;

// The shims' allocation after so many others fails, all others do not. Negative for none.
extern long scarceCountdown;

// Makes OpenSSL's allocations count, too; before its first.
void use_scarce_memory(void);

void check_sessions(void);
void check_failures(void);
void check_crypto(const Place *place);
void check_connections(const Place *place);
void check_channels(const Place *place);
void check_curl(const Place *place);

#endif
