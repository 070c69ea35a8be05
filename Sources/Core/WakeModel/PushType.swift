// SPDX-License-Identifier: Apache-2.0

/// The value of `apns-push-type` (Apple, "Sending notification requests to APNs"; facts §2.3).
///
/// The known types are static members, and each carries the rules that Apple gives for its topic,
/// priority, payload size and authentication. A type that Apple adds later can be made from its
/// text; it then has no suffix and the general rules.
public struct PushType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The header's value, in lower case.
    public let rawValue: String

    /// Makes a type from the header's value. Nothing is checked: see ``isKnown``.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A notification that the user sees or hears.
    public static let alert = PushType(rawValue: "alert")
    /// A silent push that wakes the app for up to 30 seconds (rules BG001–BG026).
    public static let background = PushType(rawValue: "background")
    /// An incoming call, delivered by PushKit (rules VO001–VO015).
    public static let voip = PushType(rawValue: "voip")
    /// Data for a ClockKit complication; legacy (rule CM001).
    public static let complication = PushType(rawValue: "complication")
    /// Notifies a File Provider extension that a container changed (rule FP001).
    public static let fileprovider = PushType(rawValue: "fileprovider")
    /// Asks a managed device to contact its MDM server (rule MD001).
    public static let mdm = PushType(rawValue: "mdm")
    /// Asks a Location Push Service Extension for the device's location (rules LO001 to LO003).
    public static let location = PushType(rawValue: "location")
    /// Starts, updates or ends a Live Activity (rules LA001–LA008).
    public static let liveactivity = PushType(rawValue: "liveactivity")
    /// A Push to Talk transmission or service update (rules PT001, PT002).
    public static let pushtotalk = PushType(rawValue: "pushtotalk")
    /// Notifies WidgetKit that a widget's content changed (rules WG001, WG002).
    public static let widgets = PushType(rawValue: "widgets")
    /// Notifies the system that a control's content changed (rules WG001, WG002).
    public static let controls = PushType(rawValue: "controls")

    /// Every type of facts §2.3, in its order.
    public static let all: [PushType] = [
        .alert, .background, .voip, .complication, .fileprovider, .mdm, .location, .liveactivity,
        .pushtotalk, .widgets, .controls,
    ]

    /// Whether Apple's documentation lists this type.
    public var isKnown: Bool { Self.all.contains(self) }

    /// What the topic carries after the bundle id: `.voip` for VoIP, empty for alert and
    /// background. MDM has none either: its topic is the push certificate's UID.
    public var topicSuffix: String {
        switch self {
        // First, since most pushes end here.
        case .background, .alert: ""
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .location: ".location-query"
        case .liveactivity: ".push-type.liveactivity"
        case .pushtotalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        default: ""
        }
    }

    /// The largest body APNs takes for this type, in bytes: 5120 for VoIP, 4096 for all others
    /// (Apple, "Generating a remote notification"; rules G003 and VO002).
    public var maximumPayloadBytes: Int { self == .voip ? 5120 : 4096 }

    /// The priorities that Apple's text for this type allows: 5 alone for background, 5 and 10 for
    /// Live Activities, otherwise all three.
    public var allowedPriorities: [Priority] {
        switch self {
        case .background: [.powerConsiderate]
        case .liveactivity, .location: [.immediate, .powerConsiderate]
        case .pushtotalk: [.immediate]
        default: [.immediate, .powerConsiderate, .powerFirst]
        }
    }

    /// Whether APNs takes this type only with a provider token, not with a certificate (rule H019).
    public var requiresProviderToken: Bool {
        switch self {
        case .fileprovider, .location, .liveactivity, .widgets, .controls: true
        default: false
        }
    }

    /// Whether APNs takes this type only with a certificate: MDM's topic is that of the push
    /// certificate (facts §2.3).
    public var requiresCertificate: Bool { self == .mdm }

    /// The header's value.
    public var description: String { rawValue }
}
