// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `rouse doctor`: is everything there that pushing needs?
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check libraries, key, configuration, clock, and the way to APNs.",
        discussion: """
            Sends no push. To see whether a server can be reached it makes one request without a \
            device token and without credentials, which APNs refuses; the answer also tells the \
            time. Without --production, --sandbox, --host or a configuration both of Apple's \
            servers are asked. The receivers of webhooks are asked for the first page of their \
            server, and get no event.

            Ends with 0 when nothing is wrong (a warning is not), 69 when a server cannot be \
            reached, 78 when anything else is wrong.

            Example:

              rouse doctor --config rouse.yaml
            """)

    @Flag(help: "Ask no server.")
    var offline = false

    @OptionGroup var options: APNsOptions

    func run() async throws {
        let variables = Variables.current
        let console = Console(variables)
        let checks = await DoctorChecks(self, variables: variables)
        if options.json {
            try console.write(DoctorDocument(checks))
        } else {
            checks.tell(console)
        }
        let status = checks.status
        guard status == .success else { throw ExitCode(status.rawValue) }
    }
}
