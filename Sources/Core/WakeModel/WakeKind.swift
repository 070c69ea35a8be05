// SPDX-License-Identifier: Apache-2.0

/// The kinds of push that a gateway sends, and all that differs between them by Apple's rules: one
/// for each value of `apns-push-type` (facts §2.3).
///
/// The first two wake an app in the background and are what most of this software is about; the
/// others are plain pushes, which iOS delivers by separate rules.
public enum WakeKind: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// A silent push: the system launches the app for up to 30 seconds when it can afford it.
    case background
    /// An incoming call: PushKit launches the app immediately, and the app must report a call.
    case voip
    /// A notification that the user sees or hears.
    case alert
    /// Starts, updates or ends a Live Activity.
    case liveactivity
    /// Asks a Location Push Service Extension where the device is.
    case location
    /// Data for a ClockKit complication; legacy.
    case complication
    /// Notifies a File Provider extension that a container changed.
    case fileprovider
    /// Asks a managed device to contact its MDM server.
    case mdm
    /// Notifies WidgetKit that a widget's content changed.
    case widgets
    /// Notifies the system that a control's content changed.
    case controls
    /// A Push to Talk transmission or service update.
    case pushtotalk

    /// By which rules wakes of a kind are sent to one device.
    public enum Discipline: Hashable, Sendable, CaseIterable {
        /// The budget of background pushes: one wake waits for a device at a time.
        case background
        /// Calls: sent immediately, each once, up to an hourly limit.
        case call
        /// Each push by itself, at a plain rate for each device.
        case plain
    }

    /// By which rules its wakes are sent to one device.
    public var discipline: Discipline {
        switch self {
        case .background: .background
        case .voip: .call
        case .alert, .liveactivity, .location, .complication, .fileprovider, .mdm, .widgets,
            .controls, .pushtotalk:
            .plain
        }
    }

    /// Whether a late push is useless, because it announces a call or speech in progress: it goes
    /// ahead of all others, has a deadline of seconds, and is not stored by APNs.
    public var isImmediate: Bool { self == .voip || self == .pushtotalk }

    /// The value of `apns-push-type`.
    public var pushType: PushType {
        switch self {
        case .background: .background
        case .voip: .voip
        case .alert: .alert
        case .liveactivity: .liveactivity
        case .location: .location
        case .complication: .complication
        case .fileprovider: .fileprovider
        case .mdm: .mdm
        case .widgets: .widgets
        case .controls: .controls
        case .pushtotalk: .pushtotalk
        }
    }

    /// The priority of a push whose request has none: 5 for background (rules BG006–BG008) and for
    /// types that only refresh content, 10 for types a user waits for, which is also APNs' default
    /// without the header.
    public var defaultPriority: Priority {
        switch self {
        case .background, .complication, .fileprovider, .widgets: .powerConsiderate
        case .voip, .alert, .liveactivity, .location, .mdm, .controls, .pushtotalk: .immediate
        }
    }

    /// The priorities that it may have: 5 alone for background, 10 alone for VoIP (VO006) and Push
    /// to Talk (PT001), for others what Apple's text for the type allows.
    public var allowedPriorities: [Priority] {
        switch self {
        case .voip: [.immediate]
        default: pushType.allowedPriorities
        }
    }

    /// The default lifetime of a push, in seconds; 0 for one attempt.
    ///
    /// A day, but: calls and speech are for now, and so are controls in Apple's sample; a question
    /// for the location wants its answer soon; a Live Activity lives for eight hours at most; and a
    /// managed device may be off over a weekend.
    public var lifetimeSeconds: Int64 {
        switch self {
        case .voip, .pushtotalk, .controls: 0
        case .location: 300
        case .liveactivity: 28_800
        case .mdm: 604_800
        case .background, .alert, .complication, .fileprovider, .widgets: 86_400
        }
    }

    /// Whether a push that may have arrived is sent again, with the same `apns-id`: where a
    /// repetition does no harm. A phone must not ring twice, and a user must not see or hear the
    /// same notification twice; alerts with a collapse id are shown as one.
    public func mayRepeat(collapseID: CollapseID?) -> Bool {
        switch self {
        case .voip, .pushtotalk: false
        case .alert: collapseID != nil
        case .background, .liveactivity, .location, .complication, .fileprovider, .mdm, .widgets,
            .controls:
            true
        }
    }

    /// The name, in lower case.
    public var description: String { rawValue }
}

extension WakeKind.Discipline {
    /// How one of its pushes is called in sentences.
    public var noun: String {
        switch self {
        case .background: "wake"
        case .call: "call"
        case .plain: "push"
        }
    }
}
