// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The findings that are known, of `rouse validate` and `rouse audit`.
struct BaselineOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Report no findings that are in this file, so that only new ones fail.",
            valueName: "file"), completion: .file())
    var baseline: String?

    @Option(
        help: ArgumentHelp(
            "Write the findings to this file, as the baseline of later runs, and end with 0.",
            valueName: "file"), completion: .file())
    var writeBaseline: String?

    func validate() throws {
        if baseline != nil, writeBaseline != nil {
            throw ValidationError("--write-baseline writes all findings. Leave --baseline out.")
        }
    }
}
