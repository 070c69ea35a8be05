// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import PayloadLint
import WakeModel

/// When the secrets of API keys were used last: a JSON file beside the keys' file, which a running
/// gateway writes, and `rouse keys list` reads. It is not flushed to the disk each time: what a
/// loss of power takes is found out anew.
struct KeyUses: Codable, Sendable {
    /// How long a use is not written down after another, in milliseconds.
    static let resolutionMilliseconds: Int64 = 60_000
    /// How long the use of an unknown secret is kept, because another gateway with the same keys'
    /// file may have its key, in milliseconds: 90 days.
    static let strangerMilliseconds: Int64 = 90 * 86_400_000

    /// The format's version.
    private var version = 1
    /// The last use by the SHA-256 of a secret, both as text.
    private(set) var uses: [String: String] = [:]

    /// None.
    init() {}

    /// Where the file is.
    static func path(forKeysFile path: String) -> String { path + ".used" }

    /// Reads the file beside a keys' file; one that is missing or damaged has none.
    init(besideKeysFile path: String) {
        let limit = KeysFile.maximumByteCount
        guard let bytes = try? InputFile.read(Self.path(forKeysFile: path), "uses", limit: limit),
            let file = try? JSONDecoder().decode(Self.self, from: Data(bytes)), file.version == 1
        else {
            self.init()
            return
        }
        self = file
    }

    /// The last use of a secret, as it was written down.
    subscript(sha256: String) -> String? { uses[sha256.lowercased()] }

    /// Takes over later uses, and drops secrets that are not in `known` and have not been used for
    /// long. Returns whether the file has to be written.
    mutating func merge(_ later: [String: WallInstant], known: Set<String>) -> Bool {
        var isNews = false
        for (digest, instant) in later where known.contains(digest) {
            let written = uses[digest].flatMap { WallInstant(timeText: $0) }
            if let written,
                instant.milliseconds(since: written) < Self.resolutionMilliseconds
            {
                continue
            }
            uses[digest] = instant.description
            isNews = true
        }
        if let now = later.values.max() {
            uses = uses.filter { digest, text in
                known.contains(digest)
                    || WallInstant(timeText: text).map {
                        now.milliseconds(since: $0) < Self.strangerMilliseconds
                    } ?? false
            }
        }
        return isNews
    }

    /// Takes later uses over into the file beside a keys' file. No other gateway writes meanwhile,
    /// so that none erases what another has written. Does not wait for another that writes, which
    /// may be stopped: returns whether the uses are written.
    static func merge(
        _ later: [String: WallInstant], known: Set<String>, besideKeysFile path: String
    ) throws(CommandFailure) -> Bool {
        let lock = open(
            Self.path(forKeysFile: path) + ".lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
            OwnerFile.mode)
        guard lock >= 0 else {
            throw CommandFailure(
                .notAllowed,
                "The record of uses (\(Self.path(forKeysFile: path))) cannot be locked: "
                    + "\(String(cString: strerror(errno))).")
        }
        defer { close(lock) }
        // Where locks do not work, files are still replaced whole.
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else { return false }
        var merged = KeyUses(besideKeysFile: path)
        if merged.merge(later, known: known) { try merged.write(besideKeysFile: path) }
        return true
    }

    /// Writes the file beside a keys' file.
    private func write(besideKeysFile path: String) throws(CommandFailure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self) else {
            throw CommandFailure(.bug, "The uses of keys could not be written as JSON.")
        }
        try OwnerFile(Self.path(forKeysFile: path), "The record of uses")
            .replace(with: Array(data), isDurable: false)
    }
}
