// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import WakeModel

/// A ``ModelledPush`` as the control endpoint gives it. Times are the devices' own, in
/// milliseconds since the epoch.
struct FateDocument: Codable {
    var number: Int
    var apnsID: String
    var topic: String?
    var content: String
    var acceptedAt: Int64
    /// A label of facts §6.3, or `undecided`.
    var fate: String
    var decidedAt: Int64?
    /// How long APNs and the device held it, when it came to the app.
    var heldMilliseconds: Int64?
    /// How long the app ran, when it was launched.
    var runtimeMilliseconds: Int64?
    /// Whether the system ended the app because its handler never completed.
    var wasTerminated: Bool?
    /// The number of the push that took its place.
    var replacedBy: Int?

    init(_ push: ModelledPush) {
        number = push.number
        apnsID = push.apnsID
        topic = push.topic
        content = "\(push.content)"
        acceptedAt = push.acceptedAt.millisecondsSinceEpoch
        fate = push.label
        decidedAt = push.decidedAt?.millisecondsSinceEpoch
        switch push.fate {
        case .launched(let launch):
            heldMilliseconds = launch.heldMilliseconds
            runtimeMilliseconds = launch.runtimeMilliseconds
            wasTerminated = launch.wasTerminated
        case .deliveredInForeground(let held): heldMilliseconds = held
        case .coalescedAtAPNs(let other), .coalescedOnDevice(let other): replacedBy = other
        default: break
        }
    }
}

/// A ``DeviceStatus`` as the control endpoint gives it.
struct DeviceStatusDocument: Codable {
    var token: String
    var at: Int64
    var profile: String?
    var conditions: ConditionsDocument
    var isAble: Bool
    var pushes: Int
    var reachedApp: Int
    var undecided: [Int]
    var nextChange: Int64?

    init(_ status: DeviceStatus) {
        token = status.token.hex
        at = status.at.millisecondsSinceEpoch
        profile = status.profile
        conditions = ConditionsDocument(status.conditions)
        isAble = status.isAble
        pushes = status.pushes
        reachedApp = status.reachedApp
        undecided = status.undecided
        nextChange = status.nextChange?.millisecondsSinceEpoch
    }
}

/// ``DeviceConditions`` as the control endpoint gives them.
struct ConditionsDocument: Codable {
    var isOnline: Bool
    var isOnWiFi: Bool
    var isCharging: Bool
    var batteryPercent: Int
    var isInLowPowerMode: Bool
    var isLocked: Bool
    var isInForeground: Bool
    var allowsBackgroundRefresh: Bool

    init(_ conditions: DeviceConditions) {
        isOnline = conditions.isOnline
        isOnWiFi = conditions.isOnWiFi
        isCharging = conditions.isCharging
        batteryPercent = conditions.batteryPercent
        isInLowPowerMode = conditions.isInLowPowerMode
        isLocked = conditions.isLocked
        isInForeground = conditions.isInForeground
        allowsBackgroundRefresh = conditions.allowsBackgroundRefresh
    }
}

/// The devices' time as the control endpoint gives it, in milliseconds.
struct ClockDocument: Codable {
    /// Since the epoch.
    var deviceTime: Int64
    /// Ahead of the senders' time.
    var offset: Int64
}

/// How far the devices' time is to be moved.
struct ClockChange: Codable {
    var advanceSeconds: Int64

    /// The longest step, in seconds: one year. All days in between are simulated.
    static let maximumSeconds: Int64 = 366 * 86_400

    /// The step in milliseconds, or what is wrong with the document.
    func milliseconds() throws(InvalidField) -> Int64 {
        guard (0...Self.maximumSeconds).contains(advanceSeconds) else {
            throw InvalidField(
                field: "advanceSeconds", problem: "is out of range",
                remedy: "Use 0 to \(Self.maximumSeconds); devices do not grow younger.")
        }
        return advanceSeconds * 1000
    }
}
