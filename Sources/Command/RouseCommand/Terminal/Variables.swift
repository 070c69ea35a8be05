// SPDX-License-Identifier: Apache-2.0

import CProcess

/// The environment variables that Rouse reads. They override a configuration file, and the options
/// of the command line override them.
enum Variable: String, CaseIterable, Sendable {
    /// The signing key itself, as PEM text. Secret.
    case key = "ROUSE_KEY"
    /// The signing key's file.
    case keyFile = "ROUSE_KEY_FILE"
    /// The signing key's id.
    case keyID = "ROUSE_KEY_ID"
    /// The team's id.
    case teamID = "ROUSE_TEAM_ID"
    /// A certificate's file in PEM.
    case certificate = "ROUSE_CERT"
    /// The certificate's key, in PEM.
    case certificateKey = "ROUSE_CERT_KEY"
    /// A PKCS#12 archive.
    case pkcs12 = "ROUSE_P12"
    /// What decrypts the certificate's key or the archive. Secret.
    case certificatePassword = "ROUSE_CERT_PASSWORD"
    /// The app's bundle id.
    case bundleID = "ROUSE_BUNDLE_ID"
    /// `production` or `sandbox`.
    case environment = "ROUSE_ENVIRONMENT"
    /// The configuration file.
    case configuration = "ROUSE_CONFIG"
    /// Where the gateway listens.
    case listen = "ROUSE_LISTEN"
    /// The gateway's store.
    case store = "ROUSE_STORE"
    /// What the gateway's answers wait for.
    case storeDurability = "ROUSE_STORE_DURABILITY"
    /// The gateway's file of API keys.
    case keysFile = "ROUSE_KEYS_FILE"
    /// The certificate chain of the gateway's listener.
    case tlsCertificate = "ROUSE_TLS_CERTIFICATE"
    /// The key of the gateway's listener.
    case tlsKey = "ROUSE_TLS_KEY"
    /// What signs the gateway's webhooks. Secret.
    case webhookSecret = "ROUSE_WEBHOOK_SECRET"
    /// The gateway that client commands ask.
    case gateway = "ROUSE_GATEWAY"
    /// The API key that client commands show. Secret.
    case apiKey = "ROUSE_API_KEY"
    /// The file with the API key that client commands show.
    case apiKeyFile = "ROUSE_API_KEY_FILE"
    /// The gateway's log level.
    case logLevel = "ROUSE_LOG_LEVEL"
    /// How the gateway's log is written.
    case logFormat = "ROUSE_LOG_FORMAT"
    /// The API key that a simulator's devices send with their receipts. Secret.
    case receiptsKey = "ROUSE_RECEIPTS_KEY"

    /// Those that apply to a gateway with a configuration file without overriding a key of it.
    static let ofFile: [Variable] = [.configuration, .webhookSecret]

    /// What it is, in words for the documentation.
    var meaning: String {
        switch self {
        case .key: "The signing key itself, as the text of its .p8 file."
        case .keyFile: "The signing key's file."
        case .keyID: "The signing key's id."
        case .teamID: "The team's id."
        case .certificate: "A push certificate's file, in PEM."
        case .certificateKey: "The push certificate's key, in PEM."
        case .pkcs12: "A PKCS#12 archive of both."
        case .certificatePassword: "What decrypts the certificate's key or the archive."
        case .bundleID: "The app's bundle id."
        case .environment: "`production` or `sandbox`."
        case .configuration: "The configuration file."
        case .listen: "Where the gateway listens; overrides `listen`."
        case .store: "The gateway's store; overrides `store`."
        case .storeDurability: "`disk` or `system`; overrides `store-durability`."
        case .keysFile: "The gateway's file of API keys; overrides `keys-file`."
        case .tlsCertificate:
            "The listener's certificate chain; overrides `tls.certificate-file`."
        case .tlsKey: "The listener's key; overrides `tls.key-file`."
        case .webhookSecret: "What signs webhooks, where there is one endpoint alone."
        case .gateway: "The gateway that `status`, `wake`, `send` and `device` ask."
        case .apiKey: "The API key that they show."
        case .apiKeyFile: "The file with the API key that they show."
        case .logLevel: "The gateway's log level; overrides `log-level`."
        case .logFormat: "How its log is written, `text` or `json`; overrides `log-format`."
        case .receiptsKey: "The API key that a simulator's devices send with their receipts."
        }
    }

    /// Whether its value must not be seen by others. A file keeps a secret better: other processes
    /// of the same user can read an environment.
    var isSecret: Bool {
        switch self {
        case .key, .certificatePassword, .webhookSecret, .apiKey, .receiptsKey: true
        default: false
        }
    }
}

/// A process's environment, as a value.
struct Variables: Sendable {
    private let values: [String: String]

    /// An environment with these values.
    init(_ values: [String: String]) { self.values = values }

    /// This process's environment.
    static var current: Variables {
        var values: [String: String] = [:]
        var place = 0
        // SAFETY: nothing here sets a variable, so the texts, which are terminated, stay; they are
        // copied.
        while let entry = CProcess_variable(place).map({ String(cString: $0) }) {
            let parts = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { values[String(parts[0])] = String(parts[1]) }
            place += 1
        }
        return Variables(values)
    }

    /// The names of those that are set and not empty.
    var names: [String] { values.filter { !$0.value.isEmpty }.map(\.key) }

    /// A variable's value; `nil` when it is not set or empty.
    subscript(name: String) -> String? {
        values[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A variable's value; `nil` when it is not set or empty.
    subscript(variable: Variable) -> String? { self[variable.rawValue] }
}
