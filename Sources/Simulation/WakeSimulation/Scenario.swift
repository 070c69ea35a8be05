// SPDX-License-Identifier: Apache-2.0

public import DeviceModel
public import WakeModel

/// What is simulated: devices, what is asked of them, and the ways to send that are compared.
///
/// All of it is data. Two runs of the same scenario give the same result, digit for digit, on every
/// machine and however the devices are shared out among threads.
public struct Scenario: Hashable, Sendable {
    /// Its name, for reports.
    public var name: String
    /// What it shows, in a paragraph.
    public var summary = ""
    /// Where all chance comes from.
    public var seed: UInt64 = 1
    /// The local midnight at which it begins. The day's hours are counted from it, so the devices
    /// have one time zone.
    public var start = WallInstant(secondsSinceEpoch: 1_800_057_600)
    /// How long it lasts, in seconds.
    public var seconds: Int64 = 86_400
    /// The devices, group by group.
    public var groups: [DeviceGroup] = []
    /// What the app is like.
    public var app = AppBehaviour()
    /// What the server asks to be woken for.
    public var streams: [EventStream] = []
    /// The app's reports to the sender.
    public var feedback = Feedback()
    /// The ways to send, the first of them under test.
    public var contenders: [SendingStrategy] = []

    /// A scenario of this name without devices and streams.
    public init(name: String) { self.name = name }

    /// How many devices there are.
    public var deviceCount: Int { groups.reduce(0) { $0 + $1.count } }

    /// When it ends.
    public var end: WallInstant { start.advanced(bySeconds: seconds) }

    /// Devices with the same habits.
    public struct DeviceGroup: Hashable, Sendable {
        /// What they are called in reports.
        public var name: String
        /// Their habits; `nil` for a device on which nothing happens: online, unlocked, charged to
        /// 80 %, the app suspended.
        public var profile: DayProfile?
        /// How many there are.
        public var count: Int
        /// Where the figures of their model come from.
        public var model: ModelSource
        /// The family that each device's habits and figures are drawn from, instead of
        /// ``profile`` and ``model``.
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

    /// Where the figures of a device's model come from.
    public enum ModelSource: String, Hashable, Sendable, CaseIterable {
        /// The defaults of facts §6.3.
        case standard
        /// The defaults, without delay, loss and other chance.
        case exact
        /// Drawn for each device from the ranges of facts §6.3.
        case drawn
    }

    /// The app's reports to the sender, as the gateway's device endpoints receive them.
    public struct Feedback: Hashable, Sendable {
        /// How many launches the app confirms with a receipt; 0–1.
        public var receiptProbability = 0.98
        /// How long after the launch a receipt comes in at least, in milliseconds.
        public var receiptDelayMilliseconds: Int64 = 2_000
        /// How much later than that it comes in, in milliseconds: between none of it and all.
        public var receiptSpreadMilliseconds: Int64 = 0
        /// Whether the app keeps a receipt that was not taken and posts it again with the next
        /// launch, or when its user opens it.
        public var keepsReceipts = false
        /// Whether other devices of the app confirm launches, where this one never does.
        public var isAmongConfirming = false
        /// Whether a receipt says that the app has synced everything in that launch.
        public var receiptsSaySynced = true
        /// Whether the app reports that it came to the foreground.
        public var reportsForeground = true
        /// Whether it then also reports Low Power Mode and the battery.
        public var reportsPower = true
        /// Whether it then also reports Background App Refresh, which shows as off in Low Power
        /// Mode too.
        public var reportsRefresh = false

        /// The app confirms launches and reports its device's signals.
        public init() {}

        /// The app reports nothing.
        public static var none: Feedback {
            var feedback = Feedback()
            feedback.receiptProbability = 0
            feedback.reportsForeground = false
            feedback.reportsPower = false
            return feedback
        }
    }
}
