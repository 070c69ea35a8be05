// SPDX-License-Identifier: Apache-2.0

import APNsWire
import PushTransport
import WakeModel

/// The settings of a command that pushes for an app: options override the environment, which
/// overrides a configuration.
///
/// Made from the options; the only file that is read is the configuration.
struct AppSettings: Sendable {
    /// The app, if one is named.
    let bundleID: BundleID?
    /// Its environment, if one is named.
    let environment: APNsEnvironment?
    /// The place of its credential, if one is named.
    let credential: CredentialSource?
    /// The route to servers.
    let server: ServerSettings
    /// The configuration, if one is named.
    let configuration: ServeConfiguration?

    /// Resolves what was typed. The bundle id and the environment also choose among the
    /// configuration's apps; where several fit, it fails with 64 if one `mustChoose`, and takes
    /// nothing from any of them otherwise.
    init(
        app: AppOptions, credential: CredentialOptions, environment flag: EnvironmentFlag?,
        server: ServerOptions? = nil, variables: Variables, mustChoose: Bool = true
    ) throws(CommandFailure) {
        let configuration = try Self.configuration(app.config, variables)
        let bundleID = try Self.bundleID(app.bundleID, variables)
        let environment = try Self.environment(flag, variables)
        let configured = try configuration.flatMap { (file) throws(CommandFailure) in
            try Self.choose(from: file, bundleID, environment, mustChoose: mustChoose)
        }
        self.configuration = configuration
        self.bundleID = bundleID ?? configured?.bundleID
        self.environment = environment ?? configured?.environment
        self.credential = try CredentialLayers(
            options: credential, variables: variables, configured: configured?.credential
        ).source()
        self.server = try ServerSettings(server, configured: configured, configuration)
    }

    /// Resolves the options of a command that sends requests to APNs.
    init(
        _ options: APNsOptions, variables: Variables, mustChoose: Bool = true
    ) throws(CommandFailure) {
        try self.init(
            app: options.app, credential: options.credential, environment: options.environment,
            server: options.server, variables: variables, mustChoose: mustChoose)
    }

    /// The app. Fails with 64 when none is named.
    func requiredBundleID() throws(CommandFailure) -> BundleID {
        guard let bundleID else {
            throw CommandFailure(
                .usage,
                "No app is named. Give --bundle-id, \(Variable.bundleID.rawValue) or --config.")
        }
        return bundleID
    }

    /// The credential's place. Fails with 64 when none is named.
    func requiredCredential() throws(CommandFailure) -> CredentialSource {
        guard let credential else {
            throw CommandFailure(
                .usage,
                "No key is named. Give --key and --team-id (or \(Variable.keyFile.rawValue) and "
                    + "\(Variable.teamID.rawValue)), --cert and --cert-key, --p12, or --config.")
        }
        return credential
    }

    private static func configuration(
        _ path: String?, _ variables: Variables
    ) throws(CommandFailure) -> ServeConfiguration? {
        guard let path = path ?? variables[.configuration] else { return nil }
        return try ServeConfiguration(path: path, variables: variables)
    }

    private static func bundleID(
        _ text: String?, _ variables: Variables
    ) throws(CommandFailure) -> BundleID? {
        guard let text = text ?? variables[.bundleID] else { return nil }
        return try failing(with: .usage) { () throws(InvalidField) in try BundleID(text) }
    }

    private static func environment(
        _ flag: EnvironmentFlag?, _ variables: Variables
    ) throws(CommandFailure) -> APNsEnvironment? {
        if let flag { return flag.environment }
        guard let text = variables[.environment] else { return nil }
        guard let environment = APNsEnvironment(rawValue: text) else {
            throw CommandFailure(
                .usage, "\(Variable.environment.rawValue) is neither production nor sandbox.")
        }
        return environment
    }

    /// The one app of a configuration that fits.
    private static func choose(
        from configuration: ServeConfiguration, _ bundleID: BundleID?,
        _ environment: APNsEnvironment?, mustChoose: Bool
    ) throws(CommandFailure) -> ServeConfiguration.App? {
        let fitting = configuration.apps.filter {
            ($0.bundleID == bundleID || bundleID == nil)
                && ($0.environment == environment || environment == nil)
        }
        guard fitting.count > 1 else { return fitting.first }
        guard mustChoose else { return nil }
        // One app in both environments still determines the credential; two apps do not.
        let apps = Set(fitting.map(\.bundleID))
        guard apps.count == 1 else {
            throw CommandFailure(
                .usage,
                "The configuration has several apps that fit. Choose one with --bundle-id: "
                    + apps.map(\.value).sorted().joined(separator: ", ") + ".")
        }
        throw CommandFailure(
            .usage,
            "The configuration has \(fitting[0].bundleID) for both environments. Choose one with "
                + "--production or --sandbox.")
    }
}
