// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WakeModel

/// A log of real send times, as JSON lines.
///
/// | Key | Value |
/// |---|---|
/// | `at` | RFC 3339 text, or seconds since the epoch |
/// | `device` | any text that tells devices apart; without it all lines are one device's |
///
/// Other keys are disregarded, so that a log of the gateway can be taken as it is.
struct RecordedLog {
    /// The largest log that is read, in bytes.
    static let maximumByteCount = 256 * 1_048_576

    /// For each device of the log, in the order of their first lines: milliseconds since the epoch,
    /// in order.
    let times: [[Int64]]

    /// Reads a log.
    init(path: String) throws(CommandFailure) {
        let bytes = try InputFile.read(path, "the log", limit: Self.maximumByteCount)
        guard bytes.count <= Self.maximumByteCount else {
            throw CommandFailure(.data, "\(path) has more than 256 MiB. Split it.")
        }
        var places: [String: Int] = [:]
        var times: [[Int64]] = []
        let decoder = JSONDecoder()
        for (index, line) in bytes.split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false
        ).enumerated() where !line.allSatisfy({ $0 == 0x20 || $0 == 0x0d }) {
            guard let entry = try? decoder.decode(Entry.self, from: Data(line)),
                let at = entry.at.milliseconds
            else {
                throw CommandFailure(
                    .data,
                    "\(path):\(index + 1): no line of a log. Each line is an object with at (RFC "
                        + "3339, or seconds since the epoch) and, if you like, device.")
            }
            let device = entry.device ?? ""
            if places[device] == nil {
                places[device] = times.count
                times.append([])
            }
            times[places[device, default: 0]].append(at)
        }
        guard !times.isEmpty else {
            throw CommandFailure(.data, "\(path) is empty. It needs a line for each event.")
        }
        self.times = times.map { $0.sorted() }
    }

    private struct Entry: Decodable {
        let at: Time
        let device: String?
    }

    /// A time, as text or as a number.
    private enum Time: Decodable {
        case text(String)
        case seconds(Double)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let seconds = try? container.decode(Double.self) {
                self = .seconds(seconds)
            } else {
                self = .text(try container.decode(String.self))
            }
        }

        /// From the epoch to the end of the year 9999, in milliseconds: what RFC 3339 can write,
        /// and far from where sums of times end.
        private static let range = 0.0...253_402_300_799_000

        /// Since the epoch; `nil` for what is no time.
        var milliseconds: Int64? {
            let milliseconds: Double? =
                switch self {
                case .seconds(let seconds): seconds * 1000
                case .text(let text):
                    WallInstant(rfc3339: text, isLenient: true)
                        .map { Double($0.millisecondsSinceEpoch) }
                }
            guard let milliseconds, Self.range.contains(milliseconds) else { return nil }
            return Int64(milliseconds.rounded())
        }
    }
}
