// SPDX-License-Identifier: Apache-2.0

import AppAudit
import PayloadLint
import PayloadRules

/// What `rouse audit` needs: where to look, and for what.
struct AuditPlan {
    private var audit: Audit
    private let isStrict: Bool
    private let settings: AuditSettings

    /// Reads what was typed.
    init(_ command: AuditCommand) throws(CommandFailure) {
        settings = try AuditSettings(command.settings, paths: command.paths)
        let configuration = settings.found.configuration
        var sends: Set<ServerPush> = []
        var byTarget: [String: Set<ServerPush>] = [:]
        for value in command.sends {
            // The last equals sign: a target's name may hold one.
            let equals = value.lastIndex(of: "=")
            let names = Self.words([
                equals.map { String(value[value.index(after: $0)...]) } ?? value
            ])
            guard !names.isEmpty else { throw Self.noPush(value) }
            for name in names {
                let push = try Self.push(name)
                guard let equals else {
                    sends.insert(push)
                    continue
                }
                byTarget[String(value[..<equals]), default: []].insert(push)
            }
        }
        var storefronts: Set<String> = []
        for name in Self.words(command.storefront) { storefronts.insert(try Self.storefront(name)) }
        let isSaid = !command.sends.isEmpty
        audit = Audit(
            paths: command.paths, sends: isSaid ? sends : configuration.sends,
            storefronts: storefronts, targets: Set(command.target),
            configurations: Set(command.configuration),
            sendsByTarget: isSaid ? byTarget : configuration.sendsByTarget)
        audit.settings = settings.found
        audit.sendsAreSettings = !isSaid
        isStrict = command.strict
    }

    /// The words of an option that may be given several times, each with a list.
    private static func words(_ values: [String]) -> [String] {
        values.flatMap { $0.split(separator: ",").map(String.init) }
    }

    private static func push(_ name: String) throws(CommandFailure) -> ServerPush {
        if let push = ServerPush(rawValue: name.lowercased()) { return push }
        let known = ServerPush.allCases.map(\.rawValue)
        let meant = Nearest.name(to: name, among: known)
        throw CommandFailure(
            .usage,
            "--sends: `\(name)` is no kind of push. "
                + (meant.map { "Was `\($0)` meant?" }
                    ?? "Known are \(known.joined(separator: ", "))."))
    }

    /// An option that names no push, as one whose variable is not set.
    private static func noPush(_ value: String) -> CommandFailure {
        CommandFailure(
            .usage,
            "--sends: `\(value)` names no push. Known are "
                + ServerPush.allCases.map(\.rawValue).joined(separator: ", ") + ".")
    }

    private static func storefront(_ name: String) throws(CommandFailure) -> String {
        let code = name.uppercased()
        guard CountryCodes.all.contains(code) else {
            throw CommandFailure(
                .usage,
                "--storefront: `\(name)` is the code of no country, as CHN and USA are.")
        }
        return code
    }

    /// Looks, and writes what was found. Returns how the command ends. Throws before it writes.
    func run(_ console: Console, _ format: ReportFormat) throws(CommandFailure) -> ExitStatus {
        let report = try settings.applied(
            to: report(console),
            isPartial: !audit.targets.isEmpty || !audit.configurations.isEmpty, console)
        AuditFindings(
            report, format, isStrict: isStrict, usesColour: console.usesColour
        ).write(to: console)
        settings.tellUnjudged(report, console, format)
        guard report.problems.isEmpty else { return .data }
        let isBad = report.count(.error) > 0 || (isStrict && report.count(.warning) > 0)
        return isBad ? .no : .success
    }

    private func report(_ console: Console) throws(CommandFailure) -> AuditReport {
        let bar = ProgressBar(total: 0, noun: "source files", patience: ProgressBar.patience)
        defer { bar.clear() }
        do throws(AuditFailure) {
            return try audit.report { bar.show($0, of: $1) }
        } catch {
            switch error {
            case .missing(let path):
                throw CommandFailure(
                    .noInput, "There is nothing at \(path.printable). Check the path.")
            case .nothingToAudit:
                throw CommandFailure(
                    .noInput,
                    "The paths hold no Xcode project, Info.plist, entitlements or source text.")
            case .allExcluded:
                throw CommandFailure(
                    .noInput,
                    "The paths hold no Xcode project, Info.plist, entitlements or source text "
                        + "but what the settings exclude.")
            case .noApp(let project):
                throw CommandFailure(
                    .noInput,
                    "\(project) builds no app and no app extension. Name the project that does.")
            case .unknownTarget(let name, let known):
                let option = audit.targets.contains(name) ? "--target" : "--sends"
                throw Self.unknown(option, "target", name, known)
            case .unknownConfiguration(let name, let known):
                throw Self.unknown("--configuration", "build configuration", name, known)
            }
        }
    }

    private static func unknown(
        _ option: String, _ noun: String, _ name: String, _ known: [String]
    ) -> CommandFailure {
        guard !known.isEmpty else {
            return CommandFailure(
                .usage, "\(option): there is no Xcode project with a \(noun) at these paths.")
        }
        return CommandFailure(
            .usage,
            "\(option): no \(noun) is called `\(name)`. There are "
                + known.map { "`\($0)`" }.joined(separator: ", ") + ".")
    }
}
