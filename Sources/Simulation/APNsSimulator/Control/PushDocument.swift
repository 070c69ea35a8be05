// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WakeModel

/// A ``ReceivedPush`` as the control endpoint gives it.
struct PushDocument: Codable {
    var number: Int
    var connection: Int
    var stream: Int
    /// Milliseconds since the epoch.
    var receivedAt: Int64
    /// Name and value, in order.
    var headers: [[String]]
    var bodyBase64: String
    /// The body as text; absent when it is not UTF-8.
    var body: String?
    var status: Int?
    var reason: String?
    var fault: String?

    init(_ push: ReceivedPush) {
        number = push.number
        connection = push.connection
        stream = push.stream
        receivedAt = push.receivedAt.millisecondsSinceEpoch
        headers = push.headers.map { [$0.name, $0.value] }
        bodyBase64 = Data(push.body).base64EncodedString()
        body = String(validating: push.body, as: UTF8.self)
        status = push.status
        reason = push.reason?.rawValue
        fault = push.fault.map { "\($0)" }
    }
}

/// ``Counters`` as the control endpoint gives them: the same names, with statuses and codes as
/// text, because JSON has no other keys.
struct CountersDocument: Codable {
    var connectionsOpened: Int
    var connectionsOpen: Int
    var handshakes: Int
    var requests: Int
    var completeRequests: Int
    var refusedStreams: Int
    var malformedRequests: Int
    var answers: [String: Int]
    var resetsReceived: [String: Int]
    var goAwaysSent: Int
    var faultsInjected: Int
    var receiptsTold: Int
    var receiptsLost: Int
    var signalsTold: Int
    var signalsLost: Int

    init(_ counters: Counters) {
        connectionsOpened = counters.connectionsOpened
        connectionsOpen = counters.connectionsOpen
        handshakes = counters.handshakes
        requests = counters.requests
        completeRequests = counters.completeRequests
        refusedStreams = counters.refusedStreams
        malformedRequests = counters.malformedRequests
        answers = Dictionary(
            uniqueKeysWithValues: counters.answers.map { ("\($0.key)", $0.value) })
        resetsReceived = Dictionary(
            uniqueKeysWithValues: counters.resetsReceived.map { ("\($0.key)", $0.value) })
        goAwaysSent = counters.goAwaysSent
        faultsInjected = counters.faultsInjected
        receiptsTold = counters.receiptsTold
        receiptsLost = counters.receiptsLost
        signalsTold = counters.signalsTold
        signalsLost = counters.signalsLost
    }
}
