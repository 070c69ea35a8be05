// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsWire
import Glibc
import WakeModel

/// What `rouse token --verify` needs: the text, and what to hold it against.
struct TokenCheckPlan {
    /// The most bytes that are read of a JWT; a provider token has about 220.
    static let maximumByteCount = 16_384

    private let text: String
    private let expectation: TokenCheck.Expectation

    /// Reads the JWT, and the key if one is named. The environment's and a configuration's keys are
    /// not used: the token may belong to another key.
    init(_ command: TokenCommand, variables: Variables) throws(CommandFailure) {
        let path = command.credential.key
        expectation = TokenCheck.Expectation(
            key: try path.map { (path) throws(CommandFailure) in
                try CredentialSource.KeyPlace.file(path: path).open(variables)
            },
            keyID: try Self.identifier(
                command.credential.keyID
                    ?? path.flatMap { CredentialSource.KeyPlace.file(path: $0).guessedKeyID },
                "key id"),
            teamID: try Self.identifier(command.credential.teamID, "team id"))
        let place = command.jwt ?? "-"
        text = try Self.text(of: place)
        guard text.contains(where: { !$0.isWhitespace }) else {
            throw CommandFailure(
                .noInput,
                place == "-" ? "No JWT came on standard input." : "The file with the JWT is empty.")
        }
        guard text.utf8.count <= Self.maximumByteCount else {
            throw CommandFailure(
                .data, "This has more than \(Self.maximumByteCount) bytes and is no JWT.")
        }
    }

    /// The text at a place: a file, standard input for `-`, or the JWT itself. What is none of them
    /// is not repeated: it may be a part of one.
    private static func text(of place: String) throws(CommandFailure) -> String {
        if place == "-" || access(place, F_OK) == 0 {
            let bytes = try InputFile.read(place, "JWT", limit: maximumByteCount)
            return String(decoding: bytes, as: UTF8.self)
        }
        // Three parts, or the beginning of a JSON object in Base64.
        guard place.contains("eyJ") || place.split(separator: ".").count == 3 else {
            throw CommandFailure(
                .noInput,
                "The argument of --verify is neither a file nor a JWT, which has three parts with "
                    + "a dot between them. Check the path.")
        }
        return place
    }

    private static func identifier(
        _ text: String?, _ field: String
    ) throws(CommandFailure) -> DeveloperID? {
        guard let text else { return nil }
        return try failing(with: .usage) { () throws(InvalidField) in
            try DeveloperID(text, field: field)
        }
    }

    /// Checks the token and reports its faults.
    func run(_ console: Console, asJSON: Bool) throws(CommandFailure) -> ExitStatus {
        let check = TokenCheck(text, now: WallInstant.now, expecting: expectation)
        if asJSON {
            try console.write(TokenCheckDocument(check))
        } else {
            tell(check, console)
        }
        return check.faults.isEmpty ? .success : .no
    }

    private func tell(_ check: TokenCheck, _ console: Console) {
        if let id = check.keyID { console.say("Key", id) }
        if let id = check.teamID { console.say("Team", id) }
        if let instant = check.issuedAt { console.say("Signed", instant.description) }
        for fault in check.faults {
            console.say(fault.rule ?? "Fault", fault.message, .bad)
            console.say("", fault.fix)
        }
        for warning in check.warnings {
            console.say(warning.rule, warning.message, .doubtful)
            console.say("", warning.fix)
        }
        for note in check.notes { console.say("Note", note) }
        if check.faults.isEmpty {
            let signature =
                check.isSignatureValid == true ? " The signature is this key's." : ""
            if check.warnings.isEmpty {
                console.say("Result", "Sound: no rule finds a fault.\(signature)", .good)
            } else {
                console.say(
                    "Result", "APNs takes it, but it is not what the rules ask for.\(signature)",
                    .doubtful)
            }
        } else {
            let answers = check.faults.map(\.answer.rawValue)
            console.say(
                "Result", "Faulty: APNs answers 403 \(answers.first ?? "").", .bad)
        }
    }
}

/// `rouse token --verify --json`.
///
/// | Key | Value |
/// |---|---|
/// | `sound` | whether there is no fault; there may be warnings |
/// | `key_id`, `team_id`, `issued_at` | what the token says, where it can be read |
/// | `signature_valid` | whether the key given with `--key` signed it |
/// | `faults` | each with `rule` (where one fits), `message`, `fix`, `apns_answer` |
/// | `warnings` | what APNs takes against the rules, each with `rule`, `message`, `fix` |
/// | `notes` | what is worth knowing |
struct TokenCheckDocument: Encodable {
    let sound: Bool
    let keyId: String?
    let teamId: String?
    let issuedAt: String?
    let signatureValid: Bool?
    let faults: [FaultDocument]
    let warnings: [WarningDocument]
    let notes: [String]

    /// One fault.
    struct FaultDocument: Encodable {
        let rule: String?
        let message: String
        let fix: String
        let apnsAnswer: String
    }

    /// One warning.
    struct WarningDocument: Encodable {
        let rule: String
        let message: String
        let fix: String
    }

    /// Describes a check.
    init(_ check: TokenCheck) {
        sound = check.faults.isEmpty
        keyId = check.keyID
        teamId = check.teamID
        issuedAt = check.issuedAt?.description
        signatureValid = check.isSignatureValid
        notes = check.notes
        warnings = check.warnings.map {
            WarningDocument(rule: $0.rule, message: $0.message, fix: $0.fix)
        }
        faults = check.faults.map {
            FaultDocument(
                rule: $0.rule, message: $0.message, fix: $0.fix, apnsAnswer: $0.answer.rawValue)
        }
    }
}
