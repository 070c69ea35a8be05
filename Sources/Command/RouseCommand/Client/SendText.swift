// SPDX-License-Identifier: Apache-2.0

/// How the sums of `rouse send` are told.
struct SendText: Sendable {
    let console: Console
    let isJSON: Bool
    let batch: Int
    let spread: Int

    /// Writes them, and how to go on where something is left.
    func tell(_ sums: SendSums) throws(CommandFailure) {
        guard !isJSON else { return try console.write(sums) }
        console.say(
            "Sent", "\(sums.accepted) of \(sums.lines) wakes were taken.",
            sums.accepted == sums.lines ? .good : .bad)
        for (word, count) in sums.decisions.sorted(by: { $0.key < $1.key }) {
            console.say("", "\(count) \(word)")
        }
        if !sums.openLines.isEmpty {
            console.say(
                "Open",
                "The gateway had no room for these lines, or did not say what became of them: "
                    + SendSums.ranges(sums.openLines) + ".", .bad)
        }
        guard let line = sums.nextLine else { return }
        console.sayVerbatim(
            "Go on", "--run \(sums.run) --from \(line) --batch \(batch) --spread \(spread)")
    }
}
