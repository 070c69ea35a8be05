// SPDX-License-Identifier: Apache-2.0

/// nghttp2's load generator with the headers and body of the sample: what HTTP/2 costs a client
/// that does nothing else.
///
/// Two things make its work easier than a push client's: its `apns-id` is the same every time, so
/// that HPACK sends it as one byte, and it keeps nothing of an answer.
enum H2Load {
    /// Its requests cost so much less that a run needs this many more to last as long.
    static let pushFactor = 5

    /// Runs it. `bodyPath` names the file that holds the body of every request.
    static func run(_ load: Load, bodyPath: String) throws -> LoadReport {
        let pushes = load.pushes * pushFactor
        var arguments = [
            "-n", String(pushes), "-c", String(load.connections), "-m",
            String(load.streamsPerConnection), "-t", "1",
        ]
        arguments += ["-d", bodyPath]
        var headers = try CurlBaselineLoad.sharedHeaders()
        headers.append(("apns-id", "01234567-89ab-4cde-8f01-23456789abcd"))
        headers.append(("user-agent", Sample.userAgent))
        for header in headers { arguments += ["-H", "\(header.name): \(header.value)"] }
        arguments += Sample.deviceTokens.map { token in
            "https://127.0.0.1:\(load.port)/3/device/\(token)"
        }
        let child = try ChildProcess(
            "h2load", arguments, processor: ChildProcess.clientProcessor)
        let ending = try child.waitForEnd(watchingMemory: true)
        guard let accepted = number(before: "2xx", in: ending.output),
            let wallSeconds = seconds(after: "finished in", in: ending.output)
        else {
            throw ChildProcess.Failure(description: "h2load's output is not of the known form")
        }
        return LoadReport(
            accepted: accepted, failed: pushes - accepted, failure: nil, wallSeconds: wallSeconds,
            cpuSeconds: ending.cpuSeconds, medianMilliseconds: 0, p99Milliseconds: 0,
            peakBytes: ending.peakBytes)
    }

    /// The whole number that stands before a word: 50000 in `status codes: 50000 2xx, …`.
    static func number(before word: String, in text: String) -> Int? {
        let words = text.split { $0.isWhitespace || $0 == "," }
        guard let place = words.firstIndex(where: { $0 == word }), place > 0 else { return nil }
        return Int(words[place - 1])
    }

    /// The duration behind some words: 1.2 in `finished in 1.20s, …`, 0.45 in `… 450.31ms`.
    static func seconds(after phrase: String, in text: String) -> Double? {
        for line in text.split(separator: "\n") where line.hasPrefix(phrase) {
            let duration = line.dropFirst(phrase.count).prefix { $0 != "," }
                .filter { !$0.isWhitespace }
            if duration.hasSuffix("us") { return Double(duration.dropLast(2)).map { $0 * 1e-6 } }
            if duration.hasSuffix("ms") { return Double(duration.dropLast(2)).map { $0 * 1e-3 } }
            return Double(duration.dropLast())
        }
        return nil
    }
}
