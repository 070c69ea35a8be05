// SPDX-License-Identifier: Apache-2.0

public import DeviceModel
public import WakeModel

/// Everything that happened on one device under one way to send: for `--trace`, and for the picture
/// of one device.
public struct DeviceTrace: Hashable, Sendable {
    /// The device's number in the scenario, from 0.
    public var device: Int
    /// The name of its group.
    public var group: String
    /// The name of the way to send.
    public var sendingStrategy: String
    /// Each event, in the order of time.
    public var asks: [Ask] = []
    /// Each push, in the order in which they were sent.
    public var pushes: [Push] = []
    /// When the device was not able to launch the app.
    public var unable: [Range<Int64>] = []
    /// When the app was in the foreground, in milliseconds since the epoch.
    public var foreground: [Range<Int64>] = []

    /// One event.
    public struct Ask: Hashable, Sendable {
        /// When it came.
        public var at: WallInstant
        /// The name of its stream.
        public var stream: String
        /// The push that carries it, by its place among ``DeviceTrace/pushes``; `nil` for none.
        public var push: Int?
        /// Whether another event had made that push before.
        public var isMerged = false
        /// Why it ended without a push.
        public var end: AskEnd?
    }

    /// One push.
    public struct Push: Hashable, Sendable {
        /// When it was sent.
        public var sentAt: WallInstant
        /// Its outcome; `nil` while undecided, or without a device model.
        public var report: PushReport?
    }
}
