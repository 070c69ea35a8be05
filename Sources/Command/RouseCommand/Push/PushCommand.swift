// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
public import WakeModel

/// `rouse push`: one push to one device token.
struct PushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Send one push of any type, and explain Apple's answer.",
        discussion: """
            The payload is checked before it is sent: with errors nothing is sent (65), unless \
            --force asks to see what APNs says to it. Neither key, provider token nor payload is \
            ever shown. Ends with 0 when APNs accepted the push, 1 when it refused it, 69 when \
            there was no answer.

            Example:

              rouse push --sandbox --bundle-id com.example.app \\
                --key AuthKey_ABCDE12345.p8 --team-id TEAM123456 $DEVICE_TOKEN
              rouse push --liveactivity --payload update.json --sandbox \\
                --bundle-id com.example.app --key AuthKey_ABCDE12345.p8 \\
                --team-id TEAM123456 $ACTIVITY_TOKEN
            """)

    @Argument(help: ArgumentHelp("The device token, in hexadecimal.", valueName: "token"))
    var deviceToken: String

    @Flag
    var kind: WakeKind = .background

    @Option(
        help: ArgumentHelp(
            "The JSON body, or - for standard input. Without it: a minimal one.",
            valueName: "file"), completion: .file())
    var payload: String?

    @Option(
        help: ArgumentHelp(
            "How long APNs may keep trying; 0 for one attempt. Background: a day; VoIP: 0.",
            valueName: "seconds"))
    var ttl: Int?

    @Option(
        help: ArgumentHelp(
            "The value of apns-priority, where the push type has several: 10, 5 or 1.",
            valueName: "number"), completion: .list(["10", "5", "1"]))
    var priority: UInt8?

    @Option(help: ArgumentHelp("Replaces a waiting push with the same id.", valueName: "id"))
    var collapseID: String?

    @Flag(help: "Send it although the payload has errors.")
    var force = false

    @OptionGroup var options: APNsOptions

    func validate() throws {
        if let ttl, !(0...2_592_000).contains(ttl) {
            throw ValidationError(
                "--ttl is not between 0 and 2592000 seconds: it counts from now, and APNs keeps "
                    + "a push for 30 days at most.")
        }
        if let priority {
            guard let priority = Priority(rawValue: priority) else {
                throw ValidationError("--priority is not 10, 5 or 1.")
            }
            do throws(InvalidField) {
                try kind.check(priority)
            } catch {
                throw ValidationError("--priority \(error.problem). \(error.remedy)")
            }
        }
        if collapseID != nil, kind == .voip {
            throw ValidationError("--collapse-id does not go with --voip: calls are not merged.")
        }
    }

    func run() async throws {
        let variables = Variables.current
        let console = Console(variables)
        let plan: PushPlan
        do {
            plan = try PushPlan(self, variables: variables)
        } catch let refusal as PayloadRefusal {
            try refusal.tell(console, asJSON: options.json)
            throw CommandFailure(
                .data, "Nothing was sent: the payload has errors. --force sends it all the same.")
        }
        try await plan.run(console: console, asJSON: options.json)
    }
}

extension WakeKind: EnumerableFlag {
    /// What a push of the kind does, and which token it takes where that is not the app's own.
    public static func help(for value: WakeKind) -> ArgumentHelp? {
        switch value {
        case .background: "A silent push, which wakes the app."
        case .voip: "An incoming call: the phone rings. Takes the PushKit token."
        case .alert: "A notification that the user sees or hears."
        case .liveactivity: "A Live Activity. Takes the activity's or its push-to-start token."
        case .location: "Asks for the device's location. Takes the location push token."
        case .complication: "Data for a ClockKit complication. Takes the PushKit token."
        case .fileprovider: "A change for a File Provider. Takes the PushKit token."
        case .mdm: "Asks a managed device to contact its server. Takes a certificate."
        case .widgets: "New content of a widget. Takes the widget's token."
        case .controls: "New content of a control. Takes the control's token."
        case .pushtotalk: "Push to Talk: somebody speaks. Takes the channel's token."
        }
    }
}
