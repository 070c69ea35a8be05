// SPDX-License-Identifier: Apache-2.0

extension AppFacts {
    /// An app, or something embedded in one. Whatever is not known is `nil`, and the rules that
    /// need it have nothing to say then.
    public struct Bundle: Hashable, Sendable {
        /// What a bundle is.
        public enum Role: Hashable, Sendable {
            case app
            case appExtension
            /// A framework, or a kind that cannot be determined.
            case other
        }

        /// The target's name, or another that identifies the bundle to a reader.
        public var name: String?
        /// What the bundle is.
        public var role: Role
        /// What it runs on.
        public var platform: AppPlatform?
        /// Its identifier, with all build settings put in.
        public var identifier: Located<String>?
        /// The oldest system that it runs on.
        public var deploymentTarget: Located<SystemVersion>?
        /// Its Info.plist, with the keys that Xcode generates.
        public var info: AppProperties?
        /// Its entitlements.
        public var entitlements: Entitlements
        /// The name of the bundle that it is embedded in.
        public var host: String?
        /// Whether it is signed for users (App Store, TestFlight, Ad Hoc) and not for a debugger.
        public var isExported: Bool
        /// What its source text says.
        public var sources: Sources?
        /// What the server sends to it, where that was said of it; otherwise what is said of all.
        public var sends: Set<ServerPush>?
        /// Whether that is taken from the bundle being the only app, which shows no sign of pushes.
        /// What rests on it is at most a warning.
        public var isOnlyAssumed = false
        /// Whether a generator that was not read may add to the bundle's files. What is found is at
        /// most a warning then.
        public var mayBeIncomplete = false

        /// Spells out what is known of a bundle.
        public init(
            name: String? = nil, role: Role = .app, platform: AppPlatform? = nil,
            identifier: Located<String>? = nil, deploymentTarget: Located<SystemVersion>? = nil,
            info: AppProperties? = nil, entitlements: Entitlements = .unknown,
            host: String? = nil, isExported: Bool = false, sources: Sources? = nil
        ) {
            self.name = name
            self.role = role
            self.platform = platform
            self.identifier = identifier
            self.deploymentTarget = deploymentTarget
            self.info = info
            self.entitlements = entitlements
            self.host = host
            self.isExported = isExported
            self.sources = sources
        }
    }

    /// A bundle's entitlements, as far as they are known.
    public enum Entitlements: Hashable, Sendable {
        /// They were not found.
        case unknown
        /// The bundle has none: its target, whose place this is, names no file.
        case none(AppPlace)
        /// They were read.
        case known(AppProperties)
    }

    /// What source text says.
    public struct Sources: Hashable, Sendable {
        /// What was seen, in the order of files and places.
        public var observations: [SourceObservation]
        /// Whether all of the bundle's source text was read and understood. Without that, nothing
        /// is made of what was not seen.
        public var isComplete: Bool

        /// Collects what was seen.
        public init(_ observations: [SourceObservation], isComplete: Bool = true) {
            self.observations = observations
            self.isComplete = isComplete
        }
    }
}

extension AppFacts.Bundle {
    /// The background modes.
    var modes: [Located<String>] { info?["UIBackgroundModes"]?.strings ?? [] }

    /// A background mode, if the bundle has it.
    func mode(_ mode: BackgroundMode) -> Located<String>? {
        modes.first { $0.value == mode.rawValue }
    }

    /// The place of the modes, or where they belong.
    var modesPlace: AppPlace? { info?["UIBackgroundModes"]?.place ?? info?.place }

    /// The task identifiers that `BGTaskScheduler` may schedule.
    var permittedIdentifiers: [Located<String>] {
        info?["BGTaskSchedulerPermittedIdentifiers"]?.strings ?? []
    }

    /// The kind of extension.
    var extensionPoint: Located<String>? {
        guard let point = info?["NSExtension"]?["NSExtensionPointIdentifier"],
            let text = point.string
        else { return nil }
        return Located(text, at: point.place)
    }

    /// What was seen in source text.
    var observations: [SourceObservation] { sources?.observations ?? [] }

    /// Whether something that was seen is compiled in a build for devices, whatever `#if` is around
    /// it.
    func builds(_ seen: SourceObservation) -> Bool {
        !seen.isConditional || (platform == .iOS && seen.isBuiltForIOS)
    }

    /// Whether something was seen in source text.
    func shows(_ isMeant: (SourceObservation.Subject) -> Bool) -> Bool {
        observations.contains { isMeant($0.subject) }
    }

    /// Whether all source text was read and something was not seen in it.
    func lacks(_ isMeant: (SourceObservation.Subject) -> Bool) -> Bool {
        guard let sources, sources.isComplete else { return false }
        return !sources.observations.contains { isMeant($0.subject) }
    }

    /// An entitlement, as far as it can be determined.
    func entitlement(_ key: String) -> Entitlement {
        switch entitlements {
        case .unknown: .unknown
        case .none(let place): .missing(place)
        case .known(let list): list[key].map(Entitlement.present) ?? .missing(list.place)
        }
    }

    /// The name of the entitlement to push on this platform (Apple, aps-environment).
    var pushEntitlementName: String {
        platform == .macOS ? "com.apple.developer.aps-environment" : "aps-environment"
    }

    /// The entitlement to push. Where the platform is not known, either name will do.
    var pushEntitlement: Entitlement {
        let own = entitlement(pushEntitlementName)
        guard platform == nil, case .missing = own else { return own }
        let other = entitlement("com.apple.developer.aps-environment")
        if case .present = other { return other }
        return own
    }
}

/// One entitlement of a bundle.
enum Entitlement {
    case unknown
    /// It is not there; this is where it should be.
    case missing(AppPlace)
    case present(AppProperty)

    /// Where it should be, when it is certainly not granted: absent, or not true.
    var placeIfNotTrue: AppPlace? {
        switch self {
        case .unknown: nil
        case .missing(let place): place
        case .present(let property): property.isTrue ? nil : property.place
        }
    }
}
