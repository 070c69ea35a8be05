// SPDX-License-Identifier: Apache-2.0

import AdminAPI
import Foundation
import WakeModel

/// The API keys that `rouse keys` keeps: a JSON file beside the store, for its owner only.
///
/// Why a file of its own, and not the YAML or the store: the configuration is written by people and
/// kept in repositories, where a program must not edit it, and keys come and go without a
/// deployment; the store belongs to a running gateway alone, and a new store must not lock every
/// caller out. Keys that a deployment knows beforehand can stand in the YAML instead (`api-keys`).
///
/// It holds digests, never keys. A revoked key stays in it as a record of who made and ended it.
struct KeysFile: Codable, Sendable {
    /// The largest file that is read, in bytes.
    static let maximumByteCount = 4_194_304
    /// The format that this version writes.
    static let formatVersion = 1

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
        /// What it may do.
        var scopes: [String]
        /// How many requests a second it may make; `nil` for the usual rate.
        var requestsPerSecond: Int?
        /// When it was made, in RFC 3339.
        var createdAt: String
        /// Which user of the machine made it.
        var createdBy: String
        /// When it was revoked; `nil` for a key that is taken.
        var revokedAt: String?
        /// Which user of the machine revoked it.
        var revokedBy: String?

        enum CodingKeys: String, CodingKey {
            case name, sha256, scopes
            case requestsPerSecond = "requests_per_second"
            case createdAt = "created_at"
            case createdBy = "created_by"
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
            return try APIKey(name: name, sha256: sha256, scopes: known, rate: rate)
        }
    }

    /// An empty file.
    init() {}

    /// The keys that are taken.
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
    /// whoever can may let himself in.
    init(path: String) throws(CommandFailure) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard errno == ENOENT else {
                throw CommandFailure(
                    .notAllowed,
                    "keys-file (\(path)) cannot be read: \(String(cString: strerror(errno))).")
            }
            self.init()
            return
        }
        guard status.st_mode & 0o022 == 0 else {
            throw CommandFailure(
                .configuration,
                "keys-file (\(path)) can be written by other users. Run: chmod 600 \(path)")
        }
        let bytes = try InputFile.read(path, "keys-file", limit: Self.maximumByteCount)
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(bytes))
        } catch {
            throw CommandFailure(
                .configuration,
                "keys-file (\(path)) is not a file of `rouse keys`. Restore it from a backup, or "
                    + "move it away and create the keys again.")
        }
        guard version == Self.formatVersion else {
            throw CommandFailure(
                .configuration,
                "keys-file (\(path)) is of another version of Rouse (format \(version)).")
        }
        _ = try failing(with: .configuration) { () throws(InvalidField) in try activeKeys() }
    }

    /// Changes a file: nobody else changes it meanwhile, and who reads it sees the old or the new
    /// one in whole, which survives a loss of power.
    static func change<Value>(
        _ path: String, _ body: (inout KeysFile) throws(CommandFailure) -> Value
    ) throws(CommandFailure) -> Value {
        let lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
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
        var file = try KeysFile(path: path)
        let value = try body(&file)
        try file.write(path)
        return value
    }

    private func write(_ path: String) throws(CommandFailure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self) else {
            throw CommandFailure(.bug, "The keys could not be written as JSON.")
        }
        let draft = path + ".new"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.unwritable(path) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try handle.write(contentsOf: data)
            try handle.synchronize()
            try handle.close()
        } catch {
            throw Self.unwritable(path)
        }
        guard rename(draft, path) == 0 else { throw Self.unwritable(path) }
    }

    private static func unwritable(_ path: String) -> CommandFailure {
        CommandFailure(
            .notAllowed,
            "keys-file (\(path)) cannot be written: \(String(cString: strerror(errno))).")
    }
}
