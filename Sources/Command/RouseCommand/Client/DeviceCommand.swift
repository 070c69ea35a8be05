// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CurlHTTP
import WakeModel

/// `rouse device`: a device's budget, what waits for it, and why.
struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Show a device's budget, what waits for it, and why.",
        discussion: """
            Answers the question why a wake has not been sent yet. Instead of the token it takes \
            the id of a wake of the device, and the digest that logs and answers have; that one \
            is looked for among all wakes that are kept, the newest first, 5,000 a request. Ends \
            with 1 for a device that the gateway does not know. The API key needs the scope read.

            Example:

              rouse device $DEVICE_TOKEN --gateway unix:/run/rouse/rouse.sock
              rouse device device#27f88cc3
            """)

    @OptionGroup(title: "Gateway")
    var gateway: GatewayOptions

    @Argument(
        help: ArgumentHelp(
            "The device token, in hexadecimal; or its digest, or the id of a wake.",
            valueName: "token"))
    var deviceToken: String

    @Option(help: "Only this app.")
    var bundleID: String?

    @Flag
    var environment: EnvironmentFlag?

    @Flag(help: "Write the gateway's answer, which is JSON.")
    var json = false

    func run() async throws {
        let variables = Variables.current
        let console = Console(variables)
        let client = try GatewayClient(gateway, variables)
        // In a body, which proxies on the way do not log. Nothing in it needs an escape.
        var scope = ""
        if let bundleID {
            let id = try failing(with: .usage) { () throws(InvalidField) in try BundleID(bundleID) }
            scope += #","app":"\#(id.value)""#
        }
        if let environment {
            scope += #","environment":"\#(environment.environment.rawValue)""#
        }
        let name = try name(client, scope)
        let answer = try client.ask(
            "POST", Self.lookUpPath, body: Array("{\(name)\(scope)}".utf8))
        let device = try answer.decoded(DeviceDocument.self)
        if json {
            console.writeRaw(String(decoding: answer.body, as: UTF8.self).printableJSON + "\n")
        } else {
            for queue in device.queues { tell(queue, console) }
        }
    }

    private static let lookUpPath = "/v1/devices/lookup"

    /// The member of the request that names the device; `scope` has those that narrow it.
    private func name(_ client: borrowing GatewayClient, _ scope: String) throws -> String {
        if let id = try? APNsID(deviceToken) { return #""wake":"\#(id)""# }
        guard deviceToken.hasPrefix("device#") else {
            let token = try failing(with: .data) { () throws(InvalidField) in
                try DeviceToken(pasted: deviceToken)
            }
            let name = #""device_token":"\#(token.hex)""#
            // Eight digits are a digest too, where no device has them for its token.
            guard (try? DeviceToken.digest(in: token.hex)) != nil else { return name }
            let answer = try client.answer(
                "POST", Self.lookUpPath, Array("{\(name)\(scope)}".utf8))
            guard answer.status == 404,
                GatewayClient.document(ProblemDocument.self, answer.body)?.code == "not-found"
            else { return name }
            return try self.name(ofWakeWith: token.hex, client, scope)
        }
        let digest = try failing(with: .data) { () throws(InvalidField) in
            try DeviceToken.digest(in: deviceToken)
        }
        return try self.name(ofWakeWith: digest, client, scope)
    }

    /// The member that names a wake, the newest of a device with this digest.
    private func name(
        ofWakeWith digest: String, _ client: borrowing GatewayClient, _ scope: String
    ) throws -> String {
        var cursor = ""
        while true {
            let body = #"{"device":"device#\#(digest)","limit":1\#(scope)\#(cursor)}"#
            let page = try client.ask("POST", "/v1/wakes/lookup", body: Array(body.utf8))
                .decoded(WakePageDocument.self)
            if let wake = page.wakes.first { return #""wake":"\#(wake.id)""# }
            guard let next = page.next else { break }
            cursor = #","cursor":"\#(next)""#
        }
        throw CommandFailure(
            .no,
            "No wake that the gateway keeps is for a device with this digest. Name the device by "
                + "its token.")
    }

    private func tell(_ queue: DeviceDocument.WakeQueueKey, _ console: Console) {
        console.say(
            "Device", "\(queue.device): \(queue.kind) for \(queue.app) (\(queue.environment))")
        if let dead = queue.deadSince { console.say("Dead", "since \(dead), says APNs.", .bad) }
        if let registered = queue.registeredAt { console.say("Registered", registered) }
        if let user = queue.user { console.say("User", user) }
        if let receipt = queue.lastReceiptAt { console.say("Receipt", "the last at \(receipt)") }
        for (index, sentence) in queue.explanation.enumerated() {
            console.say(index == 0 ? "Why" : "", sentence)
        }
        if let pending = queue.pending { console.sayVerbatim("Waiting", WakeText(pending).line) }
        for (index, wake) in queue.recent.enumerated() {
            console.sayVerbatim(index == 0 ? "Recent" : "", WakeText(wake).line)
        }
        if queue.pending == nil, let next = queue.recent.first?.nextStep {
            console.say("Next", next)
        }
    }
}
