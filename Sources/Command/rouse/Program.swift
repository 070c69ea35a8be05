// SPDX-License-Identifier: Apache-2.0

import Glibc
import RouseCommand

/// The program: everything it does is in RouseCommand.
@main
struct Program {
    static func main() async {
        // A reader that closes its end of a pipe ends a write, not the process.
        signal(SIGPIPE, SIG_IGN)
        await RouseProgram.run()
    }
}
