// SPDX-License-Identifier: Apache-2.0
//
// The server's side of TLS connections on OpenSSL, without sockets: encrypted bytes go in and come
// out as memory. Only the module ServerTLS uses it.
//
// Why C: many functions of OpenSSL are macros, its callbacks take function pointers, and its error
// queue belongs to the calling thread, so it must be read and cleared within one call.

#ifndef CSERVERTLS_H
#define CSERVERTLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// The reason why a context cannot be made.
typedef enum CServerTLSFault : int32_t {
    CServerTLSFaultNone = 0,
    CServerTLSFaultNoCertificate,  // no certificate can be read, or one of the chain is damaged
    CServerTLSFaultWeak,           // OpenSSL's security level forbids the certificate
    CServerTLSFaultNoKey,          // no private key can be read, or it is encrypted
    CServerTLSFaultMismatch,       // the private key is not the certificate's
    CServerTLSFaultNoAuthority,    // no certificate of an authority can be read
    CServerTLSFaultOther,
} CServerTLSFault;

typedef struct CServerTLSSettings {
    const uint8_t *certificate;  // PEM: the server's first, then those of its issuers
    size_t certificateLength;
    const uint8_t *key;          // PEM, not encrypted
    size_t keyLength;
    // PEM of the authorities whose certificates of clients are accepted; none is asked for if NULL.
    const uint8_t *_Nullable authorities;
    size_t authoritiesLength;
    // The protocols for ALPN as RFC 7301 §3.1 writes them, each behind its length; the first that
    // the client offers too is chosen.
    const uint8_t *protocols;
    size_t protocolsLength;      // 2 to 256 bytes
    bool requiresALPN;           // whether a client that offers no protocol is refused
} CServerTLSSettings;

/// What new connections share. Immutable, so any thread may use it.
typedef struct CServerTLSContext CServerTLSContext;

CServerTLSContext *_Nullable CServerTLSContext_create(const CServerTLSSettings *settings,
                                                      CServerTLSFault *fault);
void CServerTLSContext_destroy(CServerTLSContext *context);

/// One connection; one thread at a time. Its context has to outlive it.
typedef struct CServerTLS CServerTLS;

CServerTLS *_Nullable CServerTLS_create(const CServerTLSContext *context);
void CServerTLS_destroy(CServerTLS *tls);

/// The result of a step.
typedef enum CServerTLSStep : int32_t {
    CServerTLSStepDone,        // the handshake is complete, or bytes were read
    CServerTLSStepNeedsInput,  // all the input is used up
    CServerTLSStepClosed,      // the client sent close_notify
    CServerTLSStepFailed,      // the connection is unusable; an alert may be in the output
} CServerTLSStep;

/// Sets the encrypted bytes that the next steps read. They have to stay valid until these steps
/// return `NeedsInput`, or until CServerTLS_clear_input.
void CServerTLS_set_input(CServerTLS *tls, const uint8_t *_Nullable bytes, size_t length);
void CServerTLS_clear_input(CServerTLS *tls);

/// Continues the handshake.
CServerTLSStep CServerTLS_handshake(CServerTLS *tls);
/// Decrypts up to `capacity` bytes; `count` is how many.
CServerTLSStep CServerTLS_read(CServerTLS *tls, uint8_t *buffer, size_t capacity, size_t *count);
/// Encrypts the bytes into the output. Returns false if the connection is unusable.
bool CServerTLS_write(CServerTLS *tls, const uint8_t *bytes, size_t length);
/// Puts close_notify into the output, once.
void CServerTLS_close(CServerTLS *tls);

/// The encrypted bytes that are to be sent, valid until the next call.
const uint8_t *_Nullable CServerTLS_output(const CServerTLS *tls, size_t *length);
void CServerTLS_clear_output(CServerTLS *tls);

/// The reason why a step failed.
typedef enum CServerTLSFailure : int32_t {
    CServerTLSFailureOther = 0,
    CServerTLSFailureNoSharedProtocol,  // the client offers other protocols by ALPN
    CServerTLSFailureNoProtocol,        // the client offers none, and one is required
} CServerTLSFailure;

CServerTLSFailure CServerTLS_failure(const CServerTLS *tls);
/// OpenSSL's words for the failure, null-terminated; empty if it has none.
const char *CServerTLS_failure_words(const CServerTLS *tls);

/// The protocol that was negotiated by ALPN, not null-terminated; NULL if there is none.
const uint8_t *_Nullable CServerTLS_protocol(const CServerTLS *tls, size_t *length);
/// Writes until when the client's certificate is valid, in seconds since the epoch. Returns false
/// if the client has none.
bool CServerTLS_client_valid_until(const CServerTLS *tls, int64_t *seconds);

#pragma clang assume_nonnull end

#endif
