// SPDX-License-Identifier: Apache-2.0

import PushTransport

/// One measurement of one client, as the child process that runs it is told: so many pushes, always
/// so many in flight, over so many connections.
struct Load: Codable {
    /// Who pushes.
    enum Client: String, Codable, CaseIterable {
        /// What a skilled C programmer writes with libcurl.
        case plainC = "c-plain"
        /// The same with every trick that was found.
        case tunedC = "c-tuned"
        /// What a skilled C programmer writes with nghttp2 and libssl.
        case nghttp2C = "c-nghttp2"
        /// `APNsClient` on libcurl, one `await` a push, as many tasks as pushes in flight.
        case curlCalls = "curl-calls"
        /// `APNsClient` on libcurl, four batches at a time that make up the pushes in flight.
        case curlBatches = "curl-batches"
        /// `APNsClient` on libcurl, replies taken as they come, each group of them replaced by new
        /// pushes.
        case curlReceiving = "curl-receiving"
        /// The same three on the native transport.
        case nativeCalls = "native-calls"
        case nativeBatches = "native-batches"
        case nativeReceiving = "native-receiving"
        /// The native transport by itself, by callbacks, with requests that are ready.
        case nativeTransport = "native-transport"

        /// What carries the pushes; `nil` where it is no ``APNsClient``.
        var transportKind: TransportKind? {
            switch self {
            case .plainC, .tunedC, .nghttp2C: nil
            case .curlCalls, .curlBatches, .curlReceiving: .curl
            case .nativeCalls, .nativeBatches, .nativeReceiving, .nativeTransport: .native
            }
        }

        /// Whether it brings an HTTP/2 of its own, which costs a small part of libcurl's.
        var isFast: Bool { transportKind == .native || self == .nghttp2C }
    }

    /// How many times as many pushes a fast client gets, so that its measurement takes about as
    /// long as libcurl's.
    static let fastFactor = 16

    var client: Client
    var port: Int
    /// The PEM file of the authority that vouches for the server.
    var authorityPath: String
    var connections: Int
    /// On all connections together.
    var inFlight: Int
    var pushes: Int

    var streamsPerConnection: Int { max(1, inFlight / connections) }

    /// Enough for every connection to be open, and for the client to have learned how many streams
    /// it takes.
    var warmUpPushes: Int { max(1000, 6 * inFlight) }
}

/// What came of one measurement.
struct LoadReport: Codable {
    var accepted: Int
    var failed: Int
    /// What went wrong with one of the failed.
    var failure: String?
    var wallSeconds: Double
    /// User and system time of the client's whole process.
    var cpuSeconds: Double
    var medianMilliseconds: Double
    var p99Milliseconds: Double
    var connectionsOpened: Int?
    /// The most of the client's process that was in memory, and what of that was there before it
    /// began to push: the program that measures.
    var peakBytes = 0
    var bytesAtStart = 0

    /// Reads the middle and the 99th percentile off latencies in microseconds.
    mutating func summarize(_ latencies: [UInt32]) {
        let sorted = latencies.sorted()
        medianMilliseconds = Double(sorted.percentile(0.5)) / 1000
        p99Milliseconds = Double(sorted.percentile(0.99)) / 1000
    }
}

/// What is pushed in every measurement.
enum Sample {
    static let bundleID = "com.example.app"
    static let keyID = "ABCDE12345"
    static let teamID = "TEAM123456"
    static let userAgent = "rouse"
    /// A silent push with a hint, 100 bytes.
    static let payload: [UInt8] = {
        let head = #"{"aps":{"content-available":1},"hint":""#
        return Array((head + String(repeating: "x", count: 98 - head.utf8.count) + #""}"#).utf8)
    }()
    /// The devices that are pushed to in turn.
    static let deviceTokens = (1...16).map { number in
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 2 - digits.count) + digits
            + String(repeating: "00112233445566778899aabbccddeeff", count: 2).dropFirst(2)
    }
    /// A device that the simulator never answers for.
    static let silentDeviceToken = String(repeating: "ff", count: 32)
}
