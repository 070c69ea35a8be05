// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import WakeModel

/// The figures of the device model by their names in facts §6.3. Switches are 0 and 1.
///
/// The ranges are what the model can do with; those of facts §6.3, of what devices may be like, are
/// narrower.
enum ParameterTable {
    /// Sets one figure, or says why not.
    static func set(
        _ name: String, to value: Double, in parameters: inout ModelParameters
    ) throws(InvalidField) {
        let figure = Figure(name: name, value: value)
        let isSet =
            switch name.prefix(while: { $0 != "." }) {
            case "apns": try set(figure, in: &parameters.service)
            case "rate", "relax", "run": try set(figure, in: &parameters)
            case "budget": try set(figure, in: &parameters.budget)
            case "gate", "device": try set(figure, in: &parameters.gates)
            default: false
            }
        guard isSet else {
            throw InvalidField(
                field: "parameters", problem: "hold a name that is no figure of the model",
                remedy: "Use those in the documentation, such as rate.min_spacing_s.")
        }
    }

    private static func set(
        _ figure: Figure, in service: inout ModelParameters.Service
    ) throws(InvalidField) -> Bool {
        switch figure.name {
        case "apns.overwrite_latest_p": service.overwriteLatestProbability = try figure.share()
        case "apns.ttl_default_s": service.defaultStorageSeconds = try figure.seconds()
        case "apns.reorder_p": service.reorderProbability = try figure.share()
        case "apns.p5_needs_awake": service.needsAwakeDevice = try figure.flag()
        case "apns.lpm_blocks_p10_p": service.lowPowerModeBlocksProbability = try figure.share()
        case "apns.latency_median_s":
            service.latencyMedianMilliseconds = try figure.milliseconds()
        case "apns.latency_p95_s":
            service.latencyPercentile95Milliseconds = try figure.milliseconds()
        case "apns.loss_p": service.lossProbability = try figure.share()
        default: return false
        }
        return true
    }

    private static func set(
        _ figure: Figure, in parameters: inout ModelParameters
    ) throws(InvalidField) -> Bool {
        switch figure.name {
        case "rate.min_spacing_s": parameters.rate.minimumSpacingSeconds = try figure.seconds()
        case "rate.bucket_capacity": parameters.rate.bucketCapacity = try figure.whole(1...1000)
        case "rate.bucket_refill_s": parameters.rate.bucketRefillSeconds = try figure.seconds()
        case "rate.device_cap_per_hour":
            parameters.rate.deviceLaunchesPerHour = Int(try figure.whole(1...3600))
        case "relax.charging_spacing_factor":
            parameters.rate.chargingFactor = try figure.share()
        case "relax.low_data_mode": parameters.gates.lowDataModeBlocks = try figure.flag()
        case "run.max_s": parameters.budget.maximumRunSeconds = try figure.seconds()
        case "run.no_completion": parameters.rate.penaltyFactor = try figure.whole(1...1000)
        default: return false
        }
        return true
    }

    private static func set(
        _ figure: Figure, in budget: inout ModelParameters.Budget
    ) throws(InvalidField) -> Bool {
        switch figure.name {
        case "budget.reset_period_s": budget.resetPeriodSeconds = try figure.seconds(from: 1)
        case "budget.reset_phase_s": budget.resetPhaseSeconds = try figure.seconds()
        case "budget.energy_runtime_s_per_day": budget.runtimeSeconds = try figure.seconds()
        case "budget.cell_bytes_per_day":
            budget.cellularBytes = try figure.whole(0...1_000_000_000_000)
        default: return false
        }
        return true
    }

    private static func set(
        _ figure: Figure, in gates: inout ModelParameters.Gates
    ) throws(InvalidField) -> Bool {
        switch figure.name {
        case "device.hold_max_age_s": gates.maximumHoldSeconds = try figure.seconds(from: 1)
        case "gate.battery_min": gates.minimumBatteryPermille = Int(try figure.share() * 1000)
        case "gate.lpm": gates.lowPowerMode = try figure.flag() ? .blocks : .quadruplesSpacing
        case "gate.reboot_clears_force_quit": gates.rebootClearsForceQuit = try figure.flag()
        case "gate.not_launched_days": gates.unusedDays = try figure.whole(1...3650)
        case "gate.herd_after_s": gates.herdAfterSeconds = try figure.seconds()
        case "gate.herd_block_s": gates.herdBlockSeconds = try figure.seconds()
        case "gate.herd_block_in_use_s": gates.herdBlockInUseSeconds = try figure.seconds()
        default: return false
        }
        return true
    }

    /// A name with its value, which each figure takes in its own way.
    private struct Figure {
        var name: String
        var value: Double

        /// The longest span, in seconds: ten years.
        static let longest: Int64 = 3650 * 86_400

        func share() throws(InvalidField) -> Double {
            guard (0...1).contains(value) else { throw outOfRange("0 to 1") }
            return value
        }

        func flag() throws(InvalidField) -> Bool {
            guard value == 0 || value == 1 else { throw outOfRange("0 or 1") }
            return value == 1
        }

        func seconds(from least: Int64 = 0) throws(InvalidField) -> Int64 {
            try whole(least...Self.longest)
        }

        func milliseconds() throws(InvalidField) -> Int64 {
            guard (0...3600).contains(value) else { throw outOfRange("0 to 3600") }
            return Int64((value * 1000).rounded())
        }

        func whole(_ range: ClosedRange<Int64>) throws(InvalidField) -> Int64 {
            guard let whole = Int64(exactly: value), range.contains(whole) else {
                throw outOfRange("a whole number from \(range.lowerBound) to \(range.upperBound)")
            }
            return whole
        }

        private func outOfRange(_ range: String) -> InvalidField {
            InvalidField(field: name, problem: "is out of range", remedy: "Use \(range).")
        }
    }
}
