// SPDX-License-Identifier: Apache-2.0

import StrictJSON
import WakeModel

/// Checks rules about several pushes: BG020, BG021, BG025, VO011 to VO014, LA006, LO002, PT002,
/// AU004, AU005, AU008 and SQ001 to SQ004.
///
/// The input is a log of sent pushes, or a plan, in order of time. The memory per device is
/// bounded, regardless of the number of pushes; devices without a push for a day are removed. Only
/// hashes and times of payloads, call ids and tokens are stored.
public struct PushHistory: Sendable {
    /// The time for which a device is stored after its last push, in milliseconds: one day.
    static let memoryMilliseconds: Int64 = 86_400_000
    /// The number of devices at which expired ones are first removed.
    static let firstSweep = 65_536
    /// Times are clamped to this many milliseconds from the epoch, 36 million years, so that
    /// differences do not overflow.
    private static let farthestMilliseconds: Int64 = 1 << 60
    /// The window of rules with hourly limits, in milliseconds.
    static let hour: Int64 = 3_600_000

    let settings: WakeValidator.Settings
    private var devices: [String: DeviceHistory] = [:]
    private var sweepAt = PushHistory.firstSweep
    private var latest = Int64.min
    private var bursts = BurstDetector()
    private var tokens = TokenHistory()

    /// Creates an empty history with these settings.
    public init(configuration: WakeValidator.Configuration = .init()) {
        settings = WakeValidator.Settings(configuration)
    }

    /// Returns the findings about a push after the previous ones. A push that is older than the
    /// previous one counts as sent at the same time.
    public mutating func examine(_ push: SentPush) -> [Diagnostic] {
        let limit = Self.farthestMilliseconds
        let now = max(latest, min(max(push.at.millisecondsSinceEpoch, -limit), limit))
        latest = now
        forgetIdleDevices(now)
        let context = ValidationContext(push.draft, settings: settings)
        let payload = FNV1a.hash(push.draft.payload)
        var findings = HistoryFindings()
        // Removed while it changes, so that its arrays are not copied.
        var device = devices.removeValue(forKey: push.device) ?? DeviceHistory()
        examineAnswers(push, payload, now, &device, &findings)
        examineDeletion(push, Rules.environmentOfHost(context), &device, &findings)
        examineTokenUse(context, &device, &findings)
        examineRates(context, payload, now, &device, &findings)
        tokens.examine(Rules.token(of: context), now, settings.thresholds, &findings)
        device.lastPushAt = now
        devices[push.device] = device
        return findings.diagnostics
    }

    private mutating func forgetIdleDevices(_ now: Int64) {
        guard devices.count >= sweepAt else { return }
        devices = devices.filter { now - Self.memoryMilliseconds <= $0.value.lastPushAt }
        sweepAt = max(Self.firstSweep, devices.count * 2)
    }

    private func examineTokenUse(
        _ push: ValidationContext, _ device: inout DeviceHistory, _ findings: inout HistoryFindings
    ) {
        if push.type == .voip {
            device.hasVoIPPush = true
        } else if !push.type.isDisjoint(with: [.alert, .background]) {
            device.hasOtherPush = true
        }
        if device.hasVoIPPush, device.hasOtherPush, !device.isReportedAsMixed {
            device.isReportedAsMixed = true
            findings.report("VO011")
        }
    }

    private mutating func examineRates(
        _ push: ValidationContext, _ payload: UInt64, _ now: Int64, _ device: inout DeviceHistory,
        _ findings: inout HistoryFindings
    ) {
        let limits = settings.thresholds
        switch push.type {
        case .background: examineBackground(payload, now, &device, &findings)
        case .voip: examineCall(push, payload, now, &device, &findings)
        case .liveactivity where Rules.isSentAtOnce(push):
            let limit = limits.liveActivityImmediatePerHour
            if device.immediateActivity.add(now, window: Self.hour, limit: limit) > limit {
                findings.report(
                    "LA006", "more than \(limit) updates at priority 10 in 60 minutes")
            }
        case .location:
            let limit = limits.locationPerHour
            if device.location.add(now, window: Self.hour, limit: limit) > limit {
                findings.report("LO002", "more than \(limit) location pushes in 60 minutes")
            }
        case .pushtotalk where isServiceUpdate(push):
            let limit = limits.serviceUpdatesPerHour
            if device.serviceUpdates.add(now, window: Self.hour, limit: limit) > limit {
                findings.report("PT002", "more than \(limit) service updates in 60 minutes")
            }
        default: break
        }
    }

    private func isServiceUpdate(_ push: ValidationContext) -> Bool {
        guard let member = push.member(.pttPushType), let document = push.document,
            document.kind(member.value) == .string
        else { return false }
        return document.hasText(member.value, "service-update")
    }

    private mutating func examineBackground(
        _ payload: UInt64, _ now: Int64, _ device: inout DeviceHistory,
        _ findings: inout HistoryFindings
    ) {
        let limits = settings.thresholds
        let most = max(limits.backgroundPerHour, limits.backgroundPerHourError)
        let count = device.background.add(now, window: Self.hour, limit: most)
        if count > limits.backgroundPerHourError {
            findings.report(
                "BG020",
                "more than \(limits.backgroundPerHourError) background pushes in 60 minutes",
                severity: .error)
        } else if count > limits.backgroundPerHour {
            findings.report("BG020", "\(count) background pushes in 60 minutes")
        }
        let spacing = limits.backgroundSpacingSeconds
        if let last = device.lastBackgroundAt, (now - last) / 1000 < spacing {
            findings.report(
                "BG021",
                "the background push before this one was sent \((now - last) / 1000) s ago, less "
                    + "than \(spacing) s")
        }
        if bursts.add(payload, isNew: device.lastHint != payload, now, limits) {
            findings.report(
                "BG025",
                "the same background push went to more than \(limits.burstDevices) devices within "
                    + "\(limits.burstSeconds) s")
        }
        device.lastBackgroundAt = now
        device.lastHint = payload
    }

    private func examineCall(
        _ push: ValidationContext, _ payload: UInt64, _ now: Int64, _ device: inout DeviceHistory,
        _ findings: inout HistoryFindings
    ) {
        let limit = settings.thresholds.voipPerHour
        if device.voip.add(now, window: Self.hour, limit: limit) > limit {
            findings.report("VO012", "more than \(limit) VoIP pushes in 60 minutes")
        }
        guard let callID = push.callID else { return }
        let id = FNV1a.hash(callID.utf8)
        device.calls.removeAll { now - $0.firstSentAt > DeviceHistory.callWindow }
        guard let earlier = device.calls.first(where: { $0.id == id }) else {
            if device.calls.count == DeviceHistory.maximumCalls { device.calls.removeFirst() }
            device.calls.append(.init(id: id, payload: payload, firstSentAt: now))
            return
        }
        let age = (now - earlier.firstSentAt) / 1000
        findings.report("VO014", "this call was announced \(age) s ago")
        if age > settings.thresholds.voipRetrySeconds, earlier.payload == payload {
            findings.report("VO013", "a VoIP push is sent again \(age) s after its first attempt")
        }
    }
}
