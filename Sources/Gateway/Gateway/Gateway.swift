// SPDX-License-Identifier: Apache-2.0

public import Logging
public import PayloadRules
public import ServiceLifecycle
import Synchronization
import WakeBudget
public import WakeModel

/// The gateway: checks, decides on and stores requests, sends due wakes, and records outcomes.
///
/// A gateway is a `Service`. ``run()`` must be running for ``accept(_:environment:idempotency:)``
/// to answer. On graceful shutdown it refuses new wakes, waits for the answers to those in flight
/// up to ``GatewayLimits/drainSeconds``, then abandons the rest and returns. In a service group it
/// must precede the services that pass requests to it, because services stop in the reverse order.
public final class Gateway: Service {
    let context: GatewayContext
    let dispatcher: Dispatcher
    let intake: Intake
    /// Turns for tasks that process many wakes; ``accept(_:spreadSeconds:)`` takes one.
    public let workTurns: WorkTurns
    private let validator: WakeValidator
    private let entropy: @Sendable () -> UInt64
    private let phase = Mutex(Phase.starting)
    private let pruneSignal = AsyncSignal()
    private let steadyClock: SteadyClock

    private enum Phase {
        case starting
        case running
        case stopping
    }

    /// Creates a gateway with this configuration. `entropy` is the source of the random bits of ids
    /// and of retry jitter; tests use a seeded one.
    public init(
        configuration: GatewayConfiguration, store: any WakeStore, sender: any WakeSender,
        validator: WakeValidator = WakeValidator(), clock: any GatewayClock = SystemGatewayClock(),
        limits: GatewayLimits = GatewayLimits(), metrics: any GatewayMetrics = NoMetrics(),
        logger: Logger,
        entropy: @escaping @Sendable () -> UInt64 = { EntropyPool.shared.next() }
    ) {
        limits.check()
        configuration.check()
        let clock = SteadyClock(clock, limits: limits, logger: logger)
        steadyClock = clock
        workTurns = WorkTurns(processorCount: limits.processorCount)
        let context = GatewayContext(
            store: store, configuration: configuration, clock: clock, limits: limits,
            metrics: metrics, logger: logger)
        let dispatcher = Dispatcher(context: context, apps: configuration.apps, sender: sender) {
            Double(entropy() >> 11) / Double(UInt64(1) << 53)
        }
        self.context = context
        self.dispatcher = dispatcher
        self.validator = validator
        self.entropy = entropy
        let intake = Intake(limits: limits) { waiting in
            dispatcher.hasRoom(for: waiting)
        } write: { submissions, isShared in
            context.isShared.store(isShared, ordering: .relaxed)
            let grant = dispatcher.makeGrant(for: submissions)
            let result = await context.admit(submissions, grant: grant?.room)
            dispatcher.admitted(try? result.get(), under: grant)
            return result.map(\.admissions)
        }
        self.intake = intake
        context.whenSettled { [weak dispatcher, weak intake] settlements, nextDue in
            dispatcher?.settled(settlements, nextDue: nextDue)
            intake?.roomCameFree()
        }
    }

    /// Creates a gateway for these apps, with the default budget.
    public convenience init(
        apps: [AppIdentity], store: any WakeStore, sender: any WakeSender,
        validator: WakeValidator = WakeValidator(), clock: any GatewayClock = SystemGatewayClock(),
        limits: GatewayLimits = GatewayLimits(), logger: Logger,
        entropy: @escaping @Sendable () -> UInt64 = { EntropyPool.shared.next() }
    ) {
        self.init(
            configuration: GatewayConfiguration(apps: apps), store: store, sender: sender,
            validator: validator, clock: clock, limits: limits, logger: logger, entropy: entropy)
    }

    // MARK: Running

    /// Runs until the service group shuts down gracefully or the task is cancelled. Cancelled, it
    /// does not wait for answers in flight.
    public func run() async throws {
        phase.withLock { if $0 == .starting { $0 = .running } }
        context.logger.info(
            "the gateway runs", metadata: ["apps": "\(context.configuration.apps.count)"])
        await withTaskCancellationOrGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.intake.run() }
                group.addTask {
                    // Nothing is sent before the paused apps are known; new wakes are accepted.
                    await self.loadPauses()
                    await self.dispatcher.run()
                }
                group.addTask { await self.prune() }
                group.addTask {
                    await self.context.keepHolds { self.phase.withLock { $0 == .stopping } }
                }
            }
            // Records the last answers. If the store fails now, they are not retried.
            if await !self.context.writeHolds() { self.context.giveUpHolds() }
        } onCancelOrGracefulShutdown: {
            self.shutDown()
        }
        context.hub.finish()
        context.logger.info("the gateway has stopped")
    }

    private func shutDown() {
        phase.withLock { $0 = .stopping }
        intake.close()
        dispatcher.stop()
        pruneSignal.ring()
        context.holdSignal.ring()
        context.webhookSignals.ring { _ in true }
    }

    private func prune() async {
        await Pruner(context: context, signal: pruneSignal) {
            self.phase.withLock { $0 == .stopping }
        }.run()
    }

    // MARK: Taking wakes

    /// Checks a request, decides on it and stores it. The answer ``AdmissionResult/admitted(_:)``
    /// means that it is durable and ends, or has ended, in exactly one recorded outcome.
    ///
    /// `environment` may be left out when the app is configured for one only.
    public func accept(
        _ request: WakeRequest, environment: APNsEnvironment? = nil,
        idempotency: IdempotencyKey? = nil
    ) async -> AdmissionResult {
        await accept(Inquiry(request, environment: environment, idempotency: idempotency))
    }

    /// Checks a request, decides on it and keeps it.
    public func accept(_ inquiry: Inquiry) async -> AdmissionResult {
        await withCheckedContinuation { continuation in
            accept(inquiry) { continuation.resume(returning: $0) }
        }()
    }

    /// Checks requests and stores the valid ones. Returns an answer for each, in order. One that is
    /// refused does not fail the others. They share few transactions, but each is admitted
    /// separately.
    ///
    /// With `spreadSeconds` the due times are spread evenly over that time: the request at place i
    /// of n is not sent before i/n of it has passed, and a single one not before a random part of
    /// it has. None is delayed past its expiration. Calls and Push to Talk are not spread.
    ///
    /// `caller` identifies the caller, for example the name of an API key. Requests that wait to be
    /// written are served evenly between callers; those without a name count as one caller. Names
    /// must come from a bounded set.
    ///
    /// Diagnostics of accepted wakes are returned `withDiagnostics` only; those of refused ones
    /// always are.
    public func accept(
        _ inquiries: [Inquiry], spreadSeconds: Int = 0, caller: String = "",
        withDiagnostics: Bool = true
    ) async -> [AdmissionResult] {
        let now = clock.now()
        let apps = context.configuration.apps
        let spread = Int64(max(0, spreadSeconds)) * 1000
        let start = inquiries.count == 1 && spread > 0 ? Int64(entropy() % UInt64(spread)) : 0
        let findings =
            inquiries.count > 1 ? context.limits.batchFindingCount : context.limits.findingCount
        var answers: [AdmissionResult?] = Array(repeating: nil, count: inquiries.count)
        var background = Batch()
        var calls = Batch()
        background.reserveCapacity(inquiries.count)
        var verdicts = LastVerdict(validator, findingCount: findings)
        let turn = inquiries.count > 1 ? await workTurns.begin() : nil
        for (index, inquiry) in inquiries.enumerated() {
            await turn?.pause()
            let offset = start + spread * Int64(index) / Int64(inquiries.count)
            let delay = Delay(spread: spread, offset: offset)
            switch examine(inquiry, apps, now: now, delay, &verdicts) {
            case .refused(let result): answers[index] = result
            case .fine(let submission, let diagnostics):
                let told = withDiagnostics ? diagnostics : []
                if submission.wake.kind.isImmediate {
                    calls.append(submission, told, index)
                } else {
                    background.append(submission, told, index)
                }
            }
        }
        turn?.end()
        let (kept, called) = await submit(background.submissions, calls.submissions, caller)
        background.fill(&answers, kept)
        calls.fill(&answers, called)
        if withDiagnostics { await tellFirstDiagnostics(inquiries, &answers, &verdicts) }
        return answers.map { answer in
            guard let answer else { preconditionFailure("The intake answers each submission.") }
            note(answer)
            return answer
        }
    }

    /// Checks a request, and calls `receive` with a function that makes the answer, as
    /// ``accept(_:spreadSeconds:caller:withDiagnostics:)`` returns it: immediately for a refusal,
    /// and otherwise from the task that writes accepted wakes. All callers wait for that task, so
    /// the function is to be called elsewhere, once.
    package func accept(
        _ inquiry: Inquiry, spreadSeconds: Int = 0, caller: String = "",
        _ receive: @escaping @Sendable (@escaping @Sendable () -> AdmissionResult) -> Void
    ) {
        let spread = Int64(max(0, spreadSeconds)) * 1000
        let delay = Delay(
            spread: spread, offset: spread > 0 ? Int64(entropy() % UInt64(spread)) : 0)
        var verdicts = LastVerdict(validator, findingCount: context.limits.findingCount)
        switch examine(inquiry, context.configuration.apps, now: clock.now(), delay, &verdicts) {
        case .refused(let result):
            note(result)
            receive { result }
        case .fine(let submission, let diagnostics):
            intake.submit(
                [submission], areCalls: submission.wake.kind.isImmediate, caller: caller
            ) { [verdicts] answers in
                receive { self.answer(answers[0], to: inquiry, diagnostics, verdicts) }
            }
        }
    }

    /// The answer to a request that was submitted.
    private func answer(
        _ result: AdmissionResult, to inquiry: Inquiry, _ diagnostics: [Diagnostic],
        _ verdicts: LastVerdict
    ) -> AdmissionResult {
        note(result)
        guard case .admitted(var wake) = result else { return result }
        var verdicts = verdicts
        wake.diagnostics = firstDiagnostics(of: wake, inquiry, &verdicts) ?? diagnostics
        return .admitted(wake)
    }

    /// Submits background wakes and calls concurrently. With one kind only, no task is made for the
    /// other.
    private func submit(
        _ background: [WakeSubmission], _ calls: [WakeSubmission], _ caller: String
    ) async -> (background: [AdmissionResult], calls: [AdmissionResult]) {
        guard !calls.isEmpty else {
            return (await intake.submit(background, areCalls: false, caller: caller), [])
        }
        guard !background.isEmpty else {
            return ([], await intake.submit(calls, areCalls: true, caller: caller))
        }
        async let called = intake.submit(calls, areCalls: true, caller: caller)
        return (await intake.submit(background, areCalls: false, caller: caller), await called)
    }

    /// Submissions of one kind, and the places of their answers.
    private struct Batch {
        var submissions: [WakeSubmission] = []
        var places: [(index: Int, diagnostics: [Diagnostic])] = []

        mutating func reserveCapacity(_ count: Int) {
            submissions.reserveCapacity(count)
            places.reserveCapacity(count)
        }

        mutating func append(
            _ submission: WakeSubmission, _ diagnostics: [Diagnostic], _ index: Int
        ) {
            submissions.append(submission)
            places.append((index, diagnostics))
        }

        /// Puts the answers in their places.
        func fill(_ answers: inout [AdmissionResult?], _ results: [AdmissionResult]) {
            for (place, result) in zip(places, results) {
                guard case .admitted(var wake) = result else {
                    answers[place.index] = result
                    continue
                }
                wake.diagnostics = place.diagnostics
                answers[place.index] = .admitted(wake)
            }
        }
    }

    private enum Examined {
        case refused(AdmissionResult)
        case fine(WakeSubmission, diagnostics: [Diagnostic])
    }

    /// The delay of a wake: a part of the time over which it is spread, limited by its expiration.
    private struct Delay {
        /// The least time between the delayed start of a wake and its end, so that it can still be
        /// delivered.
        static let reserveMilliseconds: Int64 = 60_000

        /// In milliseconds.
        let spread: Int64
        /// How much of them.
        let offset: Int64

        /// The earliest time at which the wake may be sent; `nil` for immediately. A wake without
        /// an expiry is held for `holdSeconds`.
        func notBefore(
            _ wake: ValidWake, now: WallInstant, holdSeconds: Int
        ) -> WallInstant? {
            guard spread > 0, !wake.kind.isImmediate else { return nil }
            var life = Int64(holdSeconds) * 1000
            if case .at(let expiry) = wake.expiration {
                life = min(life, expiry.milliseconds(since: now))
            }
            let reach = max(0, life - Self.reserveMilliseconds)
            let delay =
                reach >= spread
                ? offset : Int64(Double(reach) * Double(offset) / Double(spread))
            return delay > 0 ? now.advanced(byMilliseconds: delay) : nil
        }
    }

    /// The reason why a bundle id names no app.
    enum NoApp: Error {
        case unknown
        case elsewhere(APNsEnvironment)
        case ambiguous
    }

    /// The app of a bundle id, in this environment or in its only one.
    static func app(
        _ bundleID: BundleID, _ environment: APNsEnvironment?, among apps: [AppIdentity]
    ) -> Result<AppIdentity, NoApp> {
        var found: AppIdentity?
        var other: APNsEnvironment?
        for app in apps where app.bundleID == bundleID {
            guard environment == nil || environment == app.environment else {
                other = app.environment
                continue
            }
            guard found == nil else { return .failure(.ambiguous) }
            found = app
        }
        return found.map { .success($0) } ?? .failure(other.map { .elsewhere($0) } ?? .unknown)
    }

    private func examine(
        _ inquiry: Inquiry, _ apps: [AppIdentity], now: WallInstant, _ delay: Delay,
        _ verdicts: inout LastVerdict
    ) -> Examined {
        let request = inquiry.request
        let app: AppIdentity
        switch Self.app(request.bundleID, inquiry.environment, among: apps) {
        case .success(let found): app = found
        case .failure(let failure): return .refused(AdmissionResult(failure))
        }
        if request.kind.discipline == .plain,
            let why = context.configuration.whyNot(request.kind, of: app)
        {
            return .refused(.wrongCredential(why))
        }
        switch verdicts.verdict(on: request, now: now) {
        case .invalid(let diagnostics):
            return .refused(.invalid(diagnostics))
        case .valid(let wake, let diagnostics):
            let submission = WakeSubmission(
                wake: wake, environment: app.environment, acceptedAt: now,
                notBefore: delay.notBefore(
                    wake, now: now,
                    holdSeconds: (context.configuration.policies[app] ?? .standard).settings
                        .holdSeconds),
                options: inquiry.options, entropy: entropy(), idempotency: inquiry.idempotency)
            return .fine(submission, diagnostics: diagnostics)
        }
    }

    /// Gives repeated requests the diagnostics of the first one.
    private func tellFirstDiagnostics(
        _ inquiries: [Inquiry], _ answers: inout [AdmissionResult?], _ verdicts: inout LastVerdict
    ) async {
        var turn: WorkTurn?
        defer { turn?.end() }
        for (index, inquiry) in inquiries.enumerated() {
            guard case .admitted(var wake) = answers[index], wake.isRepeated else { continue }
            if turn == nil, inquiries.count > 1 { turn = await workTurns.begin() }
            await turn?.pause()
            guard let diagnostics = firstDiagnostics(of: wake, inquiry, &verdicts) else { continue }
            wake.diagnostics = diagnostics
            answers[index] = .admitted(wake)
        }
    }

    /// The diagnostics of the first request of a repeated one, `nil` for others: the rules use the
    /// time until the expiration, and the answer must be the same.
    private func firstDiagnostics(
        of wake: AdmittedWake, _ inquiry: Inquiry, _ verdicts: inout LastVerdict
    ) -> [Diagnostic]? {
        guard wake.isRepeated, inquiry.idempotency != nil, !inquiry.hasLifetime,
            case .valid(_, let diagnostics) = verdicts.verdict(
                on: inquiry.request, now: wake.acceptedAt)
        else { return nil }
        return diagnostics
    }

    /// The reason why such a request is refused for any device token; `nil` when it is not.
    package func refusal(of inquiry: Inquiry) -> AdmissionResult? {
        var verdicts = LastVerdict(validator, findingCount: context.limits.findingCount)
        guard
            case .refused(let result) = examine(
                inquiry, context.configuration.apps, now: clock.now(),
                Delay(spread: 0, offset: 0), &verdicts)
        else { return nil }
        note(result)
        return result
    }

    private func note(_ result: AdmissionResult) {
        switch result {
        case .admitted(let wake):
            context.logger.debug(
                wake.isRepeated ? "a request was repeated" : "a wake was accepted",
                metadata: ["wake": "\(wake.id)"])
        case .invalid: context.metrics.refused(1, why: "invalid")
        case .unknownApp, .wrongEnvironment, .ambiguousEnvironment:
            context.metrics.refused(1, why: "unknown-app")
        case .wrongCredential: context.metrics.refused(1, why: "wrong-credential")
        case .idempotencyConflict: context.metrics.refused(1, why: "conflict")
        case .overloaded: context.metrics.refused(1, why: "overloaded")
        case .unavailable: context.metrics.refused(1, why: "unavailable")
        case .damaged: context.metrics.refused(1, why: "damaged")
        }
    }

    // MARK: Standing

    package var clock: any GatewayClock { context.clock }

    /// The present instant by the gateway's clock.
    public var now: WallInstant { clock.now() }

    /// Whether the gateway can accept and send wakes; if not, the reasons.
    public var readiness: Readiness {
        var obstacles: [String] = []
        switch phase.withLock({ $0 }) {
        case .starting: obstacles.append("The gateway has not started yet.")
        case .running: break
        case .stopping: obstacles.append("The gateway is shutting down.")
        }
        if let failure = context.watch.currentFailure {
            obstacles.append("The store fails: \(failure.message)")
        }
        if let leap = steadyClock.leap {
            obstacles.append(
                "The wall clock leapt \(leap.distance) at \(leap.since). The gateway keeps its own "
                    + "time until the clock is back or has stayed there for "
                    + "\(context.limits.clockLeapSeconds) seconds.")
        }
        for app in apps {
            for var queue in app.queues where queue.circuit != .closed || queue.silence != nil {
                // Readiness is public; an operator's text is not.
                queue.pause = queue.pause.map { QueuePause(at: $0.at, reason: nil) }
                let key = WakeQueueKey(app: app.app, kind: queue.kind)
                obstacles.append("\(key): \(queue.message)")
            }
        }
        return Readiness(obstacles: obstacles)
    }
}

extension AdmissionResult {
    /// The refusal of a request whose bundle id names no app.
    init(_ failure: Gateway.NoApp) {
        switch failure {
        case .unknown: self = .unknownApp
        case .elsewhere(let environment): self = .wrongEnvironment(configured: environment)
        case .ambiguous: self = .ambiguousEnvironment
        }
    }
}
