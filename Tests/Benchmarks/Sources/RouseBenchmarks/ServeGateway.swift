// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import RouseCommand

/// `rouse serve --config FILE` as a process of its own: the program itself, which reads this very
/// command line. It ends when its standard input does.
struct ServeGateway: AsyncParsableCommand {
    static let name = "serve"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "For the benchmark's own use.", shouldDisplay: false)

    @Option var config: String

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        // A thread, because waiting in a task would take one of the gateway's own.
        Thread.detachNewThread {
            while getchar() != EOF {}
            kill(getpid(), SIGTERM)
        }
        await RouseProgram.run()
    }
}
