// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsWire
import ArgumentParser
import WakeModel

/// `rouse token`: prints a provider token, or explains one.
struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Print a provider token for other tools, or explain one with --verify.",
        discussion: """
            A provider token lets whoever has it push for an hour. Apple takes a new one for a \
            key every 20 minutes at most, so keep it for 40 to 55 minutes.

            --verify reads any JWT, from a file or from standard input, names each fault, and ends \
            with 1 if there is one. The JWT itself as an argument is visible to others on the \
            machine. It warns of what APNs takes against the rules. With --key it checks the \
            signature too. Nothing is sent anywhere.

            Examples:

              rouse token --key AuthKey_ABCDE12345.p8 --team-id TEAM123456 |
                sed 's/^/authorization: bearer /' | curl --http2 -H @- ...
              rouse token --verify token.txt
            """)

    @Flag(help: "Explain a JWT instead of printing one.")
    var verify = false

    @Argument(
        help: ArgumentHelp(
            "A file with the JWT to explain, or the JWT; without it, standard input is read.",
            valueName: "file"), completion: .file())
    var jwt: String?

    @Flag(help: "Write the result as JSON.")
    var json = false

    @OptionGroup(title: "Credential")
    var credential: CredentialOptions

    @OptionGroup(title: "App")
    var app: AppOptions

    @Flag
    var environment: EnvironmentFlag?

    func validate() throws {
        if jwt != nil, !verify {
            throw ValidationError("A JWT is given, but nothing to do with it. Add --verify.")
        }
        if credential.cert != nil || credential.pkcs12 != nil {
            throw ValidationError("A certificate signs no provider token. Give --key.")
        }
    }

    func run() async throws {
        let variables = Variables.current
        let console = Console(variables)
        if verify {
            let plan = try TokenCheckPlan(self, variables: variables)
            let status = try plan.run(console, asJSON: json)
            guard status == .success else { throw ExitCode(status.rawValue) }
        } else {
            try mint(variables, console)
        }
    }

    private func mint(_ variables: Variables, _ console: Console) throws {
        let settings = try AppSettings(
            app: app, credential: credential, environment: environment, variables: variables)
        guard case .key(let source, _) = try settings.requiredCredential().open(variables) else {
            throw CommandFailure(.usage, "A certificate signs no provider token. Give --key.")
        }
        let token = source.current()
        if json {
            try console.write(TokenDocument(token, source))
        } else {
            console.say(token.value)
        }
    }
}

/// `rouse token --json`.
///
/// | Key | Value |
/// |---|---|
/// | `token` | the provider token. Secret |
/// | `key_id`, `team_id` | whose it is |
/// | `issued_at`, `expires_at` | RFC 3339; APNs takes it for an hour |
struct TokenDocument: Encodable {
    let token: String
    let keyId: String
    let teamId: String
    let issuedAt: String
    let expiresAt: String

    /// Describes a token.
    init(_ token: ProviderToken, _ source: ProviderTokenSource) {
        self.token = token.value
        keyId = source.keyID.value
        teamId = source.teamID.value
        issuedAt = token.issuedAt.description
        expiresAt = token.issuedAt.advanced(bySeconds: TokenCheck.maximumAgeSeconds).description
    }
}
