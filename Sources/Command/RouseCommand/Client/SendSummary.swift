// SPDX-License-Identifier: Apache-2.0

/// The results of the wakes of one run of `rouse send`; `--json` writes it.
struct SendSummary: Encodable {
    /// The name of the run.
    let run: String
    /// Lines that are not blank, from the first that was to be sent.
    var lines = 0
    /// Lines of which the gateway took the wake; of one for a user, any.
    var accepted = 0
    /// Lines of which it took none.
    var refused = 0
    /// How many wakes of those taken got each decision: a line for a user is one for each device.
    var decisions: [String: Int] = [:]
    /// Lines of a batch that failed midway, that were refused for overload, or whose result is not
    /// known; they are neither among those accepted nor among those refused.
    var openLines: [Int] = []
    /// The line to go on with, when a batch failed as a whole; the lines from there are neither
    /// among those taken nor among those refused.
    var nextLine: Int?

    /// Counts the answers to a batch whose wakes are in these lines, except open ones.
    mutating func book(_ batch: SendBatch, _ numbers: [Int]) {
        let open = Set(openLines)
        for (item, number) in zip(batch.items, numbers) where !open.contains(number) {
            let wakes = item?.wakes ?? []
            if wakes.isEmpty { refused += 1 } else { accepted += 1 }
            for wake in wakes { decisions[wake.decision.type, default: 0] += 1 }
        }
    }

    /// What they are when the run ends in the midst of this batch; `later` is the first line behind
    /// it, if there is one.
    ///
    /// Answered wakes count, and a repetition of the whole batch could double them; so the
    /// unanswered ones are listed, and only the next batch counts as unsent.
    func stopped(in batch: SendBatch, _ numbers: [Int], later: Int?) -> SendSummary {
        var summary = self
        guard batch.hasAnswers else {
            summary.nextLine = numbers.first
            return summary
        }
        summary.openLines = batch.openPlaces.map { numbers[$0] }
        summary.book(batch, numbers)
        summary.nextLine = later
        return summary
    }

    /// Line numbers in ascending order as a person reads them: `3, 7-9`.
    static func ranges(_ numbers: [Int]) -> String {
        var ranges: [ClosedRange<Int>] = []
        for number in numbers {
            if let last = ranges.last, last.upperBound + 1 == number {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
        let words = ranges.map { range in
            range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound)"
        }
        return words.joined(separator: ", ")
    }
}
