// SPDX-License-Identifier: Apache-2.0

import AdminAPI
import FoundationEssentials
import Glibc
import PayloadLint
import WakeModel

/// The API keys that `rouse keys` keeps: a JSON file beside the store, for its owner only.
///
/// Why a file of its own, and not the YAML or the store: the configuration is written by people and
/// kept in repositories, where a program must not edit it, and keys come and go without a
/// deployment; the store belongs to a running gateway alone, and a new store must not lock every
/// caller out. Keys that are fixed by a deployment can be in the YAML instead (`api-keys`).
///
/// It holds digests, never keys. A revoked key stays in it as a record of who made and ended it.
struct KeysFile: Codable, Sendable {
    /// The largest file that is read, in bytes.
    static let maximumByteCount = 4_194_304
    /// The format that this version writes. A gateway without support for `apps` would give such
    /// keys access to all apps, so it must not read them: hence a new number.
    static let formatVersion = 2
    /// The formats that this version reads.
    private static let knownVersions = 1...formatVersion

    /// The format's version.
    var version = Self.formatVersion
    /// All keys that ever were, the oldest first.
    var keys: [Entry] = []

    /// One key.
    struct Entry: Codable, Hashable, Sendable {
        /// The name of the program that uses it.
        var name: String
        /// The SHA-256 of the key, in hexadecimal.
        var sha256: String
        /// The secret before it, while it is still taken.
        var previous: Previous?
        /// What it may do.
        var scopes: [String]
        /// The bundle ids of the apps that it is for; `nil` for all.
        var apps: [String]?
        /// How many requests a second it may make; `nil` for the usual rate.
        var requestsPerSecond: Int?
        /// When it was made, in RFC 3339.
        var createdAt: String
        /// Which user of the machine made it.
        var createdBy: String
        /// From when on it is refused; `nil` for never.
        var expiresAt: String?
        /// When it got its present secret, if not when it was made.
        var rotatedAt: String?
        /// Which user of the machine gave it that.
        var rotatedBy: String?
        /// When it was revoked; `nil` for a key that is taken.
        var revokedAt: String?
        /// Which user of the machine revoked it.
        var revokedBy: String?

        enum CodingKeys: String, CodingKey {
            case name, sha256, previous, scopes, apps
            case requestsPerSecond = "requests_per_second"
            case createdAt = "created_at"
            case createdBy = "created_by"
            case expiresAt = "expires_at"
            case rotatedAt = "rotated_at"
            case rotatedBy = "rotated_by"
            case revokedAt = "revoked_at"
            case revokedBy = "revoked_by"
        }

        /// The key as the API takes it.
        func apiKey() throws(InvalidField) -> APIKey {
            var known: Set<Scope> = []
            for word in scopes {
                guard let scope = Scope(rawValue: word) else {
                    throw InvalidField(
                        field: "scopes of the key \(name)", problem: "holds no scope of Rouse",
                        remedy: "Revoke the key and create it again.")
                }
                known.insert(scope)
            }
            let rate = try requestsPerSecond.map { (number) throws(InvalidField) in
                try RequestRate(perSecond: number)
            }
            return try APIKey(
                name: name, sha256: sha256, scopes: known, apps: try bundleIDs(), rate: rate,
                expiresAt: try instant(expiresAt),
                previous: try previous.map { (previous) throws(InvalidField) in
                    APIKey.PreviousSecret(
                        sha256: previous.sha256, expiresAt: try instant(previous.expiresAt))
                })
        }

        private func bundleIDs() throws(InvalidField) -> Set<BundleID>? {
            guard let apps else { return nil }
            var bundleIDs: Set<BundleID> = []
            for app in apps { bundleIDs.insert(try BundleID(app)) }
            return bundleIDs
        }

        private func instant(_ text: String?) throws(InvalidField) -> WallInstant? {
            guard let text else { return nil }
            guard let instant = WallInstant(timeText: text) else {
                throw InvalidField(
                    field: "expiry of the key \(name)", problem: "is no time",
                    remedy: "Revoke the key and create it again.")
            }
            return instant
        }

        /// Whether its present secret is refused because its time is over.
        func isExpired(at now: WallInstant) -> Bool {
            expiresAt.flatMap { WallInstant(timeText: $0) }.map { $0 <= now } ?? false
        }
    }

    /// A secret that was replaced by another.
    struct Previous: Codable, Hashable, Sendable {
        /// The SHA-256 of the secret, in hexadecimal.
        var sha256: String
        /// From when on it is refused; `nil` for as long as the key is taken.
        var expiresAt: String?

        enum CodingKeys: String, CodingKey {
            case sha256
            case expiresAt = "expires_at"
        }

        /// Whether its time is over.
        func isExpired(at now: WallInstant) -> Bool {
            expiresAt.flatMap { WallInstant(timeText: $0) }.map { $0 <= now } ?? false
        }
    }

    /// An empty file.
    init() {}

    /// The keys that are not revoked, expired ones too.
    func activeKeys() throws(InvalidField) -> [APIKey] {
        var active: [APIKey] = []
        for entry in keys where entry.revokedAt == nil { active.append(try entry.apiKey()) }
        return active
    }

    /// Where the file is unless the configuration says: `keys.json` in the store's folder.
    static func defaultPath(storePath: String) -> String {
        URL(filePath: storePath).deletingLastPathComponent().appending(path: "keys.json")
            .path(percentEncoded: false)
    }
}

extension KeysFile {
    /// Reads a file; one that does not exist is empty. Refuses a file that others can write, since
    /// they could add keys.
    init(path: String) throws(CommandFailure) { self = try Self.ifPresent(at: path) ?? KeysFile() }

    /// The same; `nil` for a file that does not exist.
    static func ifPresent(at path: String) throws(CommandFailure) -> KeysFile? {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOENT else {
                throw CommandFailure(
                    .notAllowed,
                    "keys-file (\(path)) cannot be read: \(String(cString: strerror(errno))).")
            }
            return nil
        }
        let handle = Descriptor(descriptor)
        var status = stat()
        // What was opened, not what lies at the path by now.
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw CommandFailure(.configuration, "keys-file (\(path)) is not a file.")
        }
        guard status.st_mode & 0o022 == 0 else {
            throw CommandFailure(
                .configuration,
                "keys-file (\(path)) can be written by other users. Run: chmod 600 \(path)")
        }
        guard let bytes = handle.read(upTo: maximumByteCount + 1),
            bytes.count <= maximumByteCount,
            let file = try? JSONDecoder().decode(KeysFile.self, from: Data(bytes))
        else {
            throw CommandFailure(
                .configuration,
                "keys-file (\(path)) is not a file of `rouse keys`. Restore it from a backup, or "
                    + "move it away and create the keys again.")
        }
        guard knownVersions.contains(file.version) else {
            throw CommandFailure(
                .configuration,
                "keys-file (\(path)) is of another version of Rouse (format \(file.version)).")
        }
        let keys = try failing(with: .configuration) { () throws(InvalidField) in
            try file.activeKeys()
        }
        if let conflict = APIKey.conflict(among: keys) {
            throw CommandFailure(.configuration, "keys-file (\(path)): \(conflict)")
        }
        return file
    }

    /// Changes a file: no other process changes it meanwhile, and readers see the complete old or
    /// new one, which survives a loss of power. It is changed once `confirm` has returned.
    static func change<Value>(
        _ path: String, _ body: (inout KeysFile) throws(CommandFailure) -> Value,
        after confirm: (Value) throws(CommandFailure) -> Void = { _ in }
    ) throws(CommandFailure) -> Value {
        let lock = open(path + ".lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, OwnerFile.mode)
        guard lock >= 0, flock(lock, LOCK_EX) == 0 else {
            let code = errno
            throw CommandFailure(
                .notAllowed,
                "keys-file (\(path)) cannot be changed: "
                    + (code == ENOENT
                        ? "there is no such folder. Make it, or name another file with --keys-file."
                        : "\(String(cString: strerror(code)))."))
        }
        defer { close(lock) }
        var status = stat()
        guard lstat(path, &status) != 0 || status.st_mode & S_IFMT != S_IFLNK else {
            throw CommandFailure(
                .notAllowed,
                "keys-file (\(path)) is a symbolic link, which a change would replace. Name the "
                    + "file that it leads to.")
        }
        var file = try KeysFile(path: path)
        let value = try body(&file)
        file.version = formatVersion
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(file) else {
            throw CommandFailure(.bug, "The keys could not be written as JSON.")
        }
        try OwnerFile(path, "keys-file").replace(with: Array(data)) { () throws(CommandFailure) in
            try confirm(value)
        }
        return value
    }
}
