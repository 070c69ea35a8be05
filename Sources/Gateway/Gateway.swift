// SPDX-License-Identifier: Apache-2.0

public import Logging
public import PayloadRules
public import ServiceLifecycle
import Synchronization
public import WakeModel

/// The hall where everything meets: requests come in, are checked and kept; due wakes go out;
/// outcomes are recorded.
///
/// A gateway is a `Service`. ``run()`` must be running for ``accept(_:environment:idempotency:)``
/// to answer. On graceful shutdown it refuses new wakes, waits for the answers to those in flight
/// up to ``GatewayLimits/drainSeconds``, then gives up the rest and returns. In a service group
/// it belongs before whatever brings requests in, because services stop in the reverse order.
public final class Gateway: Service {
    private let apps: [AppIdentity]
    private let validator: WakeValidator
    private let store: any WakeStore
    private let clock: any GatewayClock
    private let limits: GatewayLimits
    private let logger: Logger
    private let entropy: @Sendable () -> UInt64
    private let watch: StoreWatch
    private let intake: Intake
    private let dispatcher: Dispatcher
    private let phase = Mutex(Phase.starting)

    private enum Phase {
        case starting
        case running
        case stopping
    }

    /// A gateway for these apps, which must differ. `entropy` is where the random bits of ids and
    /// of retry jitter come from; tests give a seeded one.
    public init(
        apps: [AppIdentity], store: any WakeStore, sender: any WakeSender,
        validator: WakeValidator = WakeValidator(), clock: any GatewayClock = SystemGatewayClock(),
        limits: GatewayLimits = GatewayLimits(), logger: Logger,
        entropy: @escaping @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }
    ) {
        limits.check()
        precondition(Set(apps).count == apps.count, "An app is configured twice.")
        let watch = StoreWatch(logger: logger)
        let dispatcher = Dispatcher(
            apps: apps, store: store, sender: sender, watch: watch, clock: clock, limits: limits,
            logger: logger
        ) { Double(entropy() >> 11) / Double(UInt64(1) << 53) }
        self.apps = apps
        self.validator = validator
        self.store = store
        self.clock = clock
        self.limits = limits
        self.logger = logger
        self.entropy = entropy
        self.watch = watch
        self.dispatcher = dispatcher
        intake = Intake(store: store, watch: watch, limits: limits) { dispatcher.bell.ring() }
    }

    // MARK: Running

    /// Runs until the service group shuts down gracefully or the task is cancelled. Cancelled, it
    /// does not wait for answers in flight.
    public func run() async throws {
        phase.withLock { if $0 == .starting { $0 = .running } }
        logger.info("the gateway runs", metadata: ["apps": "\(apps.count)"])
        await withTaskCancellationOrGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.intake.run() }
                group.addTask { await self.dispatcher.run() }
            }
        } onCancelOrGracefulShutdown: {
            self.shutDown()
        }
        logger.info("the gateway has stopped")
    }

    private func shutDown() {
        phase.withLock { $0 = .stopping }
        intake.close()
        dispatcher.stop()
    }

    // MARK: Taking wakes

    /// Checks a request and keeps it. The answer ``Acceptance/admitted(_:remarks:)`` means that it
    /// is on disk and will end in exactly one recorded outcome.
    ///
    /// `environment` may be left out when the app is configured for one only.
    public func accept(
        _ request: WakeRequest, environment: APNsEnvironment? = nil,
        idempotency: IdempotencyMark? = nil
    ) async -> Acceptance {
        let inquiry = Inquiry(request, environment: environment, idempotency: idempotency)
        return await accept([inquiry])[0]
    }

    /// Checks requests and keeps those that are fine; answers one by one, in order. One that is
    /// refused does not fail the others. They share few transactions, which is what makes a batch
    /// cheap; each is admitted for itself.
    public func accept(_ inquiries: [Inquiry]) async -> [Acceptance] {
        var answers: [Acceptance?] = Array(repeating: nil, count: inquiries.count)
        var submissions: [Submission] = []
        var places: [(index: Int, remarks: [Diagnostic])] = []
        submissions.reserveCapacity(inquiries.count)
        places.reserveCapacity(inquiries.count)
        let now = clock.now()
        for (index, inquiry) in inquiries.enumerated() {
            switch examine(inquiry, now: now) {
            case .refused(let acceptance): answers[index] = acceptance
            case .fine(let submission, let remarks):
                submissions.append(submission)
                places.append((index, remarks))
            }
        }
        for (place, answer) in zip(places, await intake.submit(submissions)) {
            answers[place.index] = acceptance(answer, place.remarks)
        }
        return answers.map { answer in
            guard let answer else { preconditionFailure("The intake answers each submission.") }
            return answer
        }
    }

    private enum Examined {
        case refused(Acceptance)
        case fine(Submission, remarks: [Diagnostic])
    }

    private func examine(_ inquiry: Inquiry, now: WallInstant) -> Examined {
        let request = inquiry.request
        let candidates = apps.filter {
            $0.bundleID == request.bundleID
                && (inquiry.environment == nil || inquiry.environment == $0.environment)
        }
        guard let app = candidates.first else { return .refused(.unknownApp) }
        guard candidates.count == 1 else { return .refused(.ambiguousEnvironment) }
        switch validator.validate(request, now: now) {
        case .invalid(let diagnostics):
            return .refused(.invalid(diagnostics))
        case .valid(let wake, let remarks):
            let submission = Submission(
                wake: admissible(wake, app.environment, now), idempotency: inquiry.idempotency)
            return .fine(submission, remarks: remarks)
        }
    }

    private func admissible(
        _ wake: ValidWake, _ environment: APNsEnvironment, _ now: WallInstant
    ) -> NewWake {
        let seconds =
            wake.kind == .voip ? limits.voipQueueSeconds : limits.backgroundHoldSeconds
        var deadline = now.advanced(bySeconds: Int64(seconds))
        if case .at(let expiry) = wake.expiration { deadline = min(deadline, expiry) }
        return NewWake(
            id: WakeID(at: now, entropy: entropy(), entropy()), wake: wake,
            environment: environment, acceptedAt: now, dueAt: now, deadline: deadline)
    }

    private func acceptance(_ answer: Intake.Answer, _ remarks: [Diagnostic]) -> Acceptance {
        switch answer {
        case .stored(.admitted(let wake)):
            logger.debug("a wake was accepted", metadata: ["wake": "\(wake.id)"])
            return .admitted(wake, remarks: remarks)
        case .stored(.repeated(let wake)):
            return .admitted(wake, remarks: remarks)
        case .stored(.conflict):
            return .idempotencyConflict
        case .overloaded:
            return .overloaded(retryAfterSeconds: Acceptance.overloadPauseSeconds)
        case .closed:
            return .unavailable("The gateway is shutting down.")
        case .failed(let failure):
            return .unavailable(failure.message)
        }
    }

    // MARK: Telling

    /// All that is known of one wake; `nil` for an unknown id.
    public func record(of id: WakeID) async throws(StoreFailure) -> WakeRecord? {
        try await watch.observe { () async throws(StoreFailure) in
            try await store.record(of: id)
        }
    }

    /// The present instant by the gateway's clock.
    public var now: WallInstant { clock.now() }

    /// Whether the gateway can take and send wakes; if not, why.
    public var readiness: Readiness {
        var obstacles: [String] = []
        switch phase.withLock({ $0 }) {
        case .starting: obstacles.append("The gateway has not started yet.")
        case .running: break
        case .stopping: obstacles.append("The gateway is shutting down.")
        }
        if let failure = watch.currentFailure {
            obstacles.append("The store fails: \(failure.message)")
        }
        let holds = dispatcher.state.withLock { $0.holds.holds }
        for (lane, hold) in holds.sorted(by: { $0.key.description < $1.key.description }) {
            obstacles.append("Dispatch of \(lane) is held since \(hold.since): \(hold.reason)")
        }
        return Readiness(obstacles: obstacles)
    }
}
