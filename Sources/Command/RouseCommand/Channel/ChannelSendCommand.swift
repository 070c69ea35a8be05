// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsWire
import ArgumentParser
import PayloadRules
import PushTransport
import WakeModel

/// `rouse channel send`.
struct ChannelSendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send a broadcast: update or end a Live Activity for all subscribers.",
        discussion: """
            The payload is checked before it is sent: with errors nothing is sent (65), unless \
            --force asks to see what APNs says to it. A broadcast cannot start a Live Activity. \
            Ends with 0 when APNs accepted it; delivery is not confirmed.

            Example:

              rouse channel send "$CHANNEL" --payload update.json --sandbox \\
                --bundle-id com.example.app --key AuthKey_ABCDE12345.p8 --team-id TEAM123456
            """)

    @Argument(help: ArgumentHelp("The channel's id.", valueName: "channel"))
    var channel: String

    @Option(
        help: ArgumentHelp("The JSON body, or - for standard input.", valueName: "file"),
        completion: .file())
    var payload: String

    @Option(
        help: ArgumentHelp(
            "How long APNs may keep it, up to 8 hours; 0, one attempt, for a channel that stores "
                + "nothing.",
            valueName: "seconds"))
    var ttl: Int = 0

    @Option(
        help: ArgumentHelp(
            "The value of apns-priority: 10, or 5, which does not count against the budget.",
            valueName: "number"), completion: .list(["10", "5"]))
    var priority: UInt8 = 10

    @Flag(help: "Send it although the payload has errors.")
    var force = false

    @OptionGroup var options: APNsOptions

    func validate() throws {
        guard (0...Broadcast.maximumLifeSeconds).contains(Int64(ttl)) else {
            throw ValidationError(
                "--ttl is not between 0 and \(Broadcast.maximumLifeSeconds) seconds: it counts "
                    + "from now, and a channel stores a broadcast for 8 hours at most.")
        }
        guard Priority(rawValue: priority).map(Broadcast.priorities.contains) == true else {
            throw ValidationError("--priority is not 10 or 5.")
        }
    }

    func run() async throws {
        let session = try ChannelSession(options)
        let broadcast: Broadcast
        let findings: [Diagnostic]
        do {
            (broadcast, findings) = try prepare(session)
        } catch let refusal as PayloadRefusal {
            try refusal.tell(session.console, asJSON: options.json)
            throw CommandFailure(
                .data, "Nothing was sent: the payload has errors. --force sends it all the same.")
        }
        var document = session.document
        document.channel = broadcast.channel.value
        document.priority = Int(broadcast.priority.rawValue)
        document.expiration = broadcast.expiration.headerValue
        document.payloadBytes = broadcast.payload.count
        document.requestId = broadcast.requestID.description
        document.diagnostics = findings.map(FindingDocument.init)
        if !options.json { announce(broadcast, findings, session) }
        try await session.run(document) { client, _, document async throws(TransportFailure) in
            try await client.send(broadcast).noting(in: &document) { _, _ in }
        } tell: { document, console in
            console.say("Answer", "\(document.status ?? 0): accepted", .good)
            console.say("Meaning", PushOutcome.Acceptance.meaning)
            if let id = document.apnsUniqueId {
                console.say("Next", "Look in the Delivery Log of Apple's console for \(id).")
            }
        }
    }

    private func prepare(
        _ session: ChannelSession
    ) throws -> (Broadcast, [Diagnostic]) {
        let channel = try ChannelSession.channel(channel)
        let bytes = try InputFile.read(
            payload, "payload", limit: WakeValidator.maximumReadBytes)
        let now = WallInstant.now
        let expiration: Expiration =
            ttl == 0 ? .immediately : .at(now.advanced(bySeconds: Int64(ttl)))
        let priority = Priority(rawValue: priority) ?? .immediate
        let findings = PushValidator().report(
            on: PushDraft(
                broadcast: bytes, to: channel, of: session.app, priority: priority,
                expiration: expiration, now: now)
        ).diagnostics
        if !force, findings.contains(where: { $0.severity == .error }) {
            throw PayloadRefusal(findings: findings)
        }
        let broadcast = try failing(with: .data) { () throws(InvalidField) in
            try Broadcast(
                to: channel, of: session.app, payload: bytes, priority: priority,
                expiration: expiration, requestID: .generate())
        }
        return (broadcast, findings)
    }

    private func announce(
        _ broadcast: Broadcast, _ findings: [Diagnostic], _ session: ChannelSession
    ) {
        let console = session.console
        console.sayVerbatim("Channel", broadcast.channel.value)
        console.say(
            "Broadcast",
            "\(broadcast.payload.count) bytes, priority \(broadcast.priority), expiration "
                + broadcast.expiration.headerValue)
        console.say("Request", broadcast.requestID.description)
        console.say("As", session.credential.summary)
        for finding in findings { PushText(console).say(finding) }
    }
}
