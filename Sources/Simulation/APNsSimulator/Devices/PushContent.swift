// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import FoundationEssentials
import WakeModel

extension ArrivingPush.Content {
    /// What a push asks of the device, by its type and its payload: the matrix of facts §2.4. `nil`
    /// for types outside the model.
    init?(_ head: RequestHead, body: [UInt8]) {
        let glance = PayloadGlance(body)
        switch head.pushType.map(PushType.init(rawValue:)) {
        case .voip: self = .voip
        case .background:
            // What it would show is not shown, and without content-available nothing happens.
            self = glance.hasContentAvailable ? .background : .alert
        case .alert:
            // An alert that shows nothing is refused a launch.
            self = glance.hasContentAvailable && glance.showsSomething ? .mixed : .alert
        case nil:
            if head.topic?.hasSuffix(PushType.voip.topicSuffix) == true {
                self = .voip
            } else if glance.hasContentAvailable {
                self = glance.showsSomething ? .mixed : .background
            } else {
                self = .alert
            }
        default: return nil
        }
    }
}

/// The few things in a payload that decide whether the app is woken.
private struct PayloadGlance: Decodable {
    var hasContentAvailable = false
    var showsSomething = false

    private enum Key: String, CodingKey {
        case aps
    }

    private enum APSKey: String, CodingKey {
        case alert
        case badge
        case sound
        case contentAvailable = "content-available"
    }

    /// A body that is no JSON asks for nothing.
    init(_ body: [UInt8]) {
        self = (try? JSONDecoder().decode(Self.self, from: Data(body))) ?? Self()
    }

    private init() {}

    init(from decoder: any Decoder) throws {
        let aps = try decoder.container(keyedBy: Key.self)
            .nestedContainer(keyedBy: APSKey.self, forKey: .aps)
        hasContentAvailable = (try? aps.decode(Int.self, forKey: .contentAvailable)) == 1
        showsSomething = aps.contains(.alert) || aps.contains(.badge) || aps.contains(.sound)
    }
}
