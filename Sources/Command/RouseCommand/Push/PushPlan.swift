// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsWire
import ArgumentParser
import PayloadRules
import PushTransport
import WakeModel

/// What `rouse push` needs: everything read, parsed and checked, and nothing sent yet.
struct PushPlan {
    /// The push.
    let push: Push
    /// What the rules found in it.
    let findings: [Diagnostic]
    /// Who sends it.
    let credential: Credential
    /// The server.
    let transport: TransportConfiguration
    /// What carries the push.
    let transportKind: TransportKind
    /// The environment, unless only a host was named.
    let environment: APNsEnvironment?
    /// How long to wait for the answer.
    let timeout: Duration

    /// Reads what was typed. Fails with 65 for a payload that Apple would not honour, unless it is
    /// forced.
    init(_ command: PushCommand, variables: Variables) throws {
        let settings = try AppSettings(command.options, variables: variables)
        let deviceToken = try failing(with: .data) { () throws(InvalidField) in
            try DeviceToken(pasted: command.deviceToken)
        }
        let now = WallInstant.now
        let kind = command.kind
        let id = APNsID.generate()
        let plain = WakeRequest(
            kind: kind, deviceToken: deviceToken, bundleID: try settings.requiredBundleID(),
            payload: try Self.payload(command.payload, kind, id, now),
            expiration: Self.expiration(command.ttl, kind, now),
            collapseID: try failing(with: .usage) { () throws(InvalidField) in
                guard let text = command.collapseID else { return nil }
                return try CollapseID(text)
            })
        let request = try failing(with: .usage) { () throws(InvalidField) in
            try plain.prioritized(command.priority.flatMap { Priority(rawValue: $0) })
        }
        let verdict = WakeValidator().validate(request, now: now)
        findings = verdict.diagnostics
        if case .invalid(let findings) = verdict, !command.force {
            throw PayloadRefusal(findings: findings)
        }
        push = try failing(with: .data) { () throws(InvalidField) in
            try Push.wake(
                kind, to: deviceToken, of: request.bundleID, payload: request.payload,
                priority: request.priority, expiration: request.expiration,
                collapseID: request.collapseID, apnsID: id)
        }
        environment = settings.environment
        transport = try settings.server.transport(for: settings.environment)
        transportKind = settings.server.transportKind
        timeout = .seconds(settings.server.timeoutSeconds)
        credential = try settings.requiredCredential().open(variables)
    }

    /// How long APNs may keep trying: what was typed, else what the kind's pushes are worth.
    private static func expiration(
        _ ttl: Int?, _ kind: WakeKind, _ now: WallInstant
    ) -> Expiration {
        let seconds = ttl.map { Int64($0) } ?? kind.lifetimeSeconds
        return seconds == 0 ? .immediately : .at(now.advanced(bySeconds: seconds))
    }

    /// The payload that was named, or the smallest one of its kind on which no rule remarks.
    private static func payload(
        _ path: String?, _ kind: WakeKind, _ id: APNsID, _ now: WallInstant
    ) throws -> [UInt8] {
        if let path {
            return try InputFile.read(path, "payload", limit: WakeValidator.maximumReadBytes)
        }
        switch kind {
        case .background:
            return Array(#"{"aps":{"content-available":1},"eventId":"\#(id)"}"#.utf8)
        case .voip:
            let call = #""callUUID":"\#(id)","handle":"Rouse test call""#
            return Array("{\(call),\"timestamp\":\(now.secondsSinceEpoch)}".utf8)
        case .alert:
            return Array(#"{"aps":{"alert":{"title":"Rouse","body":"A test push"}}}"#.utf8)
        case .widgets, .controls:
            return Array(#"{"aps":{"content-changed":true}}"#.utf8)
        case .location:
            return Array(#"{"aps":{}}"#.utf8)
        case .liveactivity, .complication, .fileprovider, .mdm, .pushtotalk:
            throw CommandFailure(
                .usage,
                "What a push of type \(kind) has to hold is known to your app and its server "
                    + "alone. Give --payload.")
        }
    }

    /// Sends the push and tells what came of it. Throws the exit code of anything but success.
    func run(console: Console, asJSON: Bool) async throws {
        if !asJSON { PushText(console).announce(self) }
        let reply = try await send()
        if asJSON {
            try console.write(PushDocument(self, reply))
        } else {
            PushText(console).tell(reply, to: push)
        }
        guard reply.status == .success else { throw ExitCode(reply.status.rawValue) }
    }

    private func send() async throws(CommandFailure) -> SingleReply {
        var configuration = APNsClient.Configuration(
            transport: transport, authentication: credential.authentication)
        configuration.transportKind = transportKind
        configuration.pushTimeout = timeout
        return try await SingleReply(to: push, configuration)
    }
}

/// A payload that was not sent because of what the rules found.
struct PayloadRefusal: Error {
    /// All findings.
    let findings: [Diagnostic]

    /// Writes the findings.
    func tell(_ console: Console, asJSON: Bool) throws(CommandFailure) {
        if asJSON {
            try console.write(
                PayloadRefusalDocument(diagnostics: findings.map(FindingDocument.init)))
        } else {
            for finding in findings { PushText(console).say(finding) }
        }
    }
}
