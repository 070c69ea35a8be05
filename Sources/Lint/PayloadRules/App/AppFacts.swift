// SPDX-License-Identifier: Apache-2.0

/// The facts about an app and its extensions in one build configuration, and about the server that
/// pushes to it. ``AppRules`` evaluate it; a reader of the files fills it in.
public struct AppFacts: Hashable, Sendable {
    /// The server's pushes; empty if not specified.
    public var sends: Set<ServerPush>
    /// The storefronts that the app is offered in, by ISO 3166-1 alpha-3 code; empty if not
    /// specified.
    public var storefronts: Set<String>
    /// The build configuration, such as `Release`; `nil` where there is none.
    public var configuration: String?
    /// The app, and whatever is embedded in it.
    public var bundles: [Bundle]

    /// Collects what was found.
    public init(
        sends: Set<ServerPush> = [], storefronts: Set<String> = [], configuration: String? = nil,
        bundles: [Bundle]
    ) {
        self.sends = sends
        self.storefronts = storefronts
        self.configuration = configuration
        self.bundles = bundles
    }

    /// What the server sends to a bundle. An app inside of another one, such as a watch's or a
    /// clip, gets nothing unless that was said; an extension gets what its app does.
    func pushes(to bundle: Bundle) -> Set<ServerPush> {
        if let own = bundle.sends { return own }
        if bundle.role == .app { return bundle.host == nil ? sends : [] }
        return host(of: bundle)?.sends ?? sends
    }

    /// Whether the server sends such pushes to this app.
    func sends(_ push: ServerPush, to app: Bundle) -> Bool { pushes(to: app).contains(push) }

    /// Whether silent pushes are meant to wake an app: the server sends them, or its modes say so.
    func wantsSilentPushes(_ app: Bundle) -> Bool {
        sends(.background, to: app) || app.mode(.remoteNotification) != nil
    }

    /// The apps; extensions and the rest left out.
    var apps: [Bundle] { bundles.filter { $0.role == .app } }

    /// The bundle that another one is embedded in, if it is known.
    func host(of bundle: Bundle) -> Bundle? {
        guard let host = bundle.host else { return nil }
        return bundles.first { $0.name == host }
    }

    /// What is embedded in an app. Where hosts are not known, everything is.
    func extensions(of app: Bundle) -> [Bundle] {
        bundles.filter { $0.role == .appExtension && ($0.host == nil || $0.host == app.name) }
    }
}

/// What a bundle can run on.
public enum AppPlatform: String, Hashable, Sendable, CaseIterable {
    case iOS
    case macOS
    case tvOS
    case watchOS
    case visionOS
}

/// A version of an operating system, as a deployment target names it.
public struct SystemVersion: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The first number.
    public var major: Int
    /// The second number; 0 where it is left out.
    public var minor: Int

    /// Spells out a version.
    public init(_ major: Int, _ minor: Int = 0) {
        self.major = major
        self.minor = minor
    }

    /// Reads `26`, `26.4` or `26.4.1`; `nil` for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.map { Int($0) }
        guard (1...3).contains(parts.count), !numbers.contains(nil), let major = numbers[0] else {
            return nil
        }
        self.init(major, numbers.count > 1 ? numbers[1] ?? 0 : 0)
    }

    /// Orders by age.
    public static func < (left: SystemVersion, right: SystemVersion) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }

    /// As a deployment target writes it.
    public var description: String { "\(major).\(minor)" }
}
