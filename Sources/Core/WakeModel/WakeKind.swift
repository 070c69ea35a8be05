// SPDX-License-Identifier: Apache-2.0

/// The two kinds of push that wake an app, and all that differs between them by Apple's rules.
public enum WakeKind: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// A silent push: the system launches the app for up to 30 seconds when it can afford it.
    case background
    /// An incoming call: PushKit launches the app at once, and the app must report a call.
    case voip

    /// The value of `apns-push-type`.
    public var pushType: PushType {
        switch self {
        case .background: .background
        case .voip: .voip
        }
    }

    /// The only priority that fits: 5 for background (rules BG006–BG008), 10 for VoIP (VO006).
    public var priority: Priority {
        switch self {
        case .background: .powerConsiderate
        case .voip: .immediate
        }
    }

    /// The name, in lower case.
    public var description: String { rawValue }
}
