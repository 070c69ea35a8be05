// SPDX-License-Identifier: Apache-2.0

public import WakeBudget
public import WakeModel

extension Gateway {
    // `among` restricts a request to apps, for callers without access to others; other apps' data
    // on a device is then absent.

    /// The device's current state in each queue that has it; empty for an unknown one.
    public func device(
        _ token: DeviceToken, app: AppIdentity? = nil, environment: APNsEnvironment? = nil,
        among apps: Set<BundleID>? = nil
    ) async throws(StoreFailure) -> [DeviceView] {
        let queues = context.configuration.queues(of: app, in: environment, among: apps)
        return try await context.perform(
            FindDevices(token, in: queues, at: clock.now(), under: context.rules))
    }

    /// Records what the app reported of its device. A device that is not known yet is made if the
    /// app is named.
    public func report(
        _ signals: [DeviceSignal], of token: DeviceToken, app: AppIdentity? = nil,
        among apps: Set<BundleID>? = nil
    ) async throws(StoreFailure) -> DeviceAnswer {
        try await report(
            .signals(signals), of: token, app: app, among: apps, kind: .background, makes: true)
    }

    /// The app registered the token with APNs, by default now: an older 410 does not count any
    /// more. `user` is the owner of the device: a wake for the user reaches it.
    public func registered(
        _ token: DeviceToken, app: AppIdentity, kind: WakeKind = .background,
        at instant: WallInstant? = nil, user: UserChange = .kept
    ) async throws(StoreFailure) -> DeviceAnswer {
        let at = instant ?? clock.now()
        return try await report(
            .registered(at: at, user), of: token, app: app, among: nil, kind: kind, makes: true)
    }

    /// Removes a device and its budget; its waiting wakes end as cancelled. Only the records of its
    /// ended wakes and the feed of dead tokens contain its token, for as long as they are kept.
    ///
    /// Thousands of waiting plain pushes end in several transactions. When one of them fails, the
    /// wakes that ended before have their outcomes, but are not in the error. Another call ends the
    /// rest: after an error, call it again until there is none.
    public func forget(
        _ token: DeviceToken, app: AppIdentity? = nil, environment: APNsEnvironment? = nil,
        among apps: Set<BundleID>? = nil
    ) async throws(StoreFailure) -> DeviceAnswer {
        try await report(
            .forget, of: token, app: app, environment: environment, among: apps, kind: nil,
            makes: false)
    }

    private func report(
        _ report: DeviceReport, of token: DeviceToken, app: AppIdentity?,
        environment: APNsEnvironment? = nil, among apps: Set<BundleID>?, kind: WakeKind?,
        makes: Bool
    ) async throws(StoreFailure) -> DeviceAnswer {
        let configuration = context.configuration
        if let app, !configuration.apps.contains(app) { return .unknownApp }
        let queues = configuration.queues(of: app, in: environment, among: apps).filter {
            kind == nil || $0.kind == kind
        }
        let outcome = try await context.perform(
            ReportDevice(
                report, of: token, in: queues, makes: makes && app != nil, at: clock.now(),
                under: context.rules))
        context.tell(outcome.ended)
        dispatcher.signal.ring()
        let ended = try await outcome.ended + forgetPushes(of: token, outcome.unfinished)
        return outcome.devices == 0 ? .unknownDevice : .done(ended: ended.map(\.id))
    }

    /// Ends the remaining pushes of a removed device.
    private func forgetPushes(
        of token: DeviceToken, _ unfinished: [WakeQueueKey: Int64]
    ) async throws(StoreFailure) -> [EndedWake] {
        var ended: [EndedWake] = []
        for (queue, number) in unfinished {
            var next: Int64? = number
            while let first = next {
                let outcome = try await context.perform(
                    ForgetPushes(
                        of: token, in: queue, from: first, at: clock.now(), under: context.rules))
                context.tell(outcome.ended)
                ended += outcome.ended
                next = outcome.unfinished[queue]
            }
        }
        return ended
    }

    /// Entries of the feedback feed behind a cursor, ascending; 0 begins at the oldest that is
    /// kept.
    public func feedback(
        after cursor: Int64, limit: Int, among apps: Set<BundleID>? = nil
    ) async throws(StoreFailure) -> [FeedbackEntry] {
        try await context.perform(
            ReadFeedback(after: cursor, limit: max(1, min(limit, 1_000)), of: apps))
    }
}
