// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CurlHTTP
import FoundationEssentials

/// `rouse send`: wakes from a file, through a gateway.
struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Ask a gateway for the wakes of a file, one JSON object a line.",
        discussion: """
            Each line is the body of POST /v1/wakes, for a device_token or for a user. They go in \
            batches; a busy gateway is waited for, and a batch that got no answer is sent again \
            with the same Idempotency-Key, so that no wake is asked for twice. What is refused \
            goes to standard error with its line number. Ends with 0 when all were accepted, 1 \
            when one was not. The API key needs the scope wake.

            When the gateway is gone for good, or refuses a whole batch, or Ctrl-C ends it, the \
            sums so far are told, and the options with which to go on: --from names the line, and \
            --run the name under which the gateway recognises what it has taken of it already, \
            for as long as it keeps idempotency keys. Leave file and --batch as they were. Lines \
            that are told as open had no answer for good when their batch failed, and are not \
            among those gone on with.

            Example:

              rouse send --gateway https://push.example.com --spread 600 wakes.ndjson
            """)

    @OptionGroup(title: "Gateway")
    var gateway: GatewayOptions

    @Argument(help: "The file, or - for standard input.")
    var file: String

    @Option(
        help: ArgumentHelp(
            "Spread the wakes of each batch evenly over so long.", valueName: "seconds"))
    var spread: Int = 0

    @Option(help: ArgumentHelp("How many wakes go in a request.", valueName: "number"))
    var batch: Int = 1_000

    @Option(help: ArgumentHelp("Go on at this line of the file.", valueName: "line"))
    var from: Int = 1

    @Option(
        name: .customLong("run"),
        help: ArgumentHelp(
            "The name of the run to go on with. Without it: a new one.", valueName: "name"))
    var runName: String?

    @Flag(help: "Write the sums as JSON.")
    var json = false

    func validate() throws {
        guard from >= 1 else { throw ValidationError("--from is below 1.") }
        if let runName, runName.wholeMatch(of: SendRun.namePattern) == nil {
            throw ValidationError("--run is no name of a run: 1 to 64 letters, digits and hyphens.")
        }
        guard (0...86_400).contains(spread) else {
            throw ValidationError("--spread is not from 0 to 86400 seconds.")
        }
        guard (1...10_000).contains(batch) else {
            throw ValidationError("--batch is not from 1 to 10000.")
        }
    }

    func run() async throws {
        let variables = Variables.current
        let console = Console(variables)
        let client = try GatewayClient(gateway, variables)
        let text = SendText(console: console, isJSON: json, batch: batch, spread: spread)
        let interruption = Interruption<SendSummary> { try? text.tell($0) }
        var sending = SendRun(
            name: runName ?? UUID().uuidString.lowercased(), firstLine: from, spread: spread,
            batch: batch, console: console
        ) { interruption.note($0) }
        let failure = try await sending.send(file, by: client)
        interruption.end()
        let summary = sending.summary
        try text.tell(summary)
        if let failure { throw failure }
        if summary.refused > 0 { throw ExitCode(ExitStatus.no.rawValue) }
    }
}

/// One run of `rouse send`.
struct SendRun {
    /// The largest file that is read, in bytes.
    static let maximumByteCount = 1_073_741_824
    /// The most refusals that are printed; the others are only counted.
    static let maximumToldCount = 100
    /// How often a batch without an answer is tried, and one of which nothing more is taken.
    static let maximumTries = 8
    /// The pause before the second try, in seconds; it doubles from there.
    static let pauseSeconds = 1
    /// The longest such pause, in seconds.
    static let pauseMaximumSeconds = 32
    /// What names a run.
    static var namePattern: Regex<Substring> { /[A-Za-z0-9-]{1,64}/ }

    let name: String
    let firstLine: Int
    let spread: Int
    let batch: Int
    let console: Console
    private(set) var summary: SendSummary
    private var toldCount = 0
    /// Gets the totals as if the run ended there, before each wait for the gateway.
    private let onStanding: (SendSummary) -> Void

    init(
        name: String, firstLine: Int, spread: Int, batch: Int, console: Console,
        onStanding: @escaping (SendSummary) -> Void
    ) {
        self.onStanding = onStanding
        self.name = name
        self.firstLine = firstLine
        summary = SendSummary(run: name)
        self.spread = spread
        self.batch = batch
        self.console = console
    }

    /// Sends a file. Returns why it went no further, where a batch failed as a whole; throws when
    /// there is nothing to send.
    mutating func send(
        _ path: String, by client: borrowing GatewayClient
    ) async throws(CommandFailure) -> CommandFailure? {
        let bytes = try InputFile.read(path, "wakes", limit: Self.maximumByteCount)
        guard bytes.count <= Self.maximumByteCount else {
            throw CommandFailure(.data, "\(path) has more than 1 GiB. Split it.")
        }
        let lines = Self.lines(bytes)
        guard var start = lines.firstIndex(where: { $0.number >= firstLine }) else {
            throw CommandFailure(
                .data, "\(path) holds no wake" + (firstLine > 1 ? " from there on." : "."))
        }
        summary.lines = lines.count - start
        // Of this run alone: what was sent before it would count in its rate.
        let first = start
        let bar = ProgressBar(total: summary.lines)
        defer { bar.clear() }
        while start < lines.count {
            let end = min(start + batch, lines.count)
            let part = Array(lines[start..<end])
            let numbers = part.map(\.number)
            let later = end < lines.count ? lines[end].number : nil
            // One run, one name: its batches differ by their place.
            var batch = SendBatch(name: "\(name)-\(start)", count: part.count)
            do throws(CommandFailure) {
                try await deliver(part.map(\.text), &batch, by: client) { batch in
                    onStanding(summary.stopped(in: batch, numbers, later: later))
                }
            } catch {
                bar.clear()
                summary = summary.stopped(in: batch, numbers, later: later)
                if batch.hasAnswers { tellProblems(batch, numbers) }
                return error
            }
            bar.clear()
            summary.book(batch, numbers)
            tellProblems(batch, numbers)
            start = end
            bar.show(start - first)
        }
        return nil
    }

    /// Sends a batch until the gateway had room for all of it, or patience is at its end.
    private func deliver(
        _ lines: [ArraySlice<UInt8>], _ batch: inout SendBatch, by client: borrowing GatewayClient,
        onStanding: (SendBatch) -> Void
    ) async throws(CommandFailure) {
        var tries = 0
        while true {
            onStanding(batch)
            let places = batch.places
            let answer = try await post(places.map { lines[$0] }, key: batch.key, by: client)
            guard answer.items.count == places.count else {
                throw CommandFailure(
                    .unavailable, "The gateway did not answer each wake of a batch.")
            }
            tries = batch.take(answer.items) ? 1 : tries + 1
            guard batch.isWaiting, tries < Self.maximumTries else { return }
            onStanding(batch)
            try? await Task.sleep(for: .seconds(Self.pause(afterTries: tries)))
        }
    }

    private static func pause(afterTries tries: Int) -> Int {
        min(pauseMaximumSeconds, pauseSeconds << (tries - 1))
    }

    private func post(
        _ lines: [ArraySlice<UInt8>], key: String, by client: borrowing GatewayClient
    ) async throws(CommandFailure) -> BatchDocument {
        var body: [UInt8] = []
        for line in lines { body += line + [UInt8(ascii: "\n")] }
        let path = "/v1/wakes/batch" + (spread > 0 ? "?spread=\(spread)" : "")
        var tries = 0
        while true {
            tries += 1
            var pause = Self.pause(afterTries: tries)
            var received: HTTPCaller.Answer?
            var trouble: CommandFailure?
            do throws(CommandFailure) {
                received = try client.answer(
                    "POST", path, body,
                    [("Content-Type", "application/x-ndjson"), ("Idempotency-Key", key)], 60_000)
            } catch {
                guard error.status == .unavailable, tries < Self.maximumTries else { throw error }
                trouble = error
            }
            if let answer = received {
                // What cannot be read will not be readable when it is asked for again.
                if answer.status < 400 {
                    return try GatewayClient.Answer(status: answer.status, body: answer.body)
                        .decoded(BatchDocument.self)
                }
                guard [429, 503].contains(answer.status), tries < Self.maximumTries else {
                    throw client.failure(answer)
                }
                pause = max(1, answer.retryAfterSeconds)
                trouble = client.failure(answer)
            }
            // One refusal for overload is normal; after the second the user sees why the run waits.
            if tries == 2, let trouble {
                ProgressBar.wipe()
                console.remark(
                    "\(trouble.message) It is tried again up to \(Self.maximumTries - tries) times."
                )
            }
            try? await Task.sleep(for: .seconds(pause))
        }
    }

    private mutating func tellProblems(_ batch: SendBatch, _ numbers: [Int]) {
        let open = Set(summary.openLines)
        for (item, number) in zip(batch.items, numbers) where !open.contains(number) {
            guard let problem = item?.firstProblem else { continue }
            toldCount += 1
            if toldCount <= Self.maximumToldCount {
                let first = problem.diagnostics?.first.map { " \($0.rule): \($0.message)." } ?? ""
                console.remark("line \(number): \(problem.title). \(problem.detail)\(first)")
            }
        }
    }

    private static func lines(_ bytes: [UInt8]) -> [(number: Int, text: ArraySlice<UInt8>)] {
        var lines: [(Int, ArraySlice<UInt8>)] = []
        let all = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in all.enumerated() {
            let isBlank = line.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0d }
            if !isBlank { lines.append((index + 1, line)) }
        }
        return lines
    }
}
