// SPDX-License-Identifier: Apache-2.0

import AdminAPI
import PayloadLint
import WakeModel

/// `rouse keys create --json` and `rouse keys rotate --json`.
struct CreatedKeyDocument: Encodable {
    /// The key itself, this once.
    let key: String
    let record: KeyDocument
}

/// `rouse keys list --json`.
struct KeyListDocument: Encodable {
    let keys: [KeyDocument]
}

/// One key, without its digests.
struct KeyDocument: Encodable {
    /// Where a key is kept.
    enum Place: String, Encodable {
        /// In the file of `rouse keys`.
        case keysFile = "keys-file"
        /// In `api-keys` of the configuration.
        case configuration
    }

    /// The secret before the present one, while it is known.
    struct Previous: Encodable {
        let expiresAt: String?
        let lastUsedAt: String?
    }

    let name: String
    let place: Place
    let scopes: [String]
    /// The bundle ids of the apps that it is for; absent for all.
    let apps: [String]?
    let requestsPerSecond: Int?
    var createdAt: String?
    var createdBy: String?
    let expiresAt: String?
    var rotatedAt: String?
    var rotatedBy: String?
    var revokedAt: String?
    var revokedBy: String?
    /// When its present secret was used last, to the minute; absent if that is not known.
    let lastUsedAt: String?
    let previous: Previous?

    init(_ entry: KeysFile.Entry, _ uses: KeyUses = KeyUses()) {
        name = entry.name
        place = .keysFile
        scopes = entry.scopes
        apps = entry.apps
        requestsPerSecond = entry.requestsPerSecond
        createdAt = entry.createdAt
        createdBy = entry.createdBy
        expiresAt = entry.expiresAt
        rotatedAt = entry.rotatedAt
        rotatedBy = entry.rotatedBy
        revokedAt = entry.revokedAt
        revokedBy = entry.revokedBy
        lastUsedAt = uses[entry.sha256]
        previous = entry.previous.map {
            Previous(expiresAt: $0.expiresAt, lastUsedAt: uses[$0.sha256])
        }
    }

    init(_ key: ServeConfiguration.NamedKey, _ uses: KeyUses) {
        name = key.name
        place = .configuration
        scopes = key.scopes.map(\.rawValue).sorted()
        apps = key.apps?.map(\.value).sorted()
        requestsPerSecond = key.requestsPerSecond
        expiresAt = key.expiresAt?.description
        lastUsedAt = uses[key.sha256]
        previous = key.previous.map {
            Previous(expiresAt: $0.expiresAt?.description, lastUsedAt: uses[$0.sha256])
        }
    }

    /// Writes the key for a person.
    func say(_ console: Console, at now: WallInstant) {
        let isExpired = expiresAt.flatMap { WallInstant(timeText: $0) }.map { $0 <= now } ?? false
        let state: String
        if let revokedAt {
            state = "revoked \(revokedAt) by \(revokedBy ?? "?")"
        } else if let expiresAt {
            state = isExpired ? "expired \(expiresAt)" : "active until \(expiresAt)"
        } else {
            state = "active"
        }
        var parts = [state, scopes.joined(separator: ", ")]
        parts.append("apps: " + (apps?.joined(separator: ", ") ?? "all"))
        if let requestsPerSecond { parts.append("\(requestsPerSecond) requests/s") }
        parts.append(
            lastUsedAt.map { "last used \($0)" }
                ?? (rotatedAt == nil ? "no use known" : "no use of its new secret known"))
        if let createdAt { parts.append("created \(createdAt) by \(createdBy ?? "?")") }
        if let rotatedAt { parts.append("rotated \(rotatedAt) by \(rotatedBy ?? "?")") }
        if let previous, revokedAt == nil {
            let isOver =
                previous.expiresAt.flatMap { WallInstant(timeText: $0) }.map { $0 <= now } ?? false
            parts.append(
                "the secret before "
                    + (isOver
                        ? "expired \(previous.expiresAt ?? "")"
                        : "is taken "
                            + (previous.expiresAt.map { "until \($0)" } ?? "until it is revoked"))
                    + ", "
                    + (previous.lastUsedAt.map { "last used \($0)" } ?? "no use known"))
        }
        if place == .configuration { parts.append("in api-keys of the configuration") }
        let isTaken = revokedAt == nil && !isExpired
        console.say(name, parts.joined(separator: "; "), isTaken ? .good : nil)
    }
}
