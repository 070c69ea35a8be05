// SPDX-License-Identifier: Apache-2.0
//
// The life of a session, again and again, with another allocation of the shims failing each time:
// nothing may be lost or touched twice, and the caller hears of every push exactly once.

#include "CHTTP2Shims.h"
#include "Peer.h"

#include <string.h>

long scarceCountdown = -1;

enum { PUSHES = 80, STREAMS = 100 };

typedef struct Tally {
    uint32_t started, refused, finished;
} Tally;

static void take_answers(CHTTP2Session *session, Tally *tally) {
    CHTTP2Answer answer;
    while (CHTTP2Session_next_finished(session, &answer)) {
        tally->finished++;
        CHTTP2Session_release(session, answer.stream);
    }
}

static bool carry(CHTTP2Session *session, Peer *peer) {
    const uint8_t *bytes;
    size_t length;
    do {
        if (!CHTTP2Session_collect(session)) return false;
        bytes = CHTTP2Session_staged(session, &length);
        CHTTP2Session_will_write(session, length);
        if (length > 0) Peer_receive(peer, bytes, length);
        CHTTP2Session_did_write(session, length);
        size_t came;
        while ((came = Peer_next(peer, &bytes)) > 0) {
            if (!CHTTP2Session_receive(session, bytes, came)) return false;
            length += came;
        }
    } while (length > 0);
    return true;
}

static void start_pushes(CHTTP2Session *session, const CHTTP2HeaderBlock *shared, Tally *tally) {
    static const char *const scripts[] = {"accept", "long", "refuse", "large", "endless"};
    uint8_t *body = lend_text(3000, 1), *value = lend_text(300, 2);
    for (uint32_t tag = 0; tag < PUSHES && CHTTP2Session_may_start(session, 0); tag++) {
        char path[64];
        const int length = snprintf(path, sizeof path, "/3/device/%s", scripts[tag % 5]);
        CHTTP2Session_begin(session, (const uint8_t *)path, (size_t)length, shared);
        const uint8_t *const name = (const uint8_t *)"apns-collapse-id";
        CHTTP2Session_add_field(session, name, strlen((const char *)name), value, tag);
        const uint8_t *const topic = (const uint8_t *)"apns-topic";
        if (tag % 4 == 0) CHTTP2Session_add_field(session, topic, 10, value, 200 + tag);
        if (CHTTP2Session_start(session, tag, body, 3000).stream < 0) {
            tally->refused++;
        } else {
            tally->started++;
        }
    }
    free(body);
    free(value);
}

static CHTTP2HeaderBlock *make_block(void) {
    CHTTP2HeaderBlock *block = CHTTP2HeaderBlock_create();
    if (!block) return NULL;
    uint8_t *value = lend_text(200, 3);
    const bool isDone =
        CHTTP2HeaderBlock_append(block, (const uint8_t *)"authorization", 13, value, 200) &&
        CHTTP2HeaderBlock_append(block, (const uint8_t *)"apns-push-type", 14, value, 10);
    free(value);
    if (isDone) return block;
    CHTTP2HeaderBlock_destroy(block);
    return NULL;
}

static void live(uint32_t window) {
    CHTTP2HeaderBlock *shared = make_block();
    if (!shared) return;
    CHTTP2Session *session = CHTTP2Session_create(STREAMS, "localhost", "rouse-check");
    if (session) {
        Peer *peer = Peer_create(4096, window);
        Tally tally = {0};
        if (carry(session, peer)) {
            start_pushes(session, shared, &tally);
            carry(session, peer);
        }
        take_answers(session, &tally);
        CHTTP2Session_abort(session);
        take_answers(session, &tally);
        CHECK(tally.finished == tally.started, "%u of %u ended", tally.finished, tally.started);
        CHECK(tally.refused <= 1, "%u were refused", tally.refused);
        CHTTP2Session_destroy(session);
        Peer_destroy(peer);
    }
    CHTTP2HeaderBlock_destroy(shared);
}

void check_failures(void) {
    long failed = 0;
    for (uint32_t window = 1000; window < 100000; window *= 60) {
        for (long place = 0;; place++) {
            scarceCountdown = place;
            live(window);
            const bool hasFailed = scarceCountdown < 0;
            scarceCountdown = -1;
            if (!hasFailed) break;
            failed++;
        }
    }
    CHECK(failed > 100, "only %ld allocations were made to fail", failed);
    printf("failures: %ld allocations failed, one at a time\n", failed);
}
