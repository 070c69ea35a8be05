// SPDX-License-Identifier: Apache-2.0

/// The totals of `rouse send` as text.
struct SendText: Sendable {
    let console: Console
    let isJSON: Bool
    let batch: Int
    let spread: Int

    /// Writes them, and how to go on where something is left.
    func tell(_ summary: SendSummary) throws(CommandFailure) {
        guard !isJSON else { return try console.write(summary) }
        console.say(
            "Accepted", "\(summary.accepted) of \(summary.lines) wakes were accepted.",
            summary.accepted == summary.lines ? .good : .bad)
        for (word, count) in summary.decisions.sorted(by: { $0.key < $1.key }) {
            console.say("", "\(count) \(word == "send" ? "sent at once" : word)")
        }
        if !summary.openLines.isEmpty {
            console.say(
                "Open",
                "The gateway had no room for these lines, or did not say what became of them: "
                    + SendSummary.ranges(summary.openLines) + ".", .bad)
        }
        guard let line = summary.nextLine else { return }
        console.sayVerbatim(
            "Go on", "--run \(summary.run) --from \(line) --batch \(batch) --spread \(spread)")
    }
}
