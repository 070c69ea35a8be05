// SPDX-License-Identifier: Apache-2.0

public import WakeModel

extension Gateway {
    /// The devices that are registered under a user (``registered(_:app:kind:at:user:)``).
    public func devices(
        ofUser user: UserID, app: AppIdentity? = nil, environment: APNsEnvironment? = nil,
        among apps: Set<BundleID>? = nil
    ) async throws(StoreFailure) -> [UserDevice] {
        let queues = context.configuration.queues(of: app, in: environment, among: apps)
        return try await context.perform(ListUserDevices(of: user, in: queues))
    }

    /// Removes a user's registrations: all, or those of an app, or a token's. Their waiting wakes
    /// are still sent. Returns the number of removed registrations.
    public func unregister(
        _ user: UserID, token: DeviceToken? = nil, app: AppIdentity? = nil,
        environment: APNsEnvironment? = nil, among apps: Set<BundleID>? = nil
    ) async throws(StoreFailure) -> Int {
        let queues = context.configuration.queues(of: app, in: environment, among: apps)
        return try await context.perform(
            UnregisterUser(user, token: token, in: queues, at: clock.now()))
    }

    /// Requests a wake on each device that is registered under a user for this app, environment and
    /// kind of push: `inquiry` makes the request for a device. Returns an answer for each device,
    /// none when the user has none, as ``accept(_:spreadSeconds:caller:withDiagnostics:)`` does.
    ///
    /// With `idempotency`, a repeated request is for the devices of the first one, regardless of
    /// later registrations, and gets their answers. `inquiry` is not used for it.
    public func accept(
        forUser user: UserID, app bundleID: BundleID, environment: APNsEnvironment? = nil,
        kind: WakeKind, idempotency: IdempotencyKey? = nil, spreadSeconds: Int = 0,
        caller: String = "", inquiry: (DeviceToken) -> Inquiry
    ) async -> [(deviceToken: DeviceToken?, result: AdmissionResult)] {
        let app: AppIdentity
        switch Self.app(bundleID, environment, among: context.configuration.apps) {
        case .success(let found): app = found
        case .failure(let failure): return [(nil, AdmissionResult(failure))]
        }
        let target = UserTarget(
            user: user, queue: WakeQueueKey(app: app, kind: kind), idempotency: idempotency)
        // Another request with the same key may be admitted between the two commands, when the user
        // has other devices; the second attempt finds it.
        for isLast in [false, true] {
            let resolution: UserResolution?
            do throws(StoreFailure) {
                resolution = try await resolve([target]).first
            } catch {
                return [(nil, AdmissionResult(error))]
            }
            guard case .devices(let places) = resolution else { break }
            let inquiries = places.map { place in
                var inquiry = inquiry(place.deviceToken)
                inquiry.idempotency = place.idempotency
                return inquiry
            }
            let results = await accept(inquiries, spreadSeconds: spreadSeconds, caller: caller)
            if isLast || !results.contains(.idempotencyConflict) {
                return zip(places, results).map { ($0.deviceToken, $1) }
            }
        }
        return [(nil, .idempotencyConflict)]
    }

    /// The devices that requests for users are for; answers one by one, in order.
    package func resolve(
        _ targets: [UserTarget]
    ) async throws(StoreFailure) -> [UserResolution] {
        try await context.perform(ResolveUsers(targets, at: clock.now()))
    }
}
