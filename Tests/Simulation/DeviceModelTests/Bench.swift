// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import WakeModel

/// A device on the workbench: times are seconds since its start, pushes count from 1.
struct Bench {
    var device: ModelledDevice
    var reports: [PushReport] = []
    private let start: WallInstant
    private var count = 0

    init(
        _ parameters: ModelParameters = .exact, app: AppBehaviour = AppBehaviour(),
        seed: UInt64 = 1, start: Int64 = 1_800_000_000
    ) {
        self.start = WallInstant(secondsSinceEpoch: start)
        device = ModelledDevice(parameters, app: app, seed: seed, at: self.start)
    }

    func instant(_ second: Int64) -> WallInstant { start.advanced(bySeconds: second) }

    mutating func push(
        at second: Int64, content: ArrivingPush.Content = .background, priority: Priority? = nil,
        expiration: Expiration? = nil
    ) {
        count += 1
        let push = ArrivingPush(
            number: count, content: content, priority: priority, expiration: expiration)
        device.take(push, at: instant(second), into: &reports)
    }

    mutating func apply(_ event: DeviceEvent, at second: Int64) {
        device.apply(event, at: instant(second), into: &reports)
    }

    mutating func advance(to second: Int64) {
        device.advance(to: instant(second), into: &reports)
    }

    /// When the app was launched, in seconds.
    var launches: [Int64] {
        reports.compactMap { report in
            guard case .launched = report.fate else { return nil }
            return report.at.milliseconds(since: start) / 1000
        }
    }

    /// The numbers of the pushes with this label.
    func fates(_ label: String) -> [Int] {
        reports.filter { $0.fate.label == label }.map(\.number)
    }
}
