// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials

/// A load on a gateway's API, in a process of its own.
struct RunHTTPLoad: ParsableCommand {
    static let name = "run-http-load"
    static let configuration = CommandConfiguration(
        commandName: name, abstract: "For the benchmark's own use.", shouldDisplay: false)

    @Argument var load: String

    func run() throws {
        let load = try JSONDecoder().decode(HTTPLoad.self, from: Data(load.utf8))
        print(String(decoding: try JSONEncoder().encode(try load.run()), as: UTF8.self))
    }
}
