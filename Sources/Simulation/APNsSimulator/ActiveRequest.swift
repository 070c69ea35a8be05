// SPDX-License-Identifier: Apache-2.0

import NIOHPACK
import WakeModel

/// A request that has not been answered yet.
struct ActiveRequest {
    let number: Int
    let stream: Int
    let head: RequestHead
    /// The whole header block; only kept for the log.
    let fields: HPACKHeaders?
    var bodyByteCount = 0
    /// The body; only kept for the log and for device models.
    var body: [UInt8] = []
    /// Whether the whole request has arrived.
    var isComplete = false
    /// How late the answer is to come, by a fault.
    var delayMilliseconds = 0
    /// The pause after each byte of the answer, by a fault; `nil` for an answer in one piece.
    var dripMilliseconds: Int?
    /// Whether a fault forbids any answer.
    var isMuted = false
    /// The last fault that struck.
    var fault: Fault.Kind?

    init(number: Int, stream: Int, fields: HPACKHeaders, keepsFields: Bool) {
        self.number = number
        self.stream = stream
        var head = RequestHead()
        for (name, value, _) in fields { head.add(name: name, value: value) }
        self.head = head
        self.fields = keepsFields ? fields : nil
    }

    /// The path's device token in lower case.
    var deviceTokenHex: String? { head.deviceTokenText?.lowercased() }
}
