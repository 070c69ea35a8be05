// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import PayloadLint

extension RouseProgram {
    /// Refuses a command that does not exist, by its name: the parser would say only that an
    /// argument is unexpected, or complain of the next option.
    static func checkCommands(in arguments: [String]) throws(CommandFailure) {
        var command: any ParsableCommand.Type = RootCommand.self
        var path = RootCommand._commandName
        for argument in arguments.dropFirst() {
            let known = command.configuration.subcommands
            guard !known.isEmpty, !argument.hasPrefix("-"), argument != "help" else { return }
            guard let next = known.first(where: { $0._commandName == argument }) else {
                let meant = Nearest.name(to: argument, among: known.map { $0._commandName })
                throw CommandFailure(
                    .usage,
                    "'\(path)' has no command '\(argument.printable)'. "
                        + (meant.map { "Did you mean '\(path) \($0)'?" }
                            ?? "'\(path) --help' lists them."))
            }
            command = next
            path += " " + argument
        }
    }
}
