// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsWire
import ArgumentParser
import PushTransport
import WakeModel

/// What a command about channels works with: everything read, parsed and checked, and nothing sent.
struct ChannelSession {
    let console: Console
    /// The app.
    let app: BundleID
    /// Who asks.
    let credential: Credential
    private let environment: APNsEnvironment?
    private let configuration: ChannelClient.Configuration
    private let asJSON: Bool

    /// Reads what was typed.
    init(_ options: ChannelOptions) throws(CommandFailure) {
        let variables = Variables.current
        console = Console(variables)
        let settings = try AppSettings(
            app: options.app, credential: options.credential, environment: options.environment,
            server: options.server, variables: variables)
        app = try settings.requiredBundleID()
        environment = settings.environment
        let server = settings.server
        credential = try settings.requiredCredential().open(variables)
        var configuration = ChannelClient.Configuration(
            transport: try server.transport(for: settings.environment),
            managedBy: server.host == nil ? settings.environment : nil,
            authentication: credential.authentication)
        configuration.transportKind = server.transportKind
        configuration.timeout = .seconds(server.timeoutSeconds)
        self.configuration = configuration
        asJSON = options.json
    }

    /// A channel's id as it was typed.
    static func channel(_ text: String) throws(CommandFailure) -> ChannelID {
        try failing(with: .data) { () throws(InvalidField) in try ChannelID(text) }
    }

    /// A document with what is known before anything is sent.
    var document: ChannelDocument {
        ChannelDocument(app: app.value, environment: environment?.rawValue)
    }

    /// Asks, and tells what came of it: `tell` for a person, once it was done. Throws the exit code
    /// of anything but success.
    func run(
        _ start: ChannelDocument? = nil,
        _ ask: (ChannelClient, BundleID, inout ChannelDocument) async throws(TransportFailure) ->
            Void,
        tell: (ChannelDocument, Console) -> Void
    ) async throws {
        var document = start ?? document
        let client = ChannelClient(configuration)
        do throws(TransportFailure) {
            try await ask(client, app, &document)
        } catch {
            document.note(error)
        }
        await client.shutDown(gracePeriod: .zero)
        if asJSON {
            try console.write(document)
        } else if document.outcome == .done {
            tell(document, console)
        } else {
            console.say("Answer", document.answer, .bad)
            console.say("Meaning", document.meaning ?? "")
            console.say("Next", document.next ?? "")
        }
        switch document.outcome {
        case .done: return
        case .rejected: throw ExitCode(ExitStatus.no.rawValue)
        case .unanswered: throw ExitCode(ExitStatus.unavailable.rawValue)
        }
    }
}

/// `rouse channel … --json`.
///
/// | Key | Value |
/// |---|---|
/// | `outcome` | `done`, `rejected` or `unanswered` |
/// | `app`, `environment` | the app; no `environment` when only a host was named |
/// | `channel`, `storage` | the channel, and what it stores: `none` or `latest` |
/// | `channels` | `list`: all ids |
/// | `priority`, `expiration`, `payload_bytes` | `send`: what was sent |
/// | `diagnostics` | `send`: what the rules remark |
/// | `request_id` | the `apns-request-id`, to quote to Apple |
/// | `apns_unique_id` | `send`: for the Delivery Log of Apple's console (sandbox) |
/// | `status`, `reason` | APNs' answer; no `reason` when it was done |
/// | `failure`, `certainty` | `unanswered`: what failed, `not-sent` or `unknown` |
/// | `meaning`, `next` | the same in words, and what to do; absent when it was done |
struct ChannelDocument: Encodable {
    /// How it ended.
    enum Outcome: String, Encodable {
        case done
        case rejected
        case unanswered
    }

    var outcome = Outcome.unanswered
    let app: String
    let environment: String?
    var channel: String?
    var storage: String?
    var channels: [String]?
    var priority: Int?
    var expiration: String?
    var payloadBytes: Int?
    var diagnostics: [FindingDocument]?
    var requestId: String?
    var apnsUniqueId: String?
    var status: Int?
    var reason: String?
    var failure: String?
    var certainty: String?
    var meaning: String?
    var next: String?

    /// Describes an app.
    init(app: String, environment: String?) {
        self.app = app
        self.environment = environment
    }

    /// What APNs answered, or that it did not, in a few words.
    var answer: String {
        guard let status else { return "none: \(failure ?? "") (\(certainty ?? ""))" }
        return "\(status) \(reason ?? "without a reason")"
    }

    /// Notes that there was no answer.
    mutating func note(_ error: TransportFailure) {
        outcome = .unanswered
        failure = error.kind.rawValue
        certainty = error.certainty.rawValue
        meaning = error.meaning
        next = error.remedy
    }
}

extension ChannelAnswer {
    /// Notes an answer, and its value where there is one.
    func noting(
        in document: inout ChannelDocument, _ note: (inout ChannelDocument, Value) -> Void
    ) {
        switch self {
        case .done(let value, let receipt):
            document.outcome = .done
            document.status = receipt.status
            document.requestId = receipt.requestID ?? document.requestId
            document.apnsUniqueId = receipt.apnsUniqueID
            note(&document, value)
        case .rejected(let rejection):
            document.outcome = .rejected
            document.status = rejection.status
            document.reason = rejection.reason?.rawValue
            document.requestId = rejection.requestID ?? document.requestId
            document.meaning = rejection.meaning
            document.next = rejection.advice.remedy
        }
    }
}
