// SPDX-License-Identifier: Apache-2.0
//
// Sessions against a peer in memory: every kind of request and of answer, in pieces of every size.

#include "CHTTP2Shims.h"
#include "Peer.h"

#include <string.h>

enum { STREAMS = 100, TABLE = 4096, WINDOW = 65535 };
static const char AUTHORITY[] = "api.push.apple.com:443";
static const char AGENT[] = "rouse-check";

// Both ends, and how large the pieces are in which their bytes are carried.
typedef struct Wire {
    CHTTP2Session *session;
    Peer *peer;
    size_t piece;
    CHTTP2HeaderBlock *shared;
    uint32_t sharedSeed;
    uint32_t finished;
} Wire;

// What one push must come to, and came to. The tag is its place.
typedef struct Outcome {
    char hashes[64];
    CHTTP2Answer answer;  // without the pointers
    bool isFinished;
    bool holdsHashes;
    size_t kept;  // header fields
} Outcome;

static Outcome outcomes[1024];

// MARK: - Carrying

static bool carry_out(Wire *wire) {
    size_t length;
    CHECK(CHTTP2Session_collect(wire->session), "the session broke");
    const uint8_t *bytes = CHTTP2Session_staged(wire->session, &length);
    if (length == 0) return false;
    const size_t count = length < wire->piece ? length : wire->piece;
    CHTTP2Session_will_write(wire->session, length);
    uint8_t *lent = lend(bytes, count);
    CHTTP2Session_did_write(wire->session, count);
    Peer_receive(wire->peer, lent, count);
    free(lent);
    return true;
}

static bool carry_in(Wire *wire) {
    const uint8_t *bytes;
    size_t length = Peer_next(wire->peer, &bytes);
    if (length == 0) return false;
    while (length > 0) {
        const size_t count = length < wire->piece ? length : wire->piece;
        uint8_t *lent = lend(bytes, count);
        CHECK(CHTTP2Session_receive(wire->session, lent, count), "the session broke");
        free(lent);
        bytes += count;
        length -= count;
    }
    return true;
}

static size_t count_kept(const CHTTP2Answer *answer, Outcome *outcome) {
    size_t count = 0;
    const uint8_t *at = answer->headers;
    for (size_t left = answer->headersLength; left > 0; count++) {
        const size_t name = at[0], value = (size_t)(at[1] | at[2] << 8), whole = 3 + name + value;
        CHECK(whole <= left, "a kept field ends behind its place");
        if (value == strlen(outcome->hashes) && memcmp(at + 3 + name, outcome->hashes, value) == 0)
            outcome->holdsHashes = true;
        at += whole;
        left -= whole;
    }
    return count;
}

static void take_answers(Wire *wire) {
    CHTTP2Answer answer;
    while (CHTTP2Session_next_finished(wire->session, &answer)) {
        Outcome *outcome = &outcomes[answer.tag];
        CHECK(!outcome->isFinished, "push %u ended twice", answer.tag);
        outcome->isFinished = true;
        outcome->answer = answer;
        outcome->kept = count_kept(&answer, outcome);
        for (size_t index = 0; index < answer.bodyLength; index++) {
            CHECK(answer.body[index] == 'b', "the body of %u is another's", answer.tag);
        }
        CHTTP2Session_release(wire->session, answer.stream);
        wire->finished++;
    }
}

static void settle(Wire *wire) {
    bool isMoving = true;
    while (isMoving) {
        isMoving = carry_out(wire);
        isMoving = carry_in(wire) || isMoving;
        take_answers(wire);
    }
}

// MARK: - Requests

typedef struct Kind {
    const char *name;
    size_t length;  // of its value
} Kind;

// What the pushes of one provider token share.
static const Kind SHARED[] = {
    {"authorization", 207}, {"apns-push-type", 10}, {"apns-topic", 40}};
enum { SHARED_COUNT = sizeof SHARED / sizeof *SHARED };

static void share(Wire *wire, uint32_t seed) {
    if (wire->shared) CHTTP2HeaderBlock_destroy(wire->shared);
    wire->shared = CHTTP2HeaderBlock_create();
    wire->sharedSeed = seed;
    CHECK(wire->shared, "no memory");
    for (size_t index = 0; index < SHARED_COUNT; index++) {
        const size_t nameLength = strlen(SHARED[index].name);
        uint8_t *name = lend(SHARED[index].name, nameLength);
        uint8_t *value = lend_text(SHARED[index].length, seed);
        CHECK(CHTTP2HeaderBlock_append(wire->shared, name, nameLength, value,
                                       SHARED[index].length),
              "no memory");
        free(name);
        free(value);
    }
}

static uint64_t hash_known(uint64_t hash, const char *name, const char *value) {
    return hash_field(hash, name, strlen(name), value, strlen(value));
}

static uint64_t begin(Wire *wire, const char *path) {
    uint8_t *lent = lend(path, strlen(path));
    CHTTP2Session_begin(wire->session, lent, strlen(path), wire->shared);
    free(lent);
    uint64_t hash = hash_known(HASH_START, ":method", "POST");
    hash = hash_known(hash, ":scheme", "https");
    hash = hash_known(hash, ":authority", AUTHORITY);
    hash = hash_known(hash, ":path", path);
    hash = hash_known(hash, "user-agent", AGENT);
    for (size_t index = 0; index < SHARED_COUNT; index++) {
        uint8_t *value = lend_text(SHARED[index].length, wire->sharedSeed);
        hash = hash_field(hash, SHARED[index].name, strlen(SHARED[index].name), value,
                          SHARED[index].length);
        free(value);
    }
    return hash;
}

static uint64_t add(Wire *wire, uint64_t hash, const char *name, size_t length, uint32_t seed) {
    uint8_t *lentName = lend(name, strlen(name)), *value = lend_text(length, seed);
    CHTTP2Session_add_field(wire->session, lentName, strlen(name), value, length);
    hash = hash_field(hash, lentName, strlen(name), value, length);
    free(lentName);
    free(value);
    return hash;
}

// The fields of its own differ from push to push: none, few, long ones, ones that fill the table.
static uint64_t add_fields(Wire *wire, uint64_t hash, uint32_t number) {
    hash = add(wire, hash, "apns-id", 36, number);
    if (number % 2 == 0) hash = add(wire, hash, "apns-expiration", 10, number);
    if (number % 3 == 0) hash = add(wire, hash, "apns-collapse-id", 64, number);
    if (number % 3 == 1) hash = add(wire, hash, "apns-collapse-id", 1 + number % 64, 7);
    if (number % 4 == 0) hash = add(wire, hash, "apns-priority", 1, number % 2);
    if (number % 7 == 0) hash = add(wire, hash, "apns-topic", 250, number);
    if (number % 11 == 0) hash = add(wire, hash, "apns-channel-id", 1500, number);
    if (number % 13 == 0) hash = add(wire, hash, "apns-channel-id", 4000, number);
    if (number % 17 == 0) hash = add(wire, hash, "apns-channel-id", 11000, number);
    if (number % 19 == 0) hash = add(wire, hash, "apns-empty", 0, number);
    return hash;
}

static int32_t push(Wire *wire, uint32_t tag, const char *script, size_t bodyLength) {
    char path[128];
    snprintf(path, sizeof path, "/3/device/%064u/%s", tag, script);
    const uint64_t fields = add_fields(wire, begin(wire, path), tag + 1);
    uint8_t *body = lend_text(bodyLength, tag);
    outcomes[tag] = (Outcome){0};
    snprintf(outcomes[tag].hashes, sizeof outcomes[tag].hashes, "%016llx-%016llx-%zu",
             (unsigned long long)fields,
             (unsigned long long)hash_bytes(HASH_START, body, bodyLength), bodyLength);
    const CHTTP2Started started = CHTTP2Session_start(wire->session, tag, body, bodyLength);
    free(body);
    CHECK(started.stream >= 0, "push %u was not started", tag);
    if (started.isFull) carry_out(wire);
    return started.stream;
}

// MARK: - Life

static Wire make_wire(uint32_t streams, uint32_t tableSize, uint32_t window, size_t piece) {
    // Read during the call only, like all the rest.
    uint8_t *authority = lend(AUTHORITY, sizeof AUTHORITY), *agent = lend(AGENT, sizeof AGENT);
    Wire wire = {.session = CHTTP2Session_create(streams, (char *)authority, (char *)agent),
                 .peer = Peer_create(tableSize, window),
                 .piece = piece};
    free(authority);
    free(agent);
    CHECK(wire.session, "no session");
    share(&wire, 1);
    return wire;
}

static void destroy(Wire *wire) {
    CHTTP2Session_destroy(wire->session);
    CHTTP2HeaderBlock_destroy(wire->shared);
    Peer_destroy(wire->peer);
}

static void close_in_order(Wire *wire) {
    settle(wire);
    CHECK(CHTTP2Session_state(wire->session).openStreams == 0, "streams are left");
    CHTTP2Session_farewell(wire->session);
    settle(wire);
    CHECK(CHTTP2Session_state(wire->session).goAwaySent, "no GOAWAY was sent");
    CHECK(!CHTTP2Session_may_start(wire->session, 1), "a session takes pushes after its end");
    destroy(wire);
}

// MARK: - Cases

// Hundreds of pushes over one session; every byte of every request is compared by its hash.
static void check_requests(uint32_t tableSize, uint32_t window, size_t piece, uint32_t count) {
    static const size_t lengths[] = {1, 60, 4096, 5120, 16384, 40000, 100000};
    Wire wire = make_wire(STREAMS, tableSize, window, piece);
    settle(&wire);
    for (uint32_t tag = 0; tag < count; tag++) {
        // Like the transport: wait until flow control takes the body, or nothing is open.
        const size_t length = tag % 16 ? lengths[tag % 4] : lengths[tag / 16 % 7];
        if (CHTTP2Session_state(wire.session).openStreams == STREAMS ||
            !CHTTP2Session_may_start(wire.session, length)) {
            settle(&wire);
        }
        if (tag % 50 == 49) share(&wire, tag);
        if (tag == count / 2) Peer_set_table(wire.peer, tableSize / 2);
        if (tag == count / 2 + 30) Peer_set_table(wire.peer, tableSize);
        push(&wire, tag, tag % 10 ? "accept" : "interim", length);
        if (tag % 31 == 0) CHECK(CHTTP2Session_ping(wire.session), "no PING");
    }
    settle(&wire);
    CHECK(wire.finished == count, "%u of %u ended", wire.finished, count);
    for (uint32_t tag = 0; tag < count; tag++) {
        const Outcome *outcome = &outcomes[tag];
        CHECK(outcome->answer.status == 200 && outcome->answer.isWhole &&
                  outcome->answer.isWritten && outcome->answer.errorCode == 0,
              "push %u: status %u, code %u", tag, outcome->answer.status,
              outcome->answer.errorCode);
        CHECK(outcome->kept == 1 && outcome->holdsHashes,
              "the peer read another push %u than was sent: %s", tag, outcome->hashes);
    }
    const CHTTP2SessionState state = CHTTP2Session_state(wire.session);
    CHECK(state.hasSettings && state.peerStreamLimit == 1000, "SETTINGS were not read");
    CHECK(state.pingAnswers == (count + 30) / 31, "%u PINGs answered", state.pingAnswers);
    close_in_order(&wire);
}

static void check_answers(size_t piece) {
    static const struct {
        const char *script;
        uint16_t status, bodyLength;
        uint32_t errorCode;
        size_t kept;
        bool isWhole, isTooLarge;
    } cases[] = {
        {"refuse", 410, 60, 0, 1, true, false},
        {"long", 200, 0, 0, 3, true, false},
        {"endless", 0, 0, 2, 1, false, true},
        {"exact", 400, CHTTP2_ANSWER_BODY_MAX, 0, 1, true, false},
        {"large", 400, 0, 8, 1, false, true},
        {"early", 413, 20, 8, 1, true, false},
        {"reset", 0, 0, 7, 0, false, false},
        {"cut", 200, 30, 2, 1, false, false},
    };
    enum { COUNT = sizeof cases / sizeof *cases, ROUNDS = 4 };
    Wire wire = make_wire(STREAMS, TABLE, WINDOW, piece);
    settle(&wire);
    for (uint32_t tag = 0; tag < ROUNDS * COUNT; tag++) {
        const char *script = cases[tag % COUNT].script;
        push(&wire, tag, script, strcmp(script, "early") == 0 ? 2 * WINDOW : 3000);
        if (tag % COUNT == COUNT - 1) settle(&wire);
    }
    CHECK(wire.finished == ROUNDS * COUNT, "%u ended", wire.finished);
    for (uint32_t tag = 0; tag < ROUNDS * COUNT; tag++) {
        const CHTTP2Answer *answer = &outcomes[tag].answer;
        const char *script = cases[tag % COUNT].script;
        CHECK(answer->status == cases[tag % COUNT].status, "%s: %u", script, answer->status);
        // An early answer's end is followed by a RST_STREAM from both sides; either may be first.
        const uint32_t code = answer->errorCode, expected = cases[tag % COUNT].errorCode;
        CHECK(code == expected || (code == 0 && answer->status == 413), "%s: %u", script, code);
        CHECK(answer->isWhole == cases[tag % COUNT].isWhole, "%s", script);
        CHECK(answer->isTooLarge == cases[tag % COUNT].isTooLarge, "%s", script);
        if (answer->isTooLarge) continue;
        CHECK(answer->bodyLength == cases[tag % COUNT].bodyLength, "%s: %u", script,
              answer->bodyLength);
        CHECK(outcomes[tag].kept == cases[tag % COUNT].kept, "%s: %zu", script,
              outcomes[tag].kept);
    }
    close_in_order(&wire);
}

// Given up before a byte left, while the body goes out, and while the answer is waited for.
static void check_cancellation(void) {
    Wire wire = make_wire(STREAMS, TABLE, WINDOW, 700);
    settle(&wire);
    for (uint32_t tag = 0; tag < 300; tag++) {
        const int32_t stream = push(&wire, tag, tag % 2 ? "silent" : "accept", tag % 6000 + 1);
        if (tag % 3 == 0) carry_out(&wire);
        if (tag % 3 == 1) settle(&wire);
        if (outcomes[tag].isFinished) continue;
        CHECK(tag % 3 == 2 || CHTTP2Session_is_written(wire.session, (uint32_t)stream), "%u", tag);
        CHTTP2Session_cancel(wire.session, (uint32_t)stream);
        if (tag % 10 == 9) settle(&wire);
    }
    settle(&wire);
    CHECK(CHTTP2Session_state(wire.session).openStreams == 0, "streams are left");
    close_in_order(&wire);
}

static void check_goaway(void) {
    Wire wire = make_wire(STREAMS, TABLE, WINDOW, 4096);
    settle(&wire);
    for (uint32_t tag = 0; tag < 5; tag++) push(&wire, tag, "silent", 100);
    settle(&wire);
    // These are on their way when the peer says GOAWAY: it has not seen them.
    for (uint32_t tag = 5; tag < 9; tag++) push(&wire, tag, "accept", 100);
    Peer_farewell(wire.peer);
    while (carry_in(&wire)) take_answers(&wire);
    const CHTTP2SessionState state = CHTTP2Session_state(wire.session);
    CHECK(state.goAwayReceived && state.goAwayLastStream == 9, "%d", state.goAwayLastStream);
    const char *words = CHTTP2Session_goaway_words(wire.session);
    CHECK(strcmp(words, "{\"reason\":\"Shutdown\"}") == 0, "%s", words);
    CHECK(!CHTTP2Session_may_start(wire.session, 1), "pushes are taken after GOAWAY");
    CHECK(wire.finished == 4 && outcomes[8].answer.errorCode == 7, "%u ended", wire.finished);
    // What was seen is in flight still when the connection ends.
    destroy(&wire);
}

// The connection is lost: with requests not written, half written, held back by flow control, with
// answers half read, and with cancelled ones among them.
static void check_loss(void) {
    for (uint32_t round = 0; round < 40; round++) {
        Wire wire = make_wire(STREAMS, TABLE, 20000, 100 + 77 * round);
        settle(&wire);
        for (uint32_t tag = 0; tag < 70; tag++) {
            static const char *const scripts[] = {"long", "exact", "silent"};
            const int32_t stream = push(&wire, tag, scripts[tag % 3], tag % 9 ? 900 : 30000);
            if (tag % 8 == 7) CHTTP2Session_cancel(wire.session, (uint32_t)stream);
        }
        for (uint32_t turn = 0; turn < round * 4 && carry_out(&wire); turn++) {}
        const uint8_t *bytes;
        for (uint32_t turn = 0; turn < round; turn++) {
            const size_t length = Peer_next(wire.peer, &bytes);
            // Half of a frame at the last.
            const size_t count = turn + 1 < round ? length : length / 2;
            if (count == 0) break;
            uint8_t *lent = lend(bytes, count);
            CHECK(CHTTP2Session_receive(wire.session, lent, count), "the session broke");
            free(lent);
        }
        if (round % 4) {
            CHTTP2Session_abort(wire.session);
            take_answers(&wire);
            CHECK(CHTTP2Session_state(wire.session).openStreams == 0, "streams are left");
            CHECK(!CHTTP2Session_collect(wire.session), "an aborted session sends");
        }
        destroy(&wire);
    }
}

// A header block that fits no frame breaks the session before anything of it is staged.
static void check_long_head(void) {
    Wire wire = make_wire(STREAMS, TABLE, WINDOW, 4096);
    settle(&wire);
    push(&wire, 0, "silent", 10);
    add(&wire, begin(&wire, "/3/device/0/silent"), "apns-channel-id", CHTTP2_HEAD_MAX, 1);
    add(&wire, 0, "apns-topic", CHTTP2_HEAD_MAX - 100, 1);
    CHECK(CHTTP2Session_start(wire.session, 1, (const uint8_t *)"{}", 2).stream < 0, "it fits");
    CHECK(!CHTTP2Session_may_start(wire.session, 1), "a broken session takes pushes");
    CHTTP2Session_abort(wire.session);
    take_answers(&wire);
    CHECK(outcomes[0].isFinished, "nobody is told of the end");
    uint8_t *long_value = lend_text(CHTTP2_HEAD_MAX + 1, 1);
    CHECK(!CHTTP2HeaderBlock_append(wire.shared, (const uint8_t *)"a", 1, long_value,
                                    CHTTP2_HEAD_MAX + 1),
          "a block takes what no request can");
    free(long_value);
    destroy(&wire);
}

// Nonsense from the peer, cut everywhere.
static void check_nonsense(void) {
    for (uint32_t seed = 0; seed < 200; seed++) {
        Wire wire = make_wire(STREAMS, TABLE, WINDOW, 4096);
        settle(&wire);
        for (uint32_t tag = 0; tag < 3; tag++) push(&wire, tag, "accept", 100);
        while (carry_out(&wire)) {}
        const uint8_t *bytes;
        size_t length;
        bool isSound = true;
        for (uint32_t at = seed; isSound && (length = Peer_next(wire.peer, &bytes)) > 0;) {
            uint8_t *lent = lend(bytes, length);
            lent[at % length] ^= (uint8_t)(1 + seed % 255);
            isSound = CHTTP2Session_receive(wire.session, lent, length);
            free(lent);
        }
        CHTTP2Session_collect(wire.session);
        take_answers(&wire);
        CHTTP2Session_abort(wire.session);
        take_answers(&wire);
        CHECK(wire.finished == 3, "%u ended", wire.finished);
        destroy(&wire);
    }
}

void check_sessions(void) {
    check_requests(TABLE, WINDOW, 16384, 400);
    check_requests(65536, 1 << 20, 1 << 20, 200);
    check_requests(0, 3000, 61, 60);
    check_requests(300, WINDOW, 1000, 200);
    for (size_t piece = 5; piece < 20000; piece *= 11) check_answers(piece);
    check_cancellation();
    check_goaway();
    check_loss();
    check_long_head();
    check_nonsense();
    puts("sessions: every request and every answer arrived as it was sent");
}
