// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The outcome of one push.
public struct PushReport: Hashable, Sendable {
    /// The number of the push.
    public var number: Int
    /// The time of the outcome.
    public var at: WallInstant
    /// The outcome.
    public var fate: PushFate

    /// Creates a report.
    public init(number: Int, at: WallInstant, fate: PushFate) {
        self.number = number
        self.at = at
        self.fate = fate
    }
}

/// The outcome of a push; the labels are those of facts §6.3.
public enum PushFate: Hashable, Sendable {
    /// The system launched the app in the background.
    case launched(Launch)
    /// The app received the push in the foreground, or was opened while the push was held. It uses
    /// no budget.
    case deliveredInForeground(heldMilliseconds: Int64)
    /// Another push replaced it in the single slot of APNs.
    case coalescedAtAPNs(by: Int)
    /// A newer push replaced it in the single slot of the device.
    case coalescedOnDevice(by: Int)
    /// Its expiration passed while APNs stored it, or APNs does not store it and the device was
    /// offline.
    case expired
    /// The token is invalid, or neither notifications nor background refresh are allowed.
    case discardedDisabled
    /// The app was force-quit before, or while the push was held.
    case discardedForceQuit
    /// The device discarded it after the maximum hold time, because budget or conditions allowed no
    /// launch.
    case heldOverBudget
    /// The app has no `remote-notification` mode.
    case neverLaunched
    /// A notification, which launches nothing.
    case wrongType
    /// It was lost in transit.
    case lost
    /// APNs rejected it.
    case rejected

    /// A launch in the background.
    public struct Launch: Hashable, Sendable {
        /// The time for which APNs and the device held the push, in milliseconds; 0 if not at all.
        public var heldMilliseconds: Int64
        /// The run time of the app, in milliseconds.
        public var runtimeMilliseconds: Int64
        /// Whether the system ended the app because its handler did not complete.
        public var wasTerminated: Bool

        /// Creates a launch.
        public init(heldMilliseconds: Int64, runtimeMilliseconds: Int64, wasTerminated: Bool) {
            self.heldMilliseconds = heldMilliseconds
            self.runtimeMilliseconds = runtimeMilliseconds
            self.wasTerminated = wasTerminated
        }
    }

    /// An outcome without its values, numbered for use as an index.
    public enum Kind: Int, Hashable, Sendable, CaseIterable {
        case deliveredNow
        case deliveredAfterHold
        case deliveredInForeground
        case flushedByUser
        case coalescedAtAPNs
        case coalescedOnDevice
        case expired
        case discardedDisabled
        case discardedForceQuit
        case heldOverBudget
        case neverLaunched
        case wrongType
        case lost
        case rejected

        /// The label in facts §6.3.
        public var label: String {
            switch self {
            case .deliveredNow: "delivered-now"
            case .deliveredAfterHold: "delivered-after-hold"
            case .deliveredInForeground: "delivered-in-foreground"
            case .flushedByUser: "flushed-by-user"
            case .coalescedAtAPNs: "coalesced-at-apns"
            case .coalescedOnDevice: "coalesced-on-device"
            case .expired: "expired"
            case .discardedDisabled: "discarded-disabled"
            case .discardedForceQuit: "discarded-force-quit"
            case .heldOverBudget: "held-over-budget"
            case .neverLaunched: "never-launched"
            case .wrongType: "wrong-type"
            case .lost: "lost"
            case .rejected: "rejected"
            }
        }
    }

    /// The label in facts §6.3, without values.
    public var label: String { kind.label }

    /// The outcome without its values.
    public var kind: Kind {
        switch self {
        case .launched(let launch):
            launch.heldMilliseconds == 0 ? .deliveredNow : .deliveredAfterHold
        case .deliveredInForeground(let held):
            held == 0 ? .deliveredInForeground : .flushedByUser
        case .coalescedAtAPNs: .coalescedAtAPNs
        case .coalescedOnDevice: .coalescedOnDevice
        case .expired: .expired
        case .discardedDisabled: .discardedDisabled
        case .discardedForceQuit: .discardedForceQuit
        case .heldOverBudget: .heldOverBudget
        case .neverLaunched: .neverLaunched
        case .wrongType: .wrongType
        case .lost: .lost
        case .rejected: .rejected
        }
    }

    /// Whether the push launched the app or reached it in the foreground.
    public var reachedApp: Bool {
        switch self {
        case .launched, .deliveredInForeground: true
        default: false
        }
    }
}
