// SPDX-License-Identifier: Apache-2.0

import AppAudit
import ArgumentParser
import PayloadLint
import PayloadRules

/// `rouse audit`: does the app's side fit what the server sends?
struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Check an app's project, Info.plist, entitlements and sources for pushes.",
        discussion: """
            Reads Xcode projects with their build settings, Info.plists (XML, binary, generated), \
            entitlements, project.yml of XcodeGen, app.json of Expo, sources in Swift and \
            Objective-C, and the code signatures of built apps. In a folder it finds them by \
            itself; test targets, hidden folders, builds and other people's packages are left \
            out. It builds nothing, runs nothing and changes nothing.

            --sends says what the server pushes. Without it only contradictions inside of the app \
            are found. The nearest .rouse-lint.yaml (or .yml) settles for a team what is asked \
            (select, ignore, severity, exclude, sends, baseline), and a comment \
            `rouse:ignore CF026 reason` ignores a finding: behind code on its line, alone in a \
            line on the next. Source text is read and not compiled: what rests on it alone is at \
            most a warning, except for a task identifier that Info.plist does not permit \
            (CF020) and for a cast of a task that ends the app (CF056).

            Ends with 0 without errors; 1 with errors (or warnings, with --strict); 64 for wrong \
            usage; 65 when a file cannot be understood; 66 when a path does not exist or holds \
            nothing of an app.

            Examples:

              rouse audit --sends background,voip .
              rouse audit --target App --configuration Release --format github App.xcodeproj
              rouse audit --sends App=background,voip --baseline known.json .
              rouse audit --explain CF020
            """)

    @Argument(
        help: ArgumentHelp("Folders, projects, built apps, or single files.", valueName: "path"),
        completion: .file())
    var paths: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            What the server sends to the apps that show a sign of it, or to one target, as \
            App=background,voip, or as ios/App=voip where projects have targets of one name: \
            alert, background, voip, liveactivity, broadcast, location, \
            pushtotalk, widgets, time-sensitive, critical, communication.
            """, valueName: "pushes"), completion: .list(ServerPush.allCases.map(\.rawValue)))
    var sends: [String] = []

    @Option(
        help: ArgumentHelp(
            "The storefronts that the app is offered in, as CHN,USA (ISO 3166-1 alpha-3).",
            valueName: "countries"))
    var storefront: [String] = []

    @Option(help: ArgumentHelp("Look at this target only.", valueName: "name"))
    var target: [String] = []

    @Option(help: ArgumentHelp("Look at this build configuration only.", valueName: "name"))
    var configuration: [String] = []

    @Option(
        help: ArgumentHelp(
            "How findings are written: text, json, github, sarif, junit or gitlab.",
            valueName: "format"))
    var format: ReportFormat = .text

    @Flag(help: "Let warnings count as errors do.")
    var strict = false

    @OptionGroup
    var settings: AuditSettingsOptions

    @Option(
        help: ArgumentHelp("Explain a rule and look at nothing.", valueName: "rule"),
        completion: .list(AppRules.table.map(\.id.rawValue)))
    var explain: String?

    func validate() throws {
        if explain == nil, paths.isEmpty {
            throw ValidationError("Nothing to look at. Name a folder or a file, such as a dot.")
        }
        if explain != nil, !paths.isEmpty {
            throw ValidationError("--explain explains a rule. Leave the paths out.")
        }
    }

    func run() throws {
        let console = Console(.current)
        if let explain {
            try AuditText(console).explain(explain)
            return
        }
        let status: ExitStatus
        do throws(CommandFailure) {
            status = try AuditPlan(self).run(console, format)
        } catch {
            error.write(format, .apps, to: console)
            throw error
        }
        guard status == .success else { throw ExitCode(status.rawValue) }
    }
}
