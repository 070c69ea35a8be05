// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import PayloadLint

/// `rouse validate`: checks payloads and requests in files.
struct ValidateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Check push payloads and requests in files, for people and for CI.",
        discussion: """
            Reads payloads (JSON), Xcode's .apns files, request documents (JSON or YAML with \
            headers and payload side by side), requests to Firebase (HTTP v1), Amazon SNS, Azure \
            Notification Hubs, OneSignal, Expo, Braze and PubNub, curl commands in scripts, \
            blocks in pages of Markdown, reStructuredText and AsciiDoc, and JSON lines. \
            What a file is, is told by its content; what a service wraps is judged by what reaches \
            APNs. Of a folder, the .json, .apns, .yaml, .yml, .jsonl and .ndjson files that hold \
            pushes are checked, but no hidden ones and none in node_modules.

            A payload without a push type is judged by what it holds: as background when it has \
            content-available and nothing visible. The source lines of the text format are the \
            only payload values that are ever shown, beside those of --diff.

            Settings come from the nearest .rouse-lint.yaml (or .yml) above each file.

            Ends with 0 without errors; 1 with errors (or warnings, with --strict); 65 when a \
            file is not text; 66 when one does not exist, or folders hold nothing about pushes; \
            64 for wrong usage; 77 without permission; 78 for wrong settings. What can be checked \
            is checked in any case.

            Examples:

              rouse validate Payloads/ 'Fixtures/**/*.apns'
              rouse validate --push-type voip --topic com.example.app.voip call.json
              rouse validate --format sarif Payloads/ > rouse.sarif
              rouse validate --explain BG004
            """)

    @Argument(
        help: ArgumentHelp(
            "Files, folders, patterns such as 'a/**/*.json', or - for standard input.",
            valueName: "path"), completion: .file())
    var paths: [String] = []

    @OptionGroup(title: "Input")
    var input: ValidateInputOptions

    @OptionGroup(title: "Rules")
    var rules: ValidateRuleOptions

    @OptionGroup(title: "Output")
    var output: ValidateOutputOptions

    @OptionGroup(title: "Mending")
    var fixes: ValidateFixOptions

    func validate() throws {
        if rules.explain == nil, paths.isEmpty, input.log == nil {
            throw ValidationError(
                "Nothing to check. Name a file, a folder, or - for standard input.")
        }
        if rules.explain != nil, !paths.isEmpty {
            throw ValidationError(
                "--explain explains a rule and checks nothing. Leave the paths out.")
        }
        if fixes.fix, fixes.diff {
            throw ValidationError("--fix writes files, --diff shows what it would write. Give one.")
        }
        if fixes.unsafeFixes, !fixes.fix, !fixes.diff {
            throw ValidationError("--unsafe-fixes selects fixes. Add --fix or --diff.")
        }
    }

    func run() async throws {
        let console = Console(.current)
        if let id = rules.explain {
            try RuleText(console).explain(id)
            return
        }
        let run: ValidateRun
        do throws(CommandFailure) {
            run = try ValidateRun(self, console: console)
        } catch {
            if !fixes.diff { error.write(output.format, .pushes, to: console) }
            throw error
        }
        try await run.run()
    }
}
