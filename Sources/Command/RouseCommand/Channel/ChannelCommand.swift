// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsWire
public import ArgumentParser
import PushTransport
public import WakeModel

/// `rouse channel`: the broadcast channels of Live Activities.
struct ChannelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channel",
        abstract: "Make, list, read and delete broadcast channels, and send to them.",
        discussion: """
            One broadcast updates a Live Activity for everybody who subscribed to its channel (iOS \
            18). The app needs the broadcast capability, and has up to 10 000 channels in each \
            environment. Asks Apple directly, not a gateway. Ends with 0 when it was done, 1 when \
            APNs refused, 69 when there was no answer.

            Example:

              CHANNEL=$(rouse channel create --storage latest --sandbox \\
                --bundle-id com.example.app --key AuthKey_ABCDE12345.p8 \\
                --team-id TEAM123456)
              rouse channel send "$CHANNEL" --payload update.json --ttl 3600 \\
                --sandbox --bundle-id com.example.app \\
                --key AuthKey_ABCDE12345.p8 --team-id TEAM123456
            """,
        subcommands: [
            ChannelCreateCommand.self, ChannelListCommand.self, ChannelReadCommand.self,
            ChannelDeleteCommand.self, ChannelSendCommand.self,
        ])
}

/// What commands about one channel take.
struct NamedChannelOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The channel's id.", valueName: "channel"))
    var channel: String

    @OptionGroup var options: APNsOptions

    /// Reads what was typed: what to ask with, the channel, and the document that names it.
    func open() throws -> (ChannelSession, ChannelID, ChannelDocument) {
        let session = try ChannelSession(options)
        let channel = try ChannelSession.channel(channel)
        var document = session.document
        document.channel = channel.value
        return (session, channel, document)
    }
}

extension ChannelStorage: ExpressibleByArgument {}

/// `rouse channel create`.
struct ChannelCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a channel and print its id.",
        discussion: """
            The id goes to your app's users, who subscribe with it; it is no secret. Store it with \
            the event that it is for: APNs does not tell channels apart.

            Example:

              rouse channel create --storage latest --sandbox --bundle-id com.example.app \\
                --key AuthKey_ABCDE12345.p8 --team-id TEAM123456
            """)

    @Option(
        help: ArgumentHelp(
            "What APNs keeps for devices that are offline: none, which allows more broadcasts, or "
                + "latest, the last one for up to 8 hours. It cannot be changed.",
            valueName: "policy"))
    var storage: ChannelStorage = .none

    @OptionGroup var options: APNsOptions

    func run() async throws {
        let session = try ChannelSession(options)
        var document = session.document
        document.storage = storage.rawValue
        try await session.run(document) { client, app, document async throws(TransportFailure) in
            try await client.createChannel(of: app, storing: storage).noting(in: &document) {
                $0.channel = $1.value
            }
        } tell: { document, console in
            console.writeRaw((document.channel ?? "").printable + "\n")
        }
    }
}

/// `rouse channel list`.
struct ChannelListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Print the ids of an app's channels, one in a line.",
        discussion: """
            Example:

              rouse channel list --sandbox --bundle-id com.example.app \\
                --key AuthKey_ABCDE12345.p8 --team-id TEAM123456 | wc -l
            """)

    @OptionGroup var options: APNsOptions

    func run() async throws {
        let session = try ChannelSession(options)
        try await session.run { client, app, document async throws(TransportFailure) in
            try await client.channels(of: app).noting(in: &document) {
                $0.channels = $1.map(\.value)
            }
        } tell: { document, console in
            for channel in document.channels ?? [] { console.writeRaw(channel.printable + "\n") }
        }
    }
}

/// `rouse channel read`.
struct ChannelReadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Tell whether a channel exists, and what it stores.",
        discussion: """
            Example:

              rouse channel read "$CHANNEL" --sandbox --bundle-id com.example.app \\
                --key AuthKey_ABCDE12345.p8 --team-id TEAM123456
            """)

    @OptionGroup var options: NamedChannelOptions

    func run() async throws {
        let (session, channel, document) = try options.open()
        try await session.run(document) { client, app, document async throws(TransportFailure) in
            try await client.storage(of: channel, of: app).noting(in: &document) {
                $0.storage = $1.rawValue
            }
        } tell: { document, console in
            console.sayVerbatim("Channel", document.channel ?? "")
            console.say(
                "Storage",
                document.storage == ChannelStorage.latest.rawValue
                    ? "latest: the most recent broadcast, for up to 8 hours"
                    : "none: broadcasts reach devices that are online")
        }
    }
}

/// `rouse channel delete`.
struct ChannelDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a channel, for good.",
        discussion: """
            Devices that subscribed get nothing more. End the Live Activity first: after this no \
            broadcast reaches it.

            Example:

              rouse channel delete "$CHANNEL" --sandbox --bundle-id com.example.app \\
                --key AuthKey_ABCDE12345.p8 --team-id TEAM123456
            """)

    @OptionGroup var options: NamedChannelOptions

    func run() async throws {
        let (session, channel, document) = try options.open()
        try await session.run(document) { client, app, document async throws(TransportFailure) in
            try await client.deleteChannel(channel, of: app).noting(in: &document) { _, _ in }
        } tell: { document, console in
            console.say("Answer", "\(document.status ?? 0): deleted", .good)
        }
    }
}
