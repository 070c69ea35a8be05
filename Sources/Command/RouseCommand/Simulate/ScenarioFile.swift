// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import FoundationEssentials
import WakeBudget
import WakeSimulation

extension Scenario {
    /// The largest scenario file that is read, in bytes.
    static let maximumByteCount = 1_048_576
    /// How many devices a scenario may have.
    static let deviceCounts = 1...10_000_000
    /// How many days it may last.
    static let dayCounts = 1...366
    /// How many minutes it may last.
    static let minuteCounts = 1...527_040

    /// Reads a scenario from a YAML file.
    ///
    /// | Key | Value | Default |
    /// |---|---|---|
    /// | `name` | in reports | the file's name |
    /// | `about` | what it shows | none |
    /// | `seed` | where chance comes from | 1 |
    /// | `days`, or `minutes` | how long, from a local midnight on | the days of its logs, or 1 |
    /// | `devices` | list: `profile`, `count`, `model`, `name` | – |
    /// | `app` | what the app is like, see below | well-behaved |
    /// | `feedback` | what the app tells the sender, see below | all of it |
    /// | `streams` | list, see below | – |
    /// | `policy` | settings of Rouse's budget, see ``BudgetKeys`` | the defaults |
    /// | `baselines` | list of what it is compared with, see below | all three |
    ///
    /// A profile is one of ``DeviceModel/DayProfile/known`` or `still`, on which nothing happens; a
    /// model is `standard`, `exact` or `drawn`; devices are named as their profile unless they have
    /// a name of their own. A baseline has `kind` (`everything`, `spacing` or
    /// `window`), `minutes` and, for windows, `sends`.
    ///
    /// | Key | Value | Default |
    /// |---|---|---|
    /// | `app.runtime-seconds` | how long a launch runs on average | 6 |
    /// | `app.bytes-per-launch` | what it loads | 40000 |
    /// | `app.completes` | whether its handler calls the completion handler | `true` |
    /// | `app.background-mode` | whether it has the remote-notification mode | `true` |
    /// | `feedback.receipts-percent` | how many launches it confirms | 98 |
    /// | `feedback.receipt-delay-seconds` | how long a receipt takes | 2 |
    /// | `feedback.synced` | whether receipts say that it has synced | `true` |
    /// | `feedback.foreground` | whether it reports its foreground | `true` |
    /// | `feedback.power` | and then Low Power Mode and the battery | `true` |
    ///
    /// | Key of a stream | Value | Default |
    /// |---|---|---|
    /// | `name` | in traces | – |
    /// | `pattern` | `fixed`, `poisson`, `bursts` or `recorded` | – |
    /// | `every-seconds`, `after-seconds`, `count` | of `fixed` | –, 0, no limit |
    /// | `per-hour` | of `poisson` | – |
    /// | `per-day`, `size`, `within-minutes` | of `bursts` | –, –, 10 |
    /// | `log` | of `recorded`: a JSON-lines file, see ``RecordedLog`` | – |
    /// | `hours` | list of `"07:00-23:00"` | all day |
    /// | `shared` | `true` when all devices get the same events | `false` |
    /// | `spread-seconds` | over what time the devices are asked for | 0 |
    /// | `urgency` | `deferrable`, `normal`, `urgent` | `normal` |
    /// | `life-hours` | how long an event is worth anything | 24 |
    ///
    /// Bursts are drawn for the whole day, and what falls outside `hours` is left out: with four
    /// hours, `per-day: 30` leaves about five bursts a day. Logs of several streams keep their
    /// distance in time: the midnight in UTC before the first line of all is the scenario's start.
    ///
    /// A key that is not listed is an error, as is one that its pattern does not use. The files
    /// that were read, its logs included, are added to `files`.
    init(path: String, files: inout [String]) throws(CommandFailure) {
        let bytes = try InputFile.read(path, "the scenario", limit: Self.maximumByteCount)
        guard bytes.count <= Self.maximumByteCount else {
            throw CommandFailure(.data, "\(path) has more than 1 MiB.")
        }
        let text = String(decoding: bytes, as: UTF8.self)
        do throws(CommandFailure) {
            files.append(path)
            try self.init(yaml: text, file: path, files: &files)
        } catch {
            // A scenario is input and not Rouse's configuration.
            throw error.status == .configuration
                ? CommandFailure(.data, error.message) : error
        }
    }

    private init(
        yaml: String, file: String, files: inout [String]
    ) throws(CommandFailure) {
        let url = URL(filePath: file)
        let root = try ConfigurationMapping(
            ConfigurationMapping.parse(yaml, file: file, hint: "It needs devices and streams."),
            file: file,
            known: [
                "name", "about", "seed", "days", "minutes", "devices", "app", "feedback",
                "streams", "policy", "baselines",
            ])
        let name = try root.string("name") ?? url.deletingPathExtension().lastPathComponent
        self.init(name: name.printable)
        summary = Self.paragraph(try root.string("about") ?? "")
        seed = UInt64(try root.integer("seed", in: 0...Int.max) ?? 1)
        groups = try Self.distinct(
            root.list("devices", known: DeviceGroup.keys), named: "name", \.name
        ) { (mapping) throws(CommandFailure) in try DeviceGroup(mapping) }
        guard !groups.isEmpty else {
            throw root.failure("devices", "is missing", "Give profile and count of some devices.")
        }
        guard Self.deviceCounts.contains(deviceCount) else {
            throw root.failure(
                "devices", "are more than \(Self.deviceCounts.upperBound)", "Take fewer.")
        }
        if let mapping = try root.mapping("app", known: AppBehaviour.keys) {
            app = try AppBehaviour(mapping)
        }
        if let mapping = try root.mapping("feedback", known: Feedback.keys) {
            feedback = try Feedback(mapping)
        }
        let folder = url.deletingLastPathComponent()
        streams = try Self.distinct(
            root.list("streams", known: EventStream.keys), named: "name", \.name
        ) { (mapping) throws(CommandFailure) in
            try EventStream(mapping, folder: folder, files: &files)
        }
        streams.beginAtMidnight()
        guard !streams.isEmpty else {
            throw root.failure("streams", "is missing", "Say what asks for wakes.")
        }
        seconds = try duration(root)
        contenders = [
            SendingStrategy(name: "rouse", method: .budget(try BudgetKeys.policy(root)))
        ]
        contenders += try Self.baselines(root)
    }

    /// One line of what YAML may have broken.
    private static func paragraph(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ").printable
    }

    /// How long it lasts: as it says, or else as many days as its logs, or a day.
    private func duration(_ root: ConfigurationMapping) throws(CommandFailure) -> Int64 {
        if root.has("days"), root.has("minutes") {
            throw root.failure("minutes", "is set together with days", "Keep one of the two.")
        }
        if let minutes = try root.integer("minutes", in: Self.minuteCounts) {
            return Int64(minutes) * 60
        }
        let day: Int64 = 86_400
        if let days = try root.integer("days", in: Self.dayCounts) { return Int64(days) * day }
        let lastEvent = streams.compactMap(\.lastRecorded).max() ?? 0
        return min(lastEvent / 1000 / day + 1, Int64(Self.dayCounts.upperBound)) * day
    }

    private static func baselines(
        _ root: ConfigurationMapping
    ) throws(CommandFailure) -> [SendingStrategy] {
        guard root.has("baselines") else { return SendingStrategy.baselines }
        return try distinct(
            root.list("baselines", known: ["kind", "minutes", "sends"]), named: "kind", \.name
        ) { (mapping) throws(CommandFailure) in try SendingStrategy(mapping) }
    }

    /// Reads the parts of a list. No two may have the same name, for results go by it; `key` is
    /// what to blame.
    private static func distinct<Part>(
        _ list: [ConfigurationMapping], named key: String, _ name: (Part) -> String,
        _ read: (ConfigurationMapping) throws(CommandFailure) -> Part
    ) throws(CommandFailure) -> [Part] {
        var parts: [Part] = []
        for mapping in list {
            let part = try read(mapping)
            guard !parts.contains(where: { name($0) == name(part) }) else {
                throw mapping.failure(
                    key, "makes a second \(name(part))", "Remove one, or give it another name.")
            }
            parts.append(part)
        }
        return parts
    }
}
