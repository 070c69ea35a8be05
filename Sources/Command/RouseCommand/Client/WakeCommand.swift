// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WakeModel

/// `rouse wake`: the record of one wake.
struct WakeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wake",
        abstract: "Show the outcome of a wake, or cancel it.",
        discussion: """
            Ends with 0 for a wake that was sent or still waits, 1 for one that ended otherwise or \
            that the gateway does not know. The API key needs the scope read, with --cancel wake.

            Example:

              rouse wake 019aa5e2-6c3e-7d6f-8a37-0f5c2f9a1b7c
            """)

    @OptionGroup(title: "Gateway")
    var gateway: GatewayOptions

    @Argument(help: "The wake's id, as the answer to its request gave it.")
    var id: String

    @Flag(help: "Cancel it, if it still waits.")
    var cancel = false

    @Flag(help: "Write the gateway's answer, which is JSON.")
    var json = false

    func run() async throws {
        let variables = Variables.current
        let console = Console(variables)
        guard let id = try? APNsID(self.id) else {
            throw CommandFailure(
                .usage,
                "The wake's id is not a UUID. Write it as the answer to the wake's request gave "
                    + "it, such as 019aa5e2-6c3e-7d6f-8a37-0f5c2f9a1b7c.")
        }
        let client = try GatewayClient(gateway, variables)
        let answer = try client.ask(cancel ? "DELETE" : "GET", "/v1/wakes/\(id)")
        let wake = try answer.decoded(WakeDocument.self)
        if json {
            console.writeRaw(String(decoding: answer.body, as: UTF8.self).printableJSON + "\n")
        } else {
            WakeText(wake).tell(console)
        }
        if !wake.isWell, !cancel { throw ExitCode(ExitStatus.no.rawValue) }
    }
}

extension WakeDocument {
    /// Whether it was sent, or may yet be; by its carrier where it was merged.
    var isWell: Bool {
        switch state {
        case "pending", "claimed", "sent", "superseded": true
        case "coalesced": carrierOutcome.map { $0.state == "sent" } ?? true
        default: false
        }
    }
}

extension WakeDocument {
    /// Where to go on when the app did not run although APNs accepted a silent push; `nil` for
    /// others.
    var nextStep: String? {
        guard kind == "background", state == "sent", launchedAt == nil else { return nil }
        let log =
            outcome?.apnsUniqueId == nil
            ? "" : "The Delivery Log of Apple's console finds the push by its unique id. "
        return "\(log)If the app did not run, 'rouse probe --why' says what can be the cause."
    }
}

/// A wake in words.
struct WakeText {
    private let wake: WakeDocument

    init(_ wake: WakeDocument) { self.wake = wake }

    /// Writes the whole history.
    func tell(_ console: Console) {
        console.sayVerbatim("Wake", wake.id)
        console.say("State", wake.state, wake.isWell ? .good : .bad)
        console.say("App", "\(wake.app) (\(wake.environment)), \(wake.kind), \(wake.device)")
        console.say("Accepted", wake.acceptedAt + (wake.urgency.map { ", \($0)" } ?? ""))
        console.say("Decision", wake.decision.message)
        if let carrier = wake.carriedBy { console.sayVerbatim("Carrier", carrier) }
        if let waiting = wake.waiting {
            for (index, text) in ([waiting.message] + waiting.reasons.map(\.message)).enumerated() {
                console.say(index == 0 ? "Now" : "", text)
            }
            console.say("Deadline", wake.deadline)
        }
        for attempt in wake.attempts {
            let answer = [attempt.status.map { "\($0)" }, attempt.reason, attempt.explanation]
            console.say(
                "Attempt",
                "\(attempt.startedAt): \(attempt.result) "
                    + answer.compactMap { $0 }.joined(separator: " "))
        }
        if let outcome = wake.outcome {
            console.say("Outcome", "\(wake.endedAt ?? ""): \(outcome.explanation)")
            if let id = outcome.apnsUniqueId { console.sayVerbatim("Unique id", id) }
        }
        if let outcome = wake.carrierOutcome {
            console.say("Carried", "\(outcome.state): \(outcome.explanation)")
        }
        if let launched = wake.launchedAt { console.say("Launched", launched, .good) }
        if let next = wake.nextStep { console.say("Next", next) }
    }

    /// The wake in one line.
    var line: String {
        let reason = wake.outcome?.reason.map { " \($0)" } ?? ""
        return "\(wake.acceptedAt) \(wake.state)\(reason) \(wake.id)"
    }
}
