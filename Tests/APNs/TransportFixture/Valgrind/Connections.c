// SPDX-License-Identifier: Apache-2.0
//
// The server's side of TLS with OpenSSL's own client, in memory: a handshake with a client's
// certificate, bytes both ways, the end. Then again and again with another allocation failing each
// time, and with bytes that are no TLS.

#include "CServerTLS.h"
#include "Checks.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>

enum { TEXT_LENGTH = 100000, CHUNK = 1000, PEM_MAX = 8192 };

static uint8_t *read_file(const char *path, size_t *length) {
    uint8_t buffer[PEM_MAX];
    FILE *file = fopen(path, "rb");
    CHECK(file, "%s", path);
    *length = fread(buffer, 1, sizeof buffer, file);
    fclose(file);
    return lend(buffer, *length);
}

static CServerTLSContext *make_context(const Place *place, const char *keyPath,
                                       CServerTLSFault *fault) {
    static const uint8_t h2[] = {2, 'h', '2'};
    CServerTLSSettings settings = {
        .protocols = h2, .protocolsLength = sizeof h2, .requiresALPN = true};
    uint8_t *certificate = read_file(place->stranger, &settings.certificateLength);
    uint8_t *key = read_file(keyPath, &settings.keyLength);
    settings.certificate = certificate;
    settings.key = key;
    settings.authorities = certificate;
    settings.authoritiesLength = settings.certificateLength;
    CServerTLSContext *context = CServerTLSContext_create(&settings, fault);
    free(certificate);
    free(key);
    return context;
}

static SSL *make_client(const Place *place, SSL_CTX *context) {
    static const unsigned char h2[] = {2, 'h', '2'};
    CHECK(SSL_CTX_use_certificate_file(context, place->stranger, SSL_FILETYPE_PEM) == 1 &&
              SSL_CTX_use_PrivateKey_file(context, place->key, SSL_FILETYPE_PEM) == 1,
          "the client's certificate");
    SSL *client = SSL_new(context);
    BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
    CHECK(client && in && out && SSL_set_alpn_protos(client, h2, sizeof h2) == 0, "the client");
    SSL_set_bio(client, in, out);
    SSL_set_connect_state(client);
    return client;
}

// A connection and what came through it.
typedef struct Pair {
    CServerTLS *server;
    SSL *client;
    uint8_t *up, *down;
    size_t upCount, downCount;
    bool isOpen, isClosed, isFailed;
} Pair;

// Gives the server a chunk, in an allocation that ends with the call.
static void give_server(Pair *pair, const uint8_t *bytes, size_t length) {
    uint8_t *lent = lend(bytes, length);
    CServerTLS_set_input(pair->server, lent, length);
    CServerTLSStep step = CServerTLSStepDone;
    if (!pair->isOpen) {
        step = CServerTLS_handshake(pair->server);
        pair->isOpen = step == CServerTLSStepDone;
    }
    while (step == CServerTLSStepDone) {
        size_t count = 0;
        step = CServerTLS_read(pair->server, pair->up + pair->upCount,
                               TEXT_LENGTH + CHUNK - pair->upCount, &count);
        pair->upCount += count;
    }
    pair->isClosed = pair->isClosed || step == CServerTLSStepClosed;
    pair->isFailed = pair->isFailed || step == CServerTLSStepFailed;
    CServerTLS_clear_input(pair->server);
    free(lent);
}

// Moves bytes until neither has any, or the connection failed.
static void carry(Pair *pair) {
    bool isMoving = true;
    while (isMoving && !pair->isFailed) {
        isMoving = false;
        uint8_t chunk[CHUNK];
        int count;
        SSL_do_handshake(pair->client);
        while (!pair->isFailed &&
               (count = BIO_read(SSL_get_wbio(pair->client), chunk, sizeof chunk)) > 0) {
            give_server(pair, chunk, (size_t)count);
            isMoving = true;
        }
        size_t length;
        const uint8_t *output = CServerTLS_output(pair->server, &length);
        if (length > 0) {
            if (BIO_write(SSL_get_rbio(pair->client), output, (int)length) != (int)length) {
                pair->isFailed = true;
            }
            CServerTLS_clear_output(pair->server);
            isMoving = true;
        }
        while ((count = SSL_read(pair->client, pair->down + pair->downCount,
                                 TEXT_LENGTH + CHUNK - (int)pair->downCount)) > 0) {
            pair->downCount += (size_t)count;
        }
    }
    ERR_clear_error();
}

// Whether all of it could be done.
static bool converse(const CServerTLSContext *context, SSL *client, long countdown) {
    uint8_t *text = lend_text(TEXT_LENGTH, 7);
    Pair pair = {.client = client,
                 .up = malloc(TEXT_LENGTH + CHUNK),
                 .down = malloc(TEXT_LENGTH + CHUNK)};
    CHECK(pair.up && pair.down, "no memory");
    scarceCountdown = countdown;
    pair.server = CServerTLS_create(context);
    bool isDone = false;
    if (pair.server) {
        carry(&pair);
        const bool isSent = !pair.isFailed && SSL_write(client, text, TEXT_LENGTH) == TEXT_LENGTH &&
                            CServerTLS_write(pair.server, text, TEXT_LENGTH);
        carry(&pair);
        int64_t validUntil = 0;
        size_t length = 0;
        isDone = isSent && pair.upCount == TEXT_LENGTH && pair.downCount == TEXT_LENGTH &&
                 CServerTLS_protocol(pair.server, &length) && length == 2 &&
                 CServerTLS_client_valid_until(pair.server, &validUntil) && validUntil > 0;
        CHECK(memcmp(pair.up, text, pair.upCount) == 0, "what the server read");
        CHECK(memcmp(pair.down, text, pair.downCount) == 0, "what the client read");
        SSL_shutdown(client);
        carry(&pair);
        CServerTLS_close(pair.server);
        carry(&pair);
        isDone = isDone && pair.isClosed;
        CServerTLS_destroy(pair.server);
    }
    scarceCountdown = -1;
    ERR_clear_error();
    free(pair.up);
    free(pair.down);
    free(text);
    return isDone;
}

static void check_noise(const CServerTLSContext *context) {
    for (uint32_t seed = 1; seed < 200; seed++) {
        Pair pair = {.server = CServerTLS_create(context), .up = malloc(TEXT_LENGTH + CHUNK)};
        CHECK(pair.server && pair.up, "no memory");
        uint8_t *noise = lend_text(seed * 10, seed);
        if (seed % 2 == 0) {
            // The head of a record with a handshake message.
            memcpy(noise, (uint8_t[]){22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3}, 11);
        }
        give_server(&pair, noise, seed * 10);
        CHECK(!pair.isOpen && pair.upCount == 0, "noise is no TLS");
        CServerTLS_destroy(pair.server);
        free(pair.up);
        free(noise);
    }
}

// Updates of keys are answered, but not without end.
static void check_updates(const Place *place, const CServerTLSContext *context, SSL_CTX *clients,
                          int count, bool isKept) {
    Pair pair = {.server = CServerTLS_create(context),
                 .client = make_client(place, clients),
                 .up = malloc(TEXT_LENGTH + CHUNK),
                 .down = malloc(TEXT_LENGTH + CHUNK)};
    CHECK(pair.server && pair.up && pair.down, "no memory");
    carry(&pair);
    for (int index = 0; index < count; index++) {
        CHECK(SSL_key_update(pair.client, SSL_KEY_UPDATE_REQUESTED) == 1, "update %d", index);
        SSL_do_handshake(pair.client);
    }
    CHECK(SSL_write(pair.client, "end", 3) == 3, "the client writes");
    carry(&pair);
    CHECK(pair.isFailed != isKept, "%d updates", count);
    CHECK(pair.upCount == (isKept ? 3 : 0), "%d updates", count);
    CServerTLS_destroy(pair.server);
    SSL_free(pair.client);
    free(pair.up);
    free(pair.down);
}

void check_connections(const Place *place) {
    CServerTLSFault fault;
    CServerTLSContext *context = make_context(place, place->lockedKey, &fault);
    CHECK(!context && fault == CServerTLSFaultNoKey, "an encrypted key");
    context = make_context(place, place->key, &fault);
    CHECK(context, "fault %d", fault);
    check_noise(context);
    SSL_CTX *clients = SSL_CTX_new(TLS_client_method());
    CHECK(clients, "no memory");
    // The first that fails is one of the connection's own; later ones are OpenSSL's, both sides'.
    int count = 0;
    for (long countdown = 0; countdown < 600; countdown += countdown < 60 ? 1 : 23) {
        SSL *client = make_client(place, clients);
        if (!converse(context, client, countdown)) count++;
        SSL_free(client);
    }
    CHECK(count > 60, "%d failed", count);
    SSL *client = make_client(place, clients);
    CHECK(converse(context, client, -1), "with enough memory");
    SSL_free(client);
    check_updates(place, context, clients, 20, true);
    check_updates(place, context, clients, 400, false);
    SSL_CTX_free(clients);
    for (long countdown = 0; countdown < 200; countdown += countdown < 40 ? 1 : 11) {
        scarceCountdown = countdown;
        CServerTLSContext *other = make_context(place, place->key, &fault);
        scarceCountdown = -1;
        if (other) CServerTLSContext_destroy(other);
    }
    ERR_clear_error();
    CServerTLSContext_destroy(context);
    printf("connections: %d ended early for want of memory, and none of them was wrong\n", count);
}
