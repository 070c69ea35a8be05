// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import WakeModel

/// A push that was answered with 200, on its way to the device model. Its times are the senders'.
struct AcceptedPush {
    let number: Int
    let apnsID: String
    let token: DeviceToken
    let topic: String?
    let content: ArrivingPush.Content
    let priority: Priority
    let expiration: Expiration?

    /// `nil` for types outside the model: Live Activities, widgets, and so on.
    init?(_ request: ActiveRequest, apnsID: String) {
        guard let hex = request.deviceTokenHex, let token = try? DeviceToken(hex: hex),
            let content = ArrivingPush.Content(request.head, body: request.body)
        else { return nil }
        number = request.number
        self.apnsID = apnsID
        self.token = token
        topic = request.head.topic
        self.content = content
        // Without the header APNs takes 10 (facts §2.1).
        priority = Priority.allCases.first { $0.description == request.head.priority } ?? .immediate
        expiration = request.head.expiration.flatMap { text in
            Int64(text).map { seconds in
                seconds == 0 ? .immediately : .at(WallInstant(secondsSinceEpoch: seconds))
            }
        }
    }

    /// The push as it begins in the model.
    func push(at now: WallInstant) -> ModelledPush {
        ModelledPush(
            number: number, apnsID: apnsID, deviceToken: token, topic: topic, content: content,
            acceptedAt: now, fate: nil, decidedAt: nil)
    }
}
