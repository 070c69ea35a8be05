// SPDX-License-Identifier: Apache-2.0

internal import CLibpq
internal import Glibc

/// Where the database is and how it is reached, from a URI of libpq.
///
/// What the URI leaves open is set to what a gateway needs: the server that writes, TLS that
/// verifies the server's name unless every host is this machine, and connections that are found
/// broken within seconds. Nothing is set in the startup packet that PgBouncer would refuse: what a
/// session needs beyond that belongs to the role, see ``RoleSetting``.
package struct ConnectionSettings: Sendable {
    /// Why a URI cannot be used, without its password.
    package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// The URI as it may be shown: user, hosts, ports and database, nothing else.
    package let displayName: String
    /// What works and should be otherwise.
    package let warnings: [String]
    /// How many hosts the URI, or the environment, names.
    let hostCount: Int
    /// libpq's options, without the password file's.
    let options: [(keyword: String, value: String)]
    /// A file that holds the password and nothing else, read anew for each connection.
    let passwordFile: String?

    /// Reads a URI. `variable` is an environment variable's value.
    package init(
        uri: String, passwordFile: String? = nil, applicationName: String = "rouse",
        variable: (String) -> String? = { name in getenv(name).map { String(cString: $0) } }
    ) throws(Failure) {
        guard uri.hasPrefix("postgresql://") || uri.hasPrefix("postgres://") else {
            throw Failure(description: "The database's URI must begin with postgresql://.")
        }
        let given = try Self.parse(uri)
        func value(_ keyword: String, _ name: String) -> String? {
            given[keyword] ?? variable(name)
        }
        var options = given
        func setDefault(_ keyword: String, _ name: String, _ value: String) {
            if given[keyword] == nil, variable(name) == nil { options[keyword] = value }
        }
        let hosts = Self.hosts(
            value("host", "PGHOST"), addresses: value("hostaddr", "PGHOSTADDR"))
        hostCount = hosts.count
        let isLocal = hosts.allSatisfy(Self.isLocal)
        setDefault("target_session_attrs", "PGTARGETSESSIONATTRS", "read-write")
        setDefault("connect_timeout", "PGCONNECT_TIMEOUT", "5")
        setDefault("gssencmode", "PGGSSENCMODE", "disable")
        setDefault("application_name", "PGAPPNAME", applicationName)
        // No environment variable sets these.
        setDefault("keepalives_idle", "", "10")
        setDefault("keepalives_interval", "", "5")
        setDefault("keepalives_count", "", "3")
        setDefault("tcp_user_timeout", "", "15000")
        if !isLocal { setDefault("sslmode", "PGSSLMODE", "verify-full") }
        let mode = options["sslmode"] ?? variable("PGSSLMODE")
        if mode == "verify-full" || mode == "verify-ca",
            value("sslrootcert", "PGSSLROOTCERT") == nil,
            let authorities = Self.systemAuthorities(home: variable("HOME"))
        {
            options["sslrootcert"] = authorities
        }
        // Texts are exchanged in one encoding, whatever the database's is.
        options["client_encoding"] = "UTF8"
        self.options = options.sorted { $0.key < $1.key }.map { (keyword: $0.key, value: $0.value) }
        self.passwordFile = passwordFile

        var warnings: [String] = []
        if given["password"] != nil {
            warnings.append(
                "The database's URI holds a password; keep it in a file, or in the one that "
                    + "PGPASSFILE names.")
        }
        if !isLocal, mode != "verify-full" {
            warnings.append(
                "sslmode is \(mode ?? "prefer"), so whoever is between the gateway and the "
                    + "database can read and change everything; use verify-full.")
        }
        self.warnings = warnings
        displayName = Self.displayName(given, hosts: hosts, port: value("port", "PGPORT"))
    }

    // MARK: Parts

    private static func parse(_ uri: String) throws(Failure) -> [String: String] {
        var message: UnsafeMutablePointer<CChar>?
        guard let list = PQconninfoParse(uri, &message) else {
            // libpq quotes the part that it cannot read, and that may be the password.
            var words = message.map { String(cString: $0) } ?? "out of memory"
            PQfreemem(message)
            if uri.contains("@") || uri.contains("password") {
                words = String(words.prefix { $0 != "\"" })
            }
            let trimmed = words.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            throw Failure(description: "The database's URI cannot be read: \(trimmed)")
        }
        defer { PQconninfoFree(list) }
        var given: [String: String] = [:]
        var next = list
        // SAFETY: libpq's list ends with an option without a keyword, and is freed afterwards.
        while let keyword = next.pointee.keyword {
            if let value = next.pointee.val {
                given[String(cString: keyword)] = String(cString: value)
            }
            next += 1
        }
        return given
    }

    /// The hosts of a list; an empty one is the local socket.
    private static func hosts(_ names: String?, addresses: String?) -> [String] {
        let names = split(names)
        let addresses = split(addresses)
        return (0..<max(names.count, addresses.count, 1)).map { index in
            let address = index < addresses.count ? addresses[index] : ""
            return address.isEmpty && index < names.count ? names[index] : address
        }
    }

    private static func split(_ list: String?) -> [String] {
        (list ?? "").split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }

    /// Whether this host is reached without a network: a socket, or a loopback address.
    static func isLocal(_ host: String) -> Bool {
        if host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@") { return true }
        if host.lowercased() == "localhost" || host == "::1" { return true }
        var address = in_addr()
        return inet_pton(AF_INET, host, &address) == 1
            && UInt32(bigEndian: address.s_addr) >> 24 == 127
    }

    /// The system's certificate authorities, unless the user has a file where libpq expects one.
    private static func systemAuthorities(home: String?) -> String? {
        if let home, access("\(home)/.postgresql/root.crt", R_OK) == 0 { return nil }
        let file = "/etc/ssl/certs/ca-certificates.crt"
        return access(file, R_OK) == 0 ? file : nil
    }

    private static func displayName(
        _ given: [String: String], hosts: [String], port: String?
    ) -> String {
        let ports = split(port)
        let places = hosts.enumerated().map { index, host in
            let port = ports.count == 1 ? ports[0] : index < ports.count ? ports[index] : ""
            let name = host.contains(":") ? "[\(host)]" : host
            return port.isEmpty ? name : "\(name):\(port)"
        }
        let user = given["user"].map { "\($0)@" } ?? ""
        let database = given["dbname"].map { "/\($0)" } ?? ""
        return "postgresql://\(user)\(places.joined(separator: ","))\(database)"
    }
}
