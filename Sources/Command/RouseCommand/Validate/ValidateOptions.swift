// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
public import PayloadLint
import PayloadRules
import WakeModel

/// What is checked, and what payloads are sent as, and requests that name no topic or type.
struct ValidateInputOptions: ParsableArguments {
    /// What an input can be said to be.
    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case payload
        case apns
        case request
        case lines

        var kind: InputKind {
            switch self {
            case .payload: .payload
            case .apns: .apns
            case .request: .request
            case .lines: .lines
            }
        }
    }

    /// The platforms that the rules distinguish.
    enum Target: String, CaseIterable, ExpressibleByArgument {
        case ios
        case watchos
    }

    @Option(help: ArgumentHelp("What every input is, instead of telling it.", valueName: "kind"))
    var kind: Kind?

    @Option(
        help: ArgumentHelp("The apns-push-type that payloads will be sent as.", valueName: "type"),
        completion: .list(PushType.all.map(\.rawValue)))
    var pushType: String?

    @Option(help: ArgumentHelp("The apns-topic that payloads will be sent to.", valueName: "topic"))
    var topic: String?

    @Option(
        help: ArgumentHelp("The apns-priority that payloads will be sent with.", valueName: "n"),
        completion: .list(["10", "5", "1"]))
    var priority: String?

    @Option(
        help: ArgumentHelp("The apns-expiration that payloads will be sent with.", valueName: "n"))
    var expiration: String?

    @Option(help: ArgumentHelp("The platform: ios or watchos.", valueName: "platform"))
    var target: Target = .ios

    @Option(
        help: ArgumentHelp(
            "Judge times as of this one (RFC 3339, or seconds since 1970) instead of now.",
            valueName: "time"))
    var now: String?

    @Option(
        help: ArgumentHelp(
            "A log of sent pushes: JSON lines with time, token, headers and payload. Checks how "
                + "often and how fast they follow each other.", valueName: "file"),
        completion: .file())
    var log: String?
}

/// Which rules are checked.
struct ValidateRuleOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Only these rules or families, as BG004 or BG,H.", valueName: "rules"),
        completion: .list(Rules.table.map(\.id.rawValue)))
    var select: [String] = []

    @Option(
        help: ArgumentHelp("Not these rules or families.", valueName: "rules"),
        completion: .list(Rules.table.map(\.id.rawValue)))
    var ignore: [String] = []

    @Flag(help: "Let warnings count as errors do.")
    var strict = false

    @Option(
        help: ArgumentHelp("Take the settings from this file, for all files.", valueName: "file"),
        completion: .file())
    var config: String?

    @Flag(help: "Look for no .rouse-lint.yaml or .rouse-lint.yml.")
    var noConfig = false

    @OptionGroup
    var baseline: BaselineOptions

    @Option(
        help: ArgumentHelp("Explain a rule and check nothing.", valueName: "rule"),
        completion: .list(Rules.table.map(\.id.rawValue)))
    var explain: String?

    func validate() throws {
        if config != nil, noConfig {
            throw ValidationError("--config names settings, --no-config wants none. Give one.")
        }
    }
}

extension ReportFormat: ExpressibleByArgument {}

/// How findings are written.
struct ValidateOutputOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How findings are written: text, json, github, sarif, junit or gitlab.",
            valueName: "format"))
    var format: ReportFormat = .text

    @Flag(help: "Show no source lines in the text format, and so no payload values.")
    var noSource = false

    @Option(help: ArgumentHelp("How many files are checked at a time.", valueName: "n"))
    var jobs: Int?

    func validate() throws {
        if let jobs, !(1...256).contains(jobs) {
            throw ValidationError("--jobs is not between 1 and 256.")
        }
    }
}

/// The options for fixes.
struct ValidateFixOptions: ParsableArguments {
    @Flag(help: "Fix what has one right answer, and report the rest.")
    var fix = false

    @Flag(help: "Also apply fixes that remove something, such as an alert in a background push.")
    var unsafeFixes = false

    @Flag(help: "Show what --fix would change as a unified diff, and change nothing.")
    var diff = false
}
