// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WakeModel

/// `rouse push`: one push to one device token.
struct PushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Send one background or VoIP push, and explain Apple's answer.",
        discussion: """
            The payload is checked before it is sent: with errors nothing is sent (65), unless \
            --force asks to see what APNs says to it. Neither key, provider token nor payload is \
            ever shown. Ends with 0 when APNs took the push, 1 when it refused it, 69 when there \
            was no answer.

            Example:

              rouse push --sandbox --bundle-id com.example.app \\
                --key AuthKey_ABCDE12345.p8 --team-id TEAM123456 $DEVICE_TOKEN
            """)

    /// Background or VoIP, as a flag.
    enum KindFlag: String, EnumerableFlag {
        case background
        case voip

        static func help(for value: KindFlag) -> ArgumentHelp? {
            switch value {
            case .background: "A silent push, which wakes the app."
            case .voip: "An incoming call: the phone rings. Takes the PushKit token."
            }
        }
    }

    @Argument(help: ArgumentHelp("The device token, in hexadecimal.", valueName: "token"))
    var deviceToken: String

    @Flag
    var kind: KindFlag = .background

    @Option(
        help: ArgumentHelp(
            "The JSON body, or - for standard input. Without it: a minimal one.",
            valueName: "file"))
    var payload: String?

    @Option(
        help: ArgumentHelp(
            "How long APNs may keep trying; 0 for one attempt. Background: a day; VoIP: 0.",
            valueName: "seconds"))
    var ttl: Int?

    @Option(help: ArgumentHelp("Replaces a waiting push with the same id.", valueName: "id"))
    var collapseID: String?

    @Flag(help: "Send it although the payload has errors.")
    var force = false

    @Flag(help: "Write the result as JSON.")
    var json = false

    @OptionGroup(title: "App")
    var app: AppOptions

    @Flag
    var environment: EnvironmentFlag?

    @OptionGroup(title: "Credential")
    var credential: CredentialOptions

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func validate() throws {
        if let ttl, !(0...2_592_000).contains(ttl) {
            throw ValidationError(
                "--ttl is not between 0 and 2592000 seconds: it counts from now, and APNs keeps "
                    + "a push for 30 days at most.")
        }
        if collapseID != nil, kind == .voip {
            throw ValidationError("--collapse-id does not go with --voip: calls are not merged.")
        }
    }

    func run() async throws {
        let variables = Variables.current
        let console = Console(variables)
        do {
            let plan = try PushPlan(self, variables: variables)
            try await plan.run(console: console, asJSON: json)
        } catch let refusal as PayloadRefusal {
            try refusal.tell(console, asJSON: json)
            throw CommandFailure(
                .data, "Nothing was sent: the payload has errors. --force sends it all the same.")
        }
    }
}
