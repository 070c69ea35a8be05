// SPDX-License-Identifier: Apache-2.0

/// Why there is no connection to the database, in words for everybody: what libpq says of it names
/// hosts, ports and users, and goes to operators only.
enum DatabaseTrouble: CaseIterable {
    case refusedPassword
    case refusedLogin
    case unknownRoleOrDatabase
    case noListener
    case noAnswer
    case unknownHost
    case untrusted
    case noConnectionLeft
    case startsOrStops
    case onlyStandby
    case noWriterLeft
    case otherTables
    case unreadablePassword
    case other

    /// Reads what libpq, or the pool, says. Servers that speak other languages than English mostly
    /// end up as ``other``.
    init(_ words: String) {
        self =
            Self.allCases.first { trouble in
                trouble.signs.contains { words.contains($0) }
            } ?? .other
    }

    /// By which words it is known. libpq tries several hosts, so several may apply; the first does.
    private var signs: [String] {
        switch self {
        case .refusedPassword: ["password authentication failed", "no password supplied"]
        case .refusedLogin:
            [
                "no pg_hba.conf entry", "is not permitted to log in",
                "permission denied for database", "not currently accepting connections",
            ]
        case .unknownRoleOrDatabase: ["\" does not exist", "no such database", "no such user"]
        case .noListener: ["Connection refused", "No such file or directory"]
        case .noAnswer: ["timeout expired", "timed out", "No route to host", "unreachable"]
        case .unknownHost: ["could not translate host name"]
        case .untrusted: ["certificate", "SSL", "TLS"]
        case .noConnectionLeft: ["too many c", "remaining connection slots", "no more connections"]
        case .startsOrStops: ["starting up", "shutting down", "in recovery mode"]
        case .onlyStandby: ["session is read-only", "not accepting", "is in hot standby mode"]
        case .noWriterLeft: ["writers' slots are taken"]
        case .otherTables: ["tables are of version", "holds no store"]
        case .unreadablePassword: ["password file cannot be read"]
        case .other: []
        }
    }

    /// What is wrong, as a sentence.
    var sentence: String {
        "The database cannot be reached" + (reason.map { ": \($0)." } ?? ".")
    }

    private var reason: String? {
        switch self {
        case .refusedPassword: "it refuses the password"
        case .refusedLogin: "it does not let this gateway in"
        case .unknownRoleOrDatabase: "the role or the database is unknown there"
        case .noListener: "nothing listens at its address"
        case .noAnswer: "it does not answer"
        case .unknownHost: "its host name cannot be resolved"
        case .untrusted: "TLS with it fails"
        case .noConnectionLeft: "it has no connection left"
        case .startsOrStops: "it is starting or shutting down"
        case .onlyStandby:
            "no server there can be written: each is a standby, or default_transaction_read_only "
                + "is on"
        case .noWriterLeft: "too many gateways share it, all writers' slots are taken"
        case .otherTables: "its tables are of another version than this gateway needs"
        case .unreadablePassword: "the file of its password cannot be read"
        case .other: nil
        }
    }
}
