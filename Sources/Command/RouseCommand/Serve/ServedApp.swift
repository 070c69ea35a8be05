// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsWire
import Gateway
import PushTransport
import WakeBudget
import WakeModel

/// One app of a gateway with its client's configuration.
struct ServedApp: Sendable {
    /// The app in its environment.
    let identity: AppIdentity
    /// The configuration of its client.
    let client: APNsClient.Configuration
    /// The configuration of its channel client.
    let channels: ChannelClient.Configuration
    /// The identity of a connection, by which apps share it.
    let group: ConnectionGroup
    /// Its wake budget.
    let budget: BudgetPolicy

    /// One server and one credential: what APNs binds a connection to (facts §4.4).
    struct ConnectionGroup: Hashable {
        let host: String
        let port: Int
        let trust: TransportConfiguration.Trust
        let credential: CredentialSource
        /// The values that detect later versions of the credential's files.
        let stamp: FileStamp
        /// All other settings of a connection.
        let settings: ServeConfiguration.TransportSettings
    }

    /// Opens the credentials of all apps. Those with the same key share one source of provider
    /// tokens, because Apple counts token changes for the key; for the same reason `cache` gives
    /// the one of an earlier time where its file is the same.
    static func open(
        _ configuration: ServeConfiguration, _ variables: Variables,
        _ cache: CredentialCache = CredentialCache()
    ) throws(CommandFailure) -> [ServedApp] {
        try refuseTwoFilesForOneKey(configuration.apps)
        var apps: [ServedApp] = []
        for app in configuration.apps {
            let (credential, stamp) = try cache.open(app.credential, variables)
            let transport = try transport(app, configuration.transport)
            var client = APNsClient.Configuration(
                transport: transport, authentication: credential.authentication)
            client.transportKind = configuration.transport.kind
            client.pushTimeout = .seconds(configuration.transport.pushTimeoutSeconds)
            var channels = ChannelClient.Configuration(
                transport: transport, managedBy: app.server == nil ? app.environment : nil,
                authentication: credential.authentication)
            channels.transportKind = client.transportKind
            channels.timeout = client.pushTimeout
            apps.append(
                ServedApp(
                    identity: AppIdentity(bundleID: app.bundleID, environment: app.environment),
                    client: client, channels: channels,
                    group: ConnectionGroup(
                        host: transport.host, port: transport.port, trust: transport.trust,
                        credential: app.credential, stamp: stamp,
                        settings: configuration.transport),
                    budget: app.budget))
        }
        return apps
    }

    /// Two spellings of one key's place would be two sources of tokens for it.
    static func refuseTwoFilesForOneKey(
        _ apps: [ServeConfiguration.App]
    ) throws(CommandFailure) {
        var sources: [[DeveloperID]: CredentialSource] = [:]
        for app in apps {
            guard case .key(_, let keyID, let teamID) = app.credential else { continue }
            let known = sources.updateValue(app.credential, forKey: [teamID, keyID])
            guard known == nil || known == app.credential else {
                throw CommandFailure(
                    .configuration,
                    "Two apps name different files for key \(keyID) of team \(teamID). Write the "
                        + "same key-file for both.")
            }
        }
    }

    /// The transport to an app's server.
    static func transport(
        _ app: ServeConfiguration.App, _ settings: ServeConfiguration.TransportSettings
    ) throws(CommandFailure) -> TransportConfiguration {
        var transport = TransportConfiguration(app.environment)
        transport.port = settings.port
        if let server = app.server {
            transport.host = server.host
            transport.port = server.port
            if let path = server.certificateAuthorityPath {
                try InputFile.checkCertificates(path, "server.ca-file")
                transport.trust = .file(path: path)
            }
        }
        transport.maximumConnections = settings.maximumConnections
        transport.maximumStreamsPerConnection = settings.maximumStreamsPerConnection
        transport.maximumQueued = settings.maximumQueued
        transport.connectTimeout = .seconds(settings.connectTimeoutSeconds)
        transport.maximumConnectionAge = .seconds(settings.connectionAgeSeconds)
        transport.maximumIdleTime = .seconds(settings.connectionIdleSeconds)
        if settings.keepAliveSeconds == 0 {
            transport.keepAlive = nil
        } else {
            transport.keepAlive?.idle = .seconds(settings.keepAliveSeconds)
        }
        transport.proxy = settings.proxy
        // A call whose connection fails is not returned to be claimed again: it waits for the first
        // usable connection until its deadline.
        transport.urgentWaitsForConnection = true
        transport.userAgent = "rouse/\(RouseVersion.current)"
        return transport
    }
}
