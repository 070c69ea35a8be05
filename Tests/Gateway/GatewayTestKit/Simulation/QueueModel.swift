// SPDX-License-Identifier: Apache-2.0

import Gateway
import PayloadRules
import WakeBudget
import WakeModel

/// A request, as its caller sees it.
struct WakeInfo {
    /// A call, and when it was accepted.
    struct Call {
        let number: UInt64
        /// In true time, in milliseconds.
        let acceptedAt: Int64
        /// How often the clock had leapt ahead by then.
        let leaps: Int
    }

    enum Payload {
        /// A background wake with this key in its payload.
        case key(Int)
        case call(Call)
    }

    let device: UInt64
    let app: AppIdentity
    let payload: Payload

    var call: Call? {
        if case .call(let call) = payload { call } else { nil }
    }
}

/// The state of the callers, the devices and APNs, which a queue is compared with.
struct QueueModel {
    /// A push that may have arrived.
    struct Arrival {
        let ticket: Claim.Ticket
        /// When it was claimed, by its gateway's clock.
        let at: WallInstant
    }

    /// How many wakes are remembered for cancelling, and calls for repetitions: more than arrive
    /// together.
    private static let recentCount = 60
    private static let recentCallCount = 150

    /// All wakes that were accepted, until they are pruned.
    private(set) var wakes: [WakeID: WakeInfo] = [:]
    /// Those whose caller had its answer, in the order of the answers.
    private(set) var acknowledged: [WakeID] = []
    private var known: Set<WakeID> = []
    /// The ends that were reported.
    var ends: [WakeID: WakeEnd] = [:]
    /// The latest wakes.
    private(set) var recent: [WakeID] = []
    /// The latest calls that were asked for.
    private(set) var recentCalls: [(UInt64, UInt64)] = []
    /// How often the clock has leapt ahead.
    var leaps = 0
    /// How many phones were called many times together.
    var floods: UInt64 = 0
    /// The background pushes of a day that may have arrived, of each device of one app.
    var arrivals: [UInt64: [Arrival]] = [:]
    /// When each device was forgotten last: what was claimed before does not count.
    private(set) var forgotten: [UInt64: WallInstant] = [:]
    /// The calls that may have rung, by device and number.
    var rung: [UInt64: [(ticket: Claim.Ticket, call: WakeInfo.Call)]] = [:]
    /// How many wakes were accepted by transactions that are done.
    private(set) var acceptedCount = 0
    /// The requests of transactions with an unknown result, by the entropy of the wakes' ids.
    private var doubts: [UInt64: WakeInfo] = [:]
    /// How many of them came since the last restart.
    private(set) var doubtfulCount = 0

    mutating func keep(_ id: WakeID, _ info: WakeInfo) {
        wakes[id] = info
        acceptedCount += 1
        recent.append(id)
        if recent.count > Self.recentCount { recent.removeFirst() }
    }

    /// Notes that a caller was answered with this wake. The answer to a repeated call names it even
    /// when it is gone already, because the clock leapt past the end of its time.
    mutating func acknowledge(_ id: WakeID) {
        guard wakes[id] != nil else { return }
        if known.insert(id).inserted { acknowledged.append(id) }
    }

    /// What was asked for with this wake.
    func info(of id: WakeID) -> WakeInfo? { wakes[id] ?? doubts[id.apnsID.low] }

    /// Notes a wake that may have been accepted.
    mutating func doubt(_ entropy: UInt64, _ info: WakeInfo) {
        doubts[WakeID(number: 0, entropy: entropy).apnsID.low] = info
        doubtfulCount += 1
    }

    /// Notes how many wakes are accepted after a restart.
    mutating func settleDoubts(accepted: Int) {
        acceptedCount = accepted
        doubtfulCount = 0
    }

    /// Forgets a wake that a power cut took.
    mutating func lose(_ id: WakeID) {
        if wakes[id] != nil { acceptedCount -= 1 }
        forget([id])
    }

    /// Forgets what a push did whose claim a power cut took: it may be sent again.
    mutating func lose(_ ticket: Claim.Ticket) {
        for device in arrivals.keys { arrivals[device]?.removeAll { $0.ticket == ticket } }
        for device in rung.keys { rung[device]?.removeAll { $0.ticket == ticket } }
    }

    mutating func forgetDevice(_ device: UInt64, at now: WallInstant) {
        arrivals[device] = nil
        forgotten[device] = now
    }

    mutating func noteCall(_ device: UInt64, _ number: UInt64) {
        recentCalls.append((device, number))
        if recentCalls.count > Self.recentCallCount { recentCalls.removeFirst() }
    }

    /// Forgets wakes that are gone.
    mutating func forget(_ gone: Set<WakeID>) {
        guard !gone.isEmpty else { return }
        acknowledged.removeAll { gone.contains($0) }
        known.subtract(gone)
        recent.removeAll { gone.contains($0) }
        for id in gone {
            wakes[id] = nil
            ends[id] = nil
        }
    }
}

/// Requests that were found valid, kept so that a step costs no validation.
struct WakePool {
    /// Devices of background wakes.
    static let devices = 5
    /// Devices that are called.
    static let phones = 3
    /// The number of the first phone that is called many times together; each of them is another.
    static let firstFloodedPhone: UInt64 = 1_000
    /// Different calls to one phone.
    static let calls = 400
    /// Different keys in payloads.
    static let keys = 40
    /// The device all of whose wakes unite.
    static let unitingDevice: UInt64 = 4

    /// A small day, so that its limit is met. Receipts come from the other app only.
    static let settings: BudgetSettings = {
        var settings = BudgetSettings()
        settings.dailySends = 8
        return settings
    }()

    static let rules: StoreRules = {
        guard let policy = try? BudgetPolicy(settings) else { fatalError("No policy.") }
        return StoreRules(policies: [Samples.app: policy])
    }()

    /// Whether urgent wakes, which keep no spacing, go to a device.
    static func mayBeUrgent(_ device: UInt64) -> Bool { device % 2 == 1 }

    private struct Key: Hashable {
        let app: AppIdentity
        let kind: WakeKind
        let device: UInt64
        let number: UInt64
    }

    private var wakes: [Key: ValidWake] = [:]

    /// The text by which a key is found in a payload.
    static func text(ofKey key: Int) -> String { "\"key\(key)\":\(key)" }

    mutating func background(
        _ app: AppIdentity, _ device: UInt64, _ key: Int, _ expiration: Expiration?,
        at now: WallInstant
    ) -> ValidWake {
        let name = Key(app: app, kind: .background, device: device, number: UInt64(key))
        if expiration == nil, let wake = wakes[name] { return wake }
        let wake = Samples.wake(
            app: app, at: now, device: device, expiration: expiration,
            payload: #"{"aps":{"content-available":1},\#(Self.text(ofKey: key))}"#
        ).wake
        if expiration == nil { wakes[name] = wake }
        return wake
    }

    mutating func call(_ device: UInt64, _ number: UInt64, at now: WallInstant) -> ValidWake {
        let name = Key(app: Samples.app, kind: .voip, device: device, number: number)
        if let wake = wakes[name] { return wake }
        let wake = Samples.wake(.voip, at: now, device: device, call: number).wake
        wakes[name] = wake
        return wake
    }
}
