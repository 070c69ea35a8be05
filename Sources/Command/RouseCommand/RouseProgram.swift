// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CProcess
import Glibc
import Logging
import WakeModel

/// The `rouse` program: reads the command line, runs the command, ends with its status.
public enum RouseProgram {
    /// Runs the command that the process's arguments name, and ends the process.
    ///
    /// Every failure ends in a line on standard error and one of the codes of ``ExitStatus``.
    public static func run() async -> Never {
        // A reload that is asked for before the configuration was read is as good as done, and must
        // not end a gateway that is only just starting. `ServeCommand` listens for it from then on.
        if CommandLine.arguments.dropFirst().first == ServeCommand._commandName {
            signal(SIGHUP, SIG_IGN)
        }
        let console = Console(.current)
        // Any command may hold a key. Where the system refuses it, there is nothing else to do.
        _ = CProcess_refuse_dumps()
        LoggingSystem.bootstrap { StreamLogHandler.standardError(label: $0) }
        do {
            try refuseSecrets(in: CommandLine.arguments)
            try checkCommands(in: CommandLine.arguments)
            var command = try RootCommand.parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            end(console, ExitStatus.success.rawValue)
        } catch let failure as CommandFailure {
            console.complain(failure)
            exit(failure.status.rawValue)
        } catch {
            let code = RootCommand.exitCode(for: error)
            if code == .success {
                // Help, the version, completions: the result of the command.
                console.writeRaw(RootCommand.fullMessage(for: error) + "\n")
                end(console, ExitStatus.success.rawValue)
            }
            if let code = error as? ExitCode { end(console, code.rawValue) }
            guard code == .failure else {
                // The parser repeats what was typed.
                console.remark(RootCommand.fullMessage(for: error))
                exit(code.rawValue)
            }
            // Only its type: what a library writes into an error may hold a path or a secret.
            console.complain(
                CommandFailure(.bug, "An error that Rouse does not know: \(type(of: error))."))
            exit(ExitStatus.bug.rawValue)
        }
    }

    /// Ends the process; a result that could not be written is no result.
    private static func end(_ console: Console, _ code: Int32) -> Never {
        if let failure = StandardOutput.failure {
            console.complain(failure)
            exit(failure.status.rawValue)
        }
        exit(code)
    }

    /// Refuses a key as an argument before the parser sees it, whose errors repeat what was typed.
    private static func refuseSecrets(in arguments: [String]) throws(CommandFailure) {
        guard !arguments.contains(where: { $0.contains("-----BEGIN") }) else {
            throw CommandFailure(
                .usage,
                "An argument is the text of a key or a certificate. Save it in a file that only "
                    + "you can read and name the file; arguments are visible to others.")
        }
    }
}

/// `rouse`: the root of all commands.
struct RootCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rouse",
        abstract: "Wakes iOS apps: silent and VoIP pushes over APNs.",
        discussion: """
            Exit codes: 0 success; 1 negative result; 64 wrong usage; 65 bad data; 66 no such \
            input; 69 a service cannot be reached; 70 a bug; 74 unwritable output; 77 not allowed; \
            78 bad configuration.

            Example, without any account at Apple:

              rouse serve --dev
            """,
        version: RouseVersion.current,
        subcommands: [
            ServeCommand.self, KeysCommand.self, StatusCommand.self, SendCommand.self,
            WakeCommand.self, DeviceCommand.self, StoreToolCommand.self, AuditStoreCommand.self,
            PushCommand.self,
            ChannelCommand.self, ProbeCommand.self, TokenCommand.self, ValidateCommand.self,
            RulesCommand.self,
            AuditCommand.self, SimulateCommand.self,
            SimulatorCommand.self, DoctorCommand.self,
        ])
}
