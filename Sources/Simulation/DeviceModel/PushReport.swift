// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The outcome of one push.
public struct PushReport: Hashable, Sendable {
    /// The push's number.
    public var number: Int
    /// When it was decided.
    public var at: WallInstant
    /// What happened.
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
    /// The app was running in front of its user and took the push, or its user opened it while the
    /// push was held. No budget pays for it.
    case deliveredInForeground(heldMilliseconds: Int64)
    /// Another push took its place in APNs' one slot.
    case coalescedAtAPNs(by: Int)
    /// A newer push took its place in the device's one slot.
    case coalescedOnDevice(by: Int)
    /// Its expiration came while APNs stored it, or it had none to spare and the device could not
    /// be reached.
    case expired
    /// The token is dead, or neither notifications nor background refresh are allowed.
    case discardedDisabled
    /// The user had force-quit the app, or did so while the push was held.
    case discardedForceQuit
    /// It waited on the device until it was too old, because budget or conditions never allowed a
    /// launch.
    case heldOverBudget
    /// The app has no `remote-notification` mode.
    case neverLaunched
    /// It shows something and asks for no launch.
    case wrongType
    /// It vanished on its way.
    case lost
    /// APNs refused it.
    case rejected

    /// One launch in the background.
    public struct Launch: Hashable, Sendable {
        /// How long APNs and the device held the push, in milliseconds; 0 if not at all.
        public var heldMilliseconds: Int64
        /// How long the app ran, in milliseconds.
        public var runtimeMilliseconds: Int64
        /// Whether the system ended the app because its handler never completed.
        public var wasTerminated: Bool

        /// Creates a launch.
        public init(heldMilliseconds: Int64, runtimeMilliseconds: Int64, wasTerminated: Bool) {
            self.heldMilliseconds = heldMilliseconds
            self.runtimeMilliseconds = runtimeMilliseconds
            self.wasTerminated = wasTerminated
        }
    }

    /// The outcome of a push without its figures, numbered for use as an index.
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

        /// The label of facts §6.3.
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

    /// The label of facts §6.3, without the figures.
    public var label: String { kind.label }

    /// This outcome without its figures.
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

    /// Whether the app ran because of it, or had it while it ran.
    public var reachedApp: Bool {
        switch self {
        case .launched, .deliveredInForeground: true
        default: false
        }
    }
}
