// SPDX-License-Identifier: Apache-2.0

public import WakeModel

extension Rule {
    /// A family of rules: the letters before the number (facts §5.9).
    public enum Family: String, Hashable, Sendable, CaseIterable {
        /// The body as text, and keys and values of every push.
        case generic = "G"
        /// Request headers and path.
        case headers = "H"
        /// Background pushes.
        case background = "BG"
        /// VoIP pushes.
        case voip = "VO"
        /// Alert pushes.
        case alert = "AL"
        /// Live Activity pushes.
        case liveActivity = "LA"
        /// Widget and control pushes.
        case widgets = "WG"
        /// Location pushes.
        case location = "LO"
        /// Push to Talk pushes.
        case pushToTalk = "PT"
        /// File Provider pushes.
        case fileProvider = "FP"
        /// Complication pushes.
        case complication = "CM"
        /// Device management pushes.
        case deviceManagement = "MD"
        /// Provider tokens and keys.
        case authentication = "AU"
        /// Conclusions from APNs' answers.
        case sequence = "SQ"

        /// The family as a heading: "Background pushes".
        public var title: String {
            switch self {
            case .generic: "Generic"
            case .headers: "Headers"
            case .background: "Background pushes"
            case .voip: "VoIP pushes"
            case .alert: "Alert pushes"
            case .liveActivity: "Live Activities"
            case .widgets: "Widgets and controls"
            case .location: "Location pushes"
            case .pushToTalk: "Push to Talk"
            case .fileProvider: "File Provider"
            case .complication: "Complications"
            case .deviceManagement: "Device management"
            case .authentication: "Authentication"
            case .sequence: "Answers of APNs"
            }
        }
    }

    /// The input that a rule requires.
    public enum Requirement: String, Hashable, Sendable, CaseIterable {
        /// A payload and its push type.
        case payload
        /// A payload and headers.
        case headers
        /// Pushes in order of time: a log or a plan.
        case history
    }

    /// The family, by the letters of ``id``.
    public var family: Family {
        let letters = id.rawValue.prefix { !$0.isNumber }
        guard let family = Family(rawValue: String(letters)) else {
            preconditionFailure("The rule \(id) belongs to no family.")
        }
        return family
    }

    /// The push types that the rule applies to, in the order of `PushType.all`; empty for a rule
    /// that applies to all types, including future ones.
    public var pushTypes: [PushType] { scope == .every ? [] : scope.types }

    /// The input that the rule requires.
    public var requirement: Requirement {
        switch sight {
        case .size, .payload: .payload
        case .headers, .draft: .headers
        case .history: .history
        }
    }
}
