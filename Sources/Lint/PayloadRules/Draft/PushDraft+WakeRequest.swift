// SPDX-License-Identifier: Apache-2.0

import WakeModel

extension PushDraft {
    /// Creates the draft of the push that a request is sent as, with all headers that the rules
    /// check, except for the authentication.
    init(_ request: WakeRequest, expiration: Expiration, now: WallInstant) {
        let type = request.kind.pushType
        var headers = [
            Header("apns-push-type", type.rawValue),
            Header("apns-topic", request.bundleID.topic(for: type).value),
            Header("apns-priority", "\(request.priority ?? request.kind.defaultPriority)"),
            Header("apns-expiration", expiration.headerValue),
        ]
        if let id = request.collapseID { headers.append(Header("apns-collapse-id", id.value)) }
        self.init(
            payload: request.payload, headers: headers, now: now, headersAreComplete: true)
        opaqueHeaders = ["apns-id", "authorization", ":path"]
    }
}
