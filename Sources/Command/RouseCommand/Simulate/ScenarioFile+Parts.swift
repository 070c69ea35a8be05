// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import PayloadLint
import WakeBudget
import WakeModel
import WakeSimulation

// The parts of a scenario file. The table of all keys is in `ScenarioFile.swift`.

extension Scenario.DeviceGroup {
    static let keys = ["name", "profile", "count", "model"]

    /// The profile on which nothing happens.
    private static let still = "still"

    init(_ mapping: ConfigurationMapping) throws(CommandFailure) {
        let names = DayProfile.known.map(\.name) + [Self.still]
        let remedy = "Write one of \(names.joined(separator: ", "))."
        let name = try mapping.requiredString("profile", remedy)
        guard names.contains(name) else {
            throw mapping.failure(
                "profile", "is none that Rouse knows",
                Nearest.name(to: name, among: names).map { "Did you mean \($0)?" } ?? remedy)
        }
        let count = try mapping.integer("count", in: Scenario.deviceCounts) ?? 1
        self.init(
            name: try mapping.string("name")?.printable ?? name, profile: DayProfile.named(name),
            count: count, model: try mapping.choice("model") ?? .standard)
    }
}

extension AppBehaviour {
    static let keys = ["runtime-seconds", "bytes-per-launch", "completes", "background-mode"]

    init(_ mapping: ConfigurationMapping) throws(CommandFailure) {
        self.init()
        if let seconds = try mapping.number("runtime-seconds", in: 0...30) {
            meanRuntimeMilliseconds = Int64(seconds * 1000)
        }
        if let bytes = try mapping.integer("bytes-per-launch", in: 0...1_000_000_000) {
            bytesPerLaunch = Int64(bytes)
        }
        completesHandler = try mapping.boolean("completes") ?? completesHandler
        hasRemoteNotificationMode =
            try mapping.boolean("background-mode") ?? hasRemoteNotificationMode
    }
}

extension Scenario.Feedback {
    static let keys = [
        "receipts-percent", "receipt-delay-seconds", "synced", "foreground", "power",
    ]

    init(_ mapping: ConfigurationMapping) throws(CommandFailure) {
        self.init()
        if let percent = try mapping.number("receipts-percent", in: 0...100) {
            receiptProbability = percent / 100
        }
        if let seconds = try mapping.number("receipt-delay-seconds", in: 0...3600) {
            receiptDelayMilliseconds = Int64(seconds * 1000)
        }
        receiptsSaySynced = try mapping.boolean("synced") ?? receiptsSaySynced
        reportsForeground = try mapping.boolean("foreground") ?? reportsForeground
        reportsPower = try mapping.boolean("power") ?? reportsPower
    }
}

extension SendingStrategy {
    /// The kinds of baselines.
    private enum Kind: String, CaseIterable {
        case everything
        case spacing
        case window
    }

    init(_ mapping: ConfigurationMapping) throws(CommandFailure) {
        guard let kind: Kind = try mapping.choice("kind") else {
            throw mapping.failure("kind", "is missing", "Write everything, spacing or window.")
        }
        let minutes = try mapping.integer("minutes", in: 1...1440)
        let sends = try mapping.integer("sends", in: 1...1000)
        if kind != .window, sends != nil {
            throw mapping.failure("sends", "is for windows only", "Remove it.")
        }
        switch kind {
        case .everything:
            guard minutes == nil else {
                throw mapping.failure("minutes", "is not for everything", "Remove it.")
            }
            self.init(name: "everything", method: .everything)
        case .spacing:
            let minutes = minutes ?? 20
            self.init(
                name: "spacing-\(minutes)min", method: .spacing(seconds: Int64(minutes) * 60))
        case .window:
            let minutes = minutes ?? 15
            self.init(
                name: "window-\(minutes)min",
                method: .window(seconds: Int64(minutes) * 60, sends: sends ?? 1))
        }
    }
}

/// The keys under `policy`: the settings of Rouse's budget that affect a simulation.
enum BudgetKeys {
    private typealias Path = WritableKeyPath<BudgetSettings, Int> & Sendable
    private static let settings: [(key: String, path: any Path)] = [
        ("spacing-seconds", \.spacingSeconds),
        ("spacing-maximum-seconds", \.spacingMaximumSeconds),
        ("foreground-spacing-seconds", \.foregroundSpacingSeconds),
        ("hourly-sends", \.hourlySends),
        ("daily-sends", \.dailySends),
        ("hold-seconds", \.holdSeconds),
        ("confirmed-spacing-seconds", \.confirmedSpacingSeconds),
        ("confirmed-hourly-sends", \.confirmedHourlySends),
        ("confirmed-daily-sends", \.confirmedDailySends),
        ("low-power-mode-life-seconds", \.lowPowerModeLifeSeconds),
        ("low-battery-percent", \.lowBatteryPercent),
        ("low-battery-life-seconds", \.lowBatteryLifeSeconds),
        ("unused-after-seconds", \.unusedAfterSeconds),
        ("probe-seconds", \.probeSeconds),
    ]

    /// Reads `policy` of a scenario; the defaults when it is absent.
    static func policy(_ root: ConfigurationMapping) throws(CommandFailure) -> BudgetPolicy {
        guard let mapping = try root.mapping("policy", known: settings.map(\.key)) else {
            return .standard
        }
        var values = BudgetSettings()
        for (key, path) in settings {
            if let value = try mapping.integer(key, in: 0...Int(Int32.max)) {
                values[keyPath: path] = value
            }
        }
        do throws(InvalidBudgetSettings) {
            return try BudgetPolicy(values)
        } catch {
            let problem = error.problems[0]
            throw mapping.failure(
                inKeys(problem.field), inKeys(problem.problem), inKeys(problem.remedy))
        }
    }

    /// A text about settings, which are named as in Swift, with the keys of the file instead.
    private static func inKeys(_ text: String) -> String {
        text.split(separator: " ", omittingEmptySubsequences: false).map { word in
            settings.map(\.key).first { swiftName($0) == word } ?? String(word)
        }.joined(separator: " ")
    }

    private static func swiftName(_ key: String) -> String {
        let parts = key.split(separator: "-")
        return parts.prefix(1).joined()
            + parts.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}
