// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// A fault to inject: its kind, whom and which stage it affects, and how often.
///
/// Of the faults that are injected, each stage of a request meets at most one: the first that
/// fits, in the order in which they were injected.
public struct Fault: Hashable, Sendable {
    /// The kind of failure.
    public var kind: Kind
    /// Which requests are hit.
    public var target: Target
    /// When during the request.
    public var stage: Stage
    /// How many times at most; `nil` for as long as the fault stays.
    public var count: Int?

    /// Describes a fault. `stage` defaults to the one that fits the kind: ``Stage/connection`` for
    /// a refused TLS handshake, ``Stage/answer`` for all others.
    public init(
        _ kind: Kind, for target: Target = .all, at stage: Stage? = nil, count: Int? = nil
    ) {
        self.kind = kind
        self.target = target
        self.stage = stage ?? (kind == .refuseTLS ? .connection : .answer)
        self.count = count
    }

    /// The kinds of failure.
    public enum Kind: Hashable, Sendable {
        /// The answer comes so many milliseconds late. At ``Stage/connection``: the handshake.
        case delay(milliseconds: Int)
        /// This answer instead of the right one; the status is the one that the table of
        /// `RejectionReason` has for the reason, 500 for a reason that is not in it.
        case reject(RejectionReason)
        /// A GOAWAY frame; the connection ends when the streams that it promises have.
        case goAway(GoAway)
        /// RST_STREAM with this code.
        case resetStream(HTTP2ErrorCode)
        /// The TCP connection ends, without any farewell.
        case closeConnection
        /// Nothing more is ever said on this stream. At ``Stage/connection``: not even TLS.
        case neverAnswer
        /// The answer comes byte by byte, each in a TLS record of its own, so many milliseconds
        /// apart; the connection's other answers wait behind it.
        case drip(millisecondsPerByte: Int)
        /// SETTINGS with this limit on streams; the request itself is answered as usual. Streams
        /// above the limit are refused from then on.
        case limitStreams(Int)
        /// The TLS handshake is refused with the alert `handshake_failure`.
        case refuseTLS
    }

    /// The content of a GOAWAY frame.
    public struct GoAway: Hashable, Sendable {
        /// Becomes the debug data `{"reason":"…"}`; `nil` for none.
        public var reason: RejectionReason?
        /// The error code: `NO_ERROR` unless said otherwise.
        public var code: HTTP2ErrorCode
        /// Which streams it promises to serve.
        public var lastStream: LastStream

        /// Describes a GOAWAY frame.
        public init(
            reason: RejectionReason? = .shutdown, code: HTTP2ErrorCode = .noError,
            lastStream: LastStream = .thisOne
        ) {
            self.reason = reason
            self.code = code
            self.lastStream = lastStream
        }

        /// The last stream id of a GOAWAY frame, seen from the request that met the fault.
        public enum LastStream: Hashable, Sendable {
            /// The request's own stream: it is still answered.
            case thisOne
            /// The stream before it: the request was not processed, and gets no answer.
            case theOneBefore
            /// The highest stream seen on the connection.
            case highestSeen
            /// A stream by its number.
            case number(Int)
        }
    }

    /// Which requests are hit.
    public enum Target: Hashable, Sendable {
        /// Every one.
        case all
        /// Those for one device token.
        case deviceToken(DeviceToken)
        /// This part of all requests, from 0 to 1. Which ones depends on nothing but the seed and
        /// the request's number; the parts of several faults, at whatever stages, do not overlap as
        /// long as they add up to no more than 1. Those at ``Stage/connection`` count apart.
        case share(Double)
    }

    /// The moments of a request at which a fault can strike.
    public enum Stage: String, Hashable, Sendable, CaseIterable {
        /// When the TCP connection was accepted, before TLS. Targets other than `.all` and a share
        /// (of connections, by their number) never fit.
        case connection
        /// When the header block has arrived, before the body.
        case headers
        /// When the first bytes of the body have arrived. Even if they are all of it, the
        /// simulator behaves as if it had read no further: a request that ends here does not
        /// count as complete.
        case body
        /// When the whole request has arrived, before any answer.
        case answer
    }
}
