// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsWire
import Gateway
import PushTransport
import WakeModel

/// One app of a gateway with its client's configuration.
struct ServedApp: Sendable {
    /// The app in its environment.
    let identity: AppIdentity
    /// How its client pushes.
    let client: APNsClient.Configuration

    /// Opens the credentials of all apps. Those with the same key share one source of provider
    /// tokens, because Apple counts token changes for the key.
    static func open(
        _ configuration: ServeConfiguration, _ variables: Variables
    ) throws(CommandFailure) -> [ServedApp] {
        var opened: [CredentialSource: Credential] = [:]
        var apps: [ServedApp] = []
        for app in configuration.apps {
            let credential: Credential
            if let shared = opened[app.credential] {
                credential = shared
            } else {
                credential = try app.credential.open(variables)
                opened[app.credential] = credential
            }
            apps.append(
                ServedApp(
                    identity: AppIdentity(bundleID: app.bundleID, environment: app.environment),
                    client: APNsClient.Configuration(
                        transport: try transport(app, configuration.transport),
                        authentication: credential.authentication)))
        }
        return apps
    }

    /// How an app's server is reached.
    static func transport(
        _ app: ServeConfiguration.App, _ settings: ServeConfiguration.TransportSettings
    ) throws(CommandFailure) -> TransportConfiguration {
        var transport = TransportConfiguration(app.environment)
        if let server = app.server {
            transport.host = server.host
            transport.port = server.port
            if let path = server.certificateAuthorityPath {
                try InputFile.check(path, "CA file")
                transport.trust = .file(path: path)
            }
        }
        transport.maximumConnections = settings.maximumConnections
        transport.maximumStreamsPerConnection = settings.maximumStreamsPerConnection
        transport.maximumQueued = settings.maximumQueued
        transport.connectTimeout = .seconds(settings.connectTimeoutSeconds)
        transport.proxy = settings.proxy
        transport.userAgent = "rouse/\(RouseVersion.current)"
        return transport
    }
}
