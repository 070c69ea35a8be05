// SPDX-License-Identifier: Apache-2.0

public import DeviceModel
public import WakeModel

/// The input of a simulation: devices, events, and the sending strategies that are compared.
///
/// Two runs of the same scenario have identical results on every machine, regardless of the number
/// of threads.
public struct Scenario: Hashable, Sendable {
    /// The name in reports.
    public var name: String
    /// A description, in a paragraph.
    public var summary = ""
    /// The seed of all random numbers.
    public var seed: UInt64 = 1
    /// The local midnight at which the scenario begins. Hours of the day are counted from it, so
    /// that all devices are in one time zone.
    public var start = WallInstant(secondsSinceEpoch: 1_800_057_600)
    /// The simulated time, in seconds.
    public var seconds: Int64 = 86_400
    /// The groups of devices.
    public var groups: [DeviceGroup] = []
    /// The properties of the app.
    public var app = AppBehaviour()
    /// The streams of events.
    public var streams: [EventStream] = []
    /// The reports of the app to the sender.
    public var feedback = Feedback()
    /// The sending strategies; the first one is the one under test.
    public var contenders: [SendingStrategy] = []

    /// Creates a scenario without devices and streams.
    public init(name: String) { self.name = name }

    /// The number of devices.
    public var deviceCount: Int { groups.reduce(0) { $0 + $1.count } }

    /// The end of the simulated time.
    public var end: WallInstant { start.advanced(bySeconds: seconds) }

    /// Devices with the same profile.
    public struct DeviceGroup: Hashable, Sendable {
        /// The name in reports.
        public var name: String
        /// The profile; `nil` for a device without events: online, unlocked, charged to 80 %, the
        /// app suspended.
        public var profile: DayProfile?
        /// The number of devices.
        public var count: Int
        /// The source of the model's parameters.
        public var model: ModelSource
        /// The family from which the profile and the parameters of each device are drawn, instead
        /// of ``profile`` and ``model``.
        public var family: DeviceFamily?

        /// Creates a group.
        public init(name: String, profile: DayProfile?, count: Int, model: ModelSource = .standard)
        {
            self.name = name
            self.profile = profile
            self.count = count
            self.model = model
        }
    }

    /// The source of a model's parameters.
    public enum ModelSource: String, Hashable, Sendable, CaseIterable {
        /// The defaults of facts §6.3.
        case standard
        /// The defaults, without latency, loss and other randomness.
        case exact
        /// Drawn for each device from the ranges of facts §6.3.
        case drawn
    }

    /// The reports of the app, as the gateway's device endpoints receive them.
    public struct Feedback: Hashable, Sendable {
        /// The probability that the app confirms a launch with a receipt; 0–1.
        public var receiptProbability = 0.98
        /// The minimum time from a launch to its receipt, in milliseconds.
        public var receiptDelayMilliseconds: Int64 = 2_000
        /// The maximum additional time, in milliseconds; uniformly distributed.
        public var receiptSpreadMilliseconds: Int64 = 0
        /// Whether the app keeps a receipt that was not delivered, and posts it with the next
        /// launch or when the user opens the app.
        public var keepsReceipts = false
        /// Whether other devices of the app confirm launches if this one does not.
        public var isAmongConfirming = false
        /// Whether a receipt says that the app has synced everything.
        public var receiptsSaySynced = true
        /// Whether the app reports that it entered the foreground.
        public var reportsForeground = true
        /// Whether it then also reports Low Power Mode and the battery level.
        public var reportsPower = true
        /// Whether it then also reports Background App Refresh, which is reported as off in Low
        /// Power Mode too.
        public var reportsRefresh = false

        /// Creates reports of launches and of the device's signals.
        public init() {}

        /// No reports.
        public static var none: Feedback {
            var feedback = Feedback()
            feedback.receiptProbability = 0
            feedback.reportsForeground = false
            feedback.reportsPower = false
            return feedback
        }
    }
}
