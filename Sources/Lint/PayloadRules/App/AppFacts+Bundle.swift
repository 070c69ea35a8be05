// SPDX-License-Identifier: Apache-2.0

extension AppFacts {
    /// An app, or a bundle embedded in one. Unknown values are `nil`; rules that need them are
    /// skipped.
    public struct Bundle: Hashable, Sendable {
        /// The type of a bundle.
        public enum Role: Hashable, Sendable {
            case app
            case appExtension
            /// A framework, or a bundle of unknown type.
            case other
        }

        /// The name of the target, or another name that identifies the bundle.
        public var name: String?
        /// The type of the bundle.
        public var role: Role
        /// The platform of the bundle.
        public var platform: AppPlatform?
        /// The bundle identifier, with build settings resolved.
        public var identifier: Located<String>?
        /// Whether the app is an App Clip, which does nothing in the background (Apple, "Choosing
        /// the right functionality for your App Clip").
        public var isAppClip = false
        /// The minimum version of the operating system.
        public var deploymentTarget: Located<SystemVersion>?
        /// The Info.plist, with the keys that Xcode generates.
        public var info: AppProperties?
        /// The entitlements.
        public var entitlements: Entitlements
        /// The name of the bundle that contains it.
        public var host: String?
        /// The names of all bundles that contain it, if several do.
        public var hosts: [String] = []
        /// Whether it is signed for distribution (App Store, TestFlight, Ad Hoc), not for
        /// development.
        public var isExported: Bool
        /// The observations in its source text.
        public var sources: Sources?
        /// The pushes that the server sends to this bundle; `nil` for those that it sends to all.
        public var sends: Set<ServerPush>?
        /// Whether ``sends`` is assumed because the bundle is the only app and shows no sign of
        /// pushes. Findings that depend on it are at most warnings.
        public var isOnlyAssumed = false
        /// Those of ``sends`` of which the bundle shows no sign, and that no target was named for.
        /// Findings that depend on them are at most warnings.
        public var sendsWithoutSign: Set<ServerPush> = []
        /// Whether a generator that was not read, or a script of the build, may add to the bundle's
        /// files. Findings are at most warnings then.
        public var mayBeIncomplete = false
        /// Whether a plugin of Expo, or a script of the build, may add other keys to Info.plist.
        public var mayGetKeys = false

        /// Creates a bundle.
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

    /// The entitlements of a bundle.
    public enum Entitlements: Hashable, Sendable {
        /// They were not found.
        case unknown
        /// The bundle has none: its target, at this place, has no entitlements file.
        case none(AppPlace)
        /// They were read.
        case known(AppProperties)
    }

    /// A handler of pushes, and the rules that its text alone does not decide.
    public struct OpenHandler: Hashable, Sendable {
        /// The pushes that it gets; `nil` if it gets background tasks.
        public var push: ServerPush?
        /// Its place.
        public var place: AppPlace
        /// The rules.
        public var rules: Set<RuleID>

        /// Creates a handler.
        public init(push: ServerPush?, place: AppPlace, rules: Set<RuleID>) {
            self.push = push
            self.place = place
            self.rules = rules
        }
    }

    /// The observations in source text.
    public struct Sources: Hashable, Sendable {
        /// The observations, in the order of files and places.
        public var observations: [SourceObservation]
        /// Whether all source text of the bundle itself was read and understood, regardless of
        /// packages and frameworks.
        public var isOwnComplete: Bool
        /// What packages and frameworks may do that were not read.
        public var unread: ModuleUses
        /// The handlers of pushes that leave something to code which was not followed.
        public var openHandlers: [OpenHandler] = []
        /// Whether the code that the system runs at launch is among the source text. Otherwise a
        /// function that nothing calls may still run.
        public var holdsLaunch = true
        /// Where the project asks for background tasks, if the bundle handles any.
        public var backgroundRequests = BackgroundRequests.unknown

        /// Whether the source text names a request for a background task or handles one, or may do
        /// so.
        public var namesTasks = true

        /// Whether each registration of a background task in the project is among them, with a
        /// known identifier.
        public var knowsRegistrations = false

        /// The places of requests for background tasks.
        public enum BackgroundRequests: Hashable, Sendable {
            /// They are not known, or anywhere.
            case unknown
            /// No file of the project makes one.
            case nowhere
            /// All are in handlers of background tasks, or in functions that these alone call.
            case inHandlers
            /// All have one of these identifiers.
            case named(Set<String>)

            /// All requests among some observations, if their identifiers are known.
            public static func named(in observations: [SourceObservation]) -> BackgroundRequests {
                var names: Set<String> = []
                for seen in observations {
                    guard case .requestedTask(let name, _) = seen.subject else { continue }
                    guard let name else { return .unknown }
                    names.insert(name)
                }
                return .named(names)
            }
        }

        /// Creates observations.
        public init(
            _ observations: [SourceObservation], isOwnComplete: Bool = true,
            unread: ModuleUses = []
        ) {
            self.observations = observations
            self.isOwnComplete = isOwnComplete
            self.unread = unread
        }

        /// Whether all source text was read and understood that may do one of some things.
        /// Otherwise the absence of an observation of it has no meaning.
        public func isComplete(of uses: ModuleUses) -> Bool {
            isOwnComplete && unread.isDisjoint(with: uses)
        }
    }
}

extension AppFacts.Bundle {
    /// The background modes.
    var modes: [Located<String>] { info?["UIBackgroundModes"]?.strings ?? [] }

    /// The background mode with its place; `nil` if the bundle does not have it.
    func mode(_ mode: BackgroundMode) -> Located<String>? {
        modes.first { $0.value == mode.rawValue }
    }

    /// The place of the modes, or the place where they belong.
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

    /// The observations in source text.
    var observations: [SourceObservation] { sources?.observations ?? [] }

    /// Whether the platform has background tasks. If it is unknown, it is taken for iOS.
    var hasBackgroundTasks: Bool { platform != .macOS && platform != .watchOS }

    /// Whether the bundle may have background tasks: an App Clip has none.
    var runsBackgroundTasks: Bool { hasBackgroundTasks && !isAppClip }

    /// Whether an observed line of background tasks may be in the app: conditional code is mostly
    /// for iOS.
    func mayRun(_ seen: SourceObservation) -> Bool {
        switch platform {
        case .iOS, nil: true
        case .tvOS, .visionOS: !seen.isConditional
        case .macOS, .watchOS: false
        }
    }

    /// Whether an observed line is compiled for devices, regardless of `#if`.
    func builds(_ seen: SourceObservation) -> Bool {
        !seen.isConditional || (platform == .iOS && seen.isBuiltForIOS)
    }

    /// Whether there is such an observation.
    func shows(_ isMeant: (SourceObservation.Subject) -> Bool) -> Bool {
        observations.contains { isMeant($0.subject) }
    }

    /// The first such observation in code of its own that is built and may run.
    func own(_ subject: SourceObservation.Subject) -> SourceObservation? {
        observations.first {
            $0.subject == subject && !$0.isShared && !$0.isUncalled && builds($0)
        }
    }

    /// Whether all source text was read that may do one of some things, and there is no such
    /// observation.
    func lacks(_ uses: ModuleUses, _ isMeant: (SourceObservation.Subject) -> Bool) -> Bool {
        guard let sources, sources.isComplete(of: uses) else { return false }
        return !sources.observations.contains { isMeant($0.subject) }
    }

    /// Whether the base class of the app delegate may be that of a library which was not read, and
    /// which may do some things.
    func mayDeriveFromLibrary(_ uses: ModuleUses) -> Bool {
        // A base class of the app's own was read.
        sources?.unread.contains(uses) == true && shows { $0 == .derivedDelegate }
            && !shows { $0 == .plainDelegate }
    }

    /// The state of an entitlement.
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

    /// The push entitlement. If the platform is unknown, either name is accepted.
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
    /// Absent; the place is where it should be.
    case missing(AppPlace)
    case present(AppProperty)

    /// The place where it should be if it is certainly not granted: absent or not true.
    var placeIfNotTrue: AppPlace? {
        switch self {
        case .unknown: nil
        case .missing(let place): place
        case .present(let property): property.isTrue ? nil : property.place
        }
    }
}
