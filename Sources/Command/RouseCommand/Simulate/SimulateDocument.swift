// SPDX-License-Identifier: Apache-2.0

import WakeSimulation

/// `rouse simulate --json`: `scenarios`, a list with one object for each scenario, in their order.
///
/// The same scenario gives the same text, whatever the machine and the number of threads.
///
/// | Key | Value |
/// |---|---|
/// | `name`, `seed`, `devices`, `seconds` | the scenario |
/// | `device_model` | whether devices were modelled |
/// | `policies` | list: `name`, `total`, `profiles` (list: `profile`, `figures`) |
///
/// | Key of a total or a profile | Value |
/// |---|---|
/// | `devices`, `asked` | how many devices, and events that asked for a wake |
/// | `merged` | events that another event's push carried |
/// | `ended` | events that ended without a push, by why |
/// | `waiting` | events whose push was not sent by the end |
/// | `sent` | pushes: the sum of the next four |
/// | `launched`, `in_foreground` | that launched the app; that met it in the foreground |
/// | `wasted`, `undecided` | that did neither; that were stored or held at the end |
/// | `launches_per_push` | `launched` / `sent` |
/// | `sent_while_able`, `reached_while_able` | pushes to devices able to launch the app |
/// | `reached_share` | `reached_while_able` / `sent_while_able` |
/// | `fates` | pushes by the labels of facts §6.3 |
/// | `staleness_median_ms`, `staleness_p95_ms` | from an event to the sync that showed it |
/// | `unseen` | events that no sync showed by the end |
/// | `mean_age_ms` | the time-weighted mean of the age of the app's data |
/// | `hold_median_ms`, `hold_p95_ms` | from sending a push to its reaching the app |
/// | `wait_median_ms`, `wait_p95_ms` | from an event to the sending of its push |
///
/// Medians and 95th percentiles are exact below 64 ms and within 1.6 % above: they are the middles
/// of a histogram's buckets. Everything else is exact.
///
/// Figures that nothing was counted for are absent, and so is all about launches and staleness
/// when no devices were modelled.
struct SimulateDocument: Encodable {
    private let scenarios: [ScenarioPart]

    /// The result of some scenarios.
    init(_ outputs: [SimulatePlan.Output]) {
        scenarios = outputs.map(ScenarioPart.init)
    }

    private struct ScenarioPart: Encodable {
        let name: String
        let seed: UInt64
        let devices: Int
        let seconds: Int64
        let deviceModel: Bool
        let policies: [PolicyPart]

        init(_ output: SimulatePlan.Output) {
            let scenario = output.simulation.scenario
            name = scenario.name
            seed = scenario.seed
            devices = scenario.deviceCount
            seconds = scenario.seconds
            let isModelled = output.simulation.modelsDevices
            deviceModel = isModelled
            policies = output.result.contenders.map { PolicyPart($0, scenario, isModelled) }
        }
    }

    private struct PolicyPart: Encodable {
        let name: String
        let total: TallyPart
        let profiles: [ProfilePart]

        init(_ result: SendingStrategyResult, _ scenario: Scenario, _ isModelled: Bool) {
            name = result.name
            total = TallyPart(result.total, isModelled)
            profiles = zip(scenario.groups, result.groups).map {
                ProfilePart(profile: $0.name, figures: TallyPart($1, isModelled))
            }
        }
    }

    private struct ProfilePart: Encodable {
        let profile: String
        let figures: TallyPart
    }

    private struct TallyPart: Encodable {
        let devices: UInt64
        let asked: UInt64
        let merged: UInt64
        let ended: [String: UInt64]
        let waiting: UInt64
        let sent: UInt64
        let waitMedianMs: Int64?
        let waitP95Ms: Int64?
        var launched: UInt64?
        var inForeground: UInt64?
        var undecided: UInt64?
        var wasted: UInt64?
        var launchesPerPush: Double?
        var sentWhileAble: UInt64?
        var reachedWhileAble: UInt64?
        var reachedShare: Double?
        var fates: [String: UInt64]?
        var stalenessMedianMs: Int64?
        var stalenessP95Ms: Int64?
        var unseen: UInt64?
        var meanAgeMs: Int64?
        var holdMedianMs: Int64?
        var holdP95Ms: Int64?

        init(_ tally: Tally, _ isModelled: Bool) {
            devices = tally.devices
            asked = tally.asked
            merged = tally.merged
            ended = Dictionary(
                uniqueKeysWithValues: tally.ended.map { ($0.key.rawValue, $0.value) })
            waiting = tally.waiting
            sent = tally.sent
            waitMedianMs = tally.wait.percentile(50)
            waitP95Ms = tally.wait.percentile(95)
            guard isModelled else { return }
            launched = tally.launched
            inForeground = tally.inForeground
            undecided = tally.undecided
            wasted = tally.wasted
            launchesPerPush = tally.launchesPerPush
            sentWhileAble = tally.sentWhileAble
            reachedWhileAble = tally.reachedWhileAble
            reachedShare = tally.reachedShare
            fates = tally.fates
            stalenessMedianMs = tally.staleness.percentile(50)
            stalenessP95Ms = tally.staleness.percentile(95)
            unseen = tally.unseen
            meanAgeMs = tally.meanAge.map { Int64($0) }
            holdMedianMs = tally.hold.percentile(50)
            holdP95Ms = tally.hold.percentile(95)
        }
    }
}
