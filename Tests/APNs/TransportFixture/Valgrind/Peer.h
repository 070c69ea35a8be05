// SPDX-License-Identifier: Apache-2.0
//
// The other end of a session, in memory: nghttp2's own server.

#ifndef PEER_H
#define PEER_H

#include "Checks.h"

// What it answers is said by the last part of the request's path:
//   accept    200, with the hashes of what came as `apns-unique-id`
//   refuse    410 with a body
//   interim   103 with fields of its own, then as "accept"
//   long      200 with kept fields that need an allocation, and more than are kept
//   endless   200 with a header list over CHTTP2_HEADER_LIST_MAX
//   exact     400 with a body of CHTTP2_ANSWER_BODY_MAX bytes
//   large     400 with a body of one byte more
//   early     413 as soon as the header fields are there
//   reset     RST_STREAM with REFUSED_STREAM
//   cut       200 and half a body, then RST_STREAM
//   silent    nothing
typedef struct Peer Peer;

// `tableSize` is its SETTINGS_HEADER_TABLE_SIZE, `window` its SETTINGS_INITIAL_WINDOW_SIZE.
Peer *Peer_create(uint32_t tableSize, uint32_t window);
void Peer_destroy(Peer *peer);
// Takes bytes from the client.
void Peer_receive(Peer *peer, const uint8_t *bytes, size_t length);
// Bytes for the client, valid until the next call; 0 for none.
size_t Peer_next(Peer *peer, const uint8_t **bytes);
// Changes SETTINGS_HEADER_TABLE_SIZE.
void Peer_set_table(Peer *peer, uint32_t tableSize);
// Says GOAWAY, with words that are not all printable.
void Peer_farewell(Peer *peer);
// Requests whose header fields came so far.
uint32_t Peer_requests(const Peer *peer);

#endif
