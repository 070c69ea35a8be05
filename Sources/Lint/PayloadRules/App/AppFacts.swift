// SPDX-License-Identifier: Apache-2.0

/// The facts about an app and its extensions in one build configuration, and about the pushes of
/// the server. ``AppRules`` evaluates them.
public struct AppFacts: Hashable, Sendable {
    /// The server's pushes; empty if not specified.
    public var sends: Set<ServerPush>
    /// The storefronts that the app is offered in, by ISO 3166-1 alpha-3 code; empty if not
    /// specified.
    public var storefronts: Set<String>
    /// The name of the build configuration, such as `Release`; `nil` if there is none.
    public var configuration: String?
    /// The app and its embedded bundles.
    public var bundles: [Bundle]

    /// Creates facts.
    public init(
        sends: Set<ServerPush> = [], storefronts: Set<String> = [], configuration: String? = nil,
        bundles: [Bundle]
    ) {
        self.sends = sends
        self.storefronts = storefronts
        self.configuration = configuration
        self.bundles = bundles
    }

    /// The pushes that the server sends to a bundle. An app inside another one, such as a watch app
    /// or an App Clip, gets none unless specified; an extension gets those of its app.
    func pushes(to bundle: Bundle) -> Set<ServerPush> {
        if let own = bundle.sends { return own }
        if bundle.role == .app { return bundle.host == nil ? sends : [] }
        return host(of: bundle)?.sends ?? sends
    }

    /// Whether the server sends such pushes to this app.
    func sends(_ push: ServerPush, to app: Bundle) -> Bool { pushes(to: app).contains(push) }

    /// Whether silent pushes are intended for an app: the server sends them; if its pushes are not
    /// specified, the modes include them.
    func wantsSilentPushes(_ app: Bundle) -> Bool {
        let pushes = pushes(to: app)
        return pushes.isEmpty
            ? app.mode(.remoteNotification) != nil : pushes.contains(.background)
    }

    /// The apps, without extensions and other bundles.
    var apps: [Bundle] { bundles.filter { $0.role == .app } }

    /// The bundle that contains another one, if it is known.
    func host(of bundle: Bundle) -> Bundle? {
        guard let host = bundle.host else { return nil }
        return bundles.first { $0.name == host }
    }

    /// The bundles embedded in an app. If hosts are unknown, all are.
    func extensions(of app: Bundle) -> [Bundle] {
        bundles.filter { $0.role == .appExtension && ($0.host == nil || $0.host == app.name) }
    }
}

/// A platform of a bundle.
public enum AppPlatform: String, Hashable, Sendable, CaseIterable {
    case iOS
    case macOS
    case tvOS
    case watchOS
    case visionOS
}

/// A version of an operating system, as in a deployment target.
public struct SystemVersion: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The major version.
    public var major: Int
    /// The minor version; 0 if it is omitted.
    public var minor: Int

    /// Creates a version.
    public init(_ major: Int, _ minor: Int = 0) {
        self.major = major
        self.minor = minor
    }

    /// Parses `26`, `26.4` or `26.4.1`; `nil` for other text.
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

    /// The version as in a deployment target.
    public var description: String { "\(major).\(minor)" }
}
