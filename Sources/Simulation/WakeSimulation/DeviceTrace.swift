// SPDX-License-Identifier: Apache-2.0

public import DeviceModel
public import WakeModel

/// The events and pushes of one device with one sending strategy, for `--trace` and for the chart
/// of one device.
public struct DeviceTrace: Hashable, Sendable {
    /// The index of the device in the scenario.
    public var device: Int
    /// The name of its group.
    public var group: String
    /// The name of the sending strategy.
    public var sendingStrategy: String
    /// The events, in order of time.
    public var asks: [Ask] = []
    /// The pushes, in the order in which they were sent.
    public var pushes: [Push] = []
    /// The spans in which the device was not able to launch the app, in milliseconds since the
    /// epoch.
    public var unable: [Range<Int64>] = []
    /// The spans in which the app was in the foreground, in milliseconds since the epoch.
    public var foreground: [Range<Int64>] = []

    /// An event that requests a wake.
    public struct Ask: Hashable, Sendable {
        /// The time of the event.
        public var at: WallInstant
        /// The name of its stream.
        public var stream: String
        /// The index of its push in ``DeviceTrace/pushes``; `nil` for none.
        public var push: Int?
        /// Whether it was merged into the push of an earlier event.
        public var isMerged = false
        /// The reason why it ended without a push; `nil` otherwise.
        public var end: AskEnd?
    }

    /// A push.
    public struct Push: Hashable, Sendable {
        /// The time at which it was sent.
        public var sentAt: WallInstant
        /// Its outcome; `nil` if it is undecided, or without a device model.
        public var report: PushReport?
    }
}
