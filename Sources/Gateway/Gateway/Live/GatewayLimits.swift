// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Every limit of the gateway, with its unit and its default.
public struct GatewayLimits: Hashable, Sendable {
    /// The number of processors that the process may use: tasks with long lists leave one of them
    /// to short requests.
    public var processorCount: Int
    /// The most requests that wait to be written; one more is refused with "too busy".
    public var intakeQueueCount = 10_000
    /// The number of one caller's requests that may wait to be written even when others fill
    /// ``intakeQueueCount``; never more than a quarter of that. A caller is an API key, or all
    /// callers within the process.
    public var intakeCallerReserveCount = 1_000
    /// The most wakes of a request that is not behind batches at intake.
    public var intakeSmallCount = 8
    /// The most wakes that share one transaction at intake.
    public var intakeBatchCount = 512
    /// The most wakes that share one transaction at intake while several callers have requests, or
    /// one has calls as well, so that none of them waits for long transactions of the others.
    public var intakeSharedBatchCount = 64
    /// The time after its last request for which a caller still counts as one that has requests.
    public var intakeSharingMilliseconds = 1_000
    /// How long batches rest at intake after a transaction while other callers have calls or small
    /// requests, in percent of the time that the transaction took: sending and settling what the
    /// batch brought takes the processors as well.
    public var intakeRestPercent: Int
    /// The longest such rest.
    public var intakeRestMaximumMilliseconds = 20
    /// How long a batch waits at intake for in-flight slots, so that it can be sent immediately.
    public var intakePatienceMilliseconds = 20
    /// The most findings that are returned for a single wake, errors first.
    public var findingCount = 100
    /// The most findings that are returned for each wake of a batch, errors first: all of them are
    /// in memory together.
    public var batchFindingCount = 5
    /// The most settlements that share one transaction.
    public var settleBatchCount = 512
    /// The most wakes claimed in one transaction.
    public var claimBatchCount = 500
    /// The most wakes claimed or settled in one transaction while several callers have requests, or
    /// one has calls and others, which would wait for it. Larger ones settle a fifth more wakes a
    /// second when one caller sends all (`RouseBenchmarks gateway`), so they are not always this
    /// small.
    public var dispatchSharedBatchCount = 128
    /// The limit of wakes that are claimed and not yet settled, which all queues share. In addition
    /// each queue has ``queueReserveCount``, and of unresponsive ones only the probes count: in all
    /// there are never more than twice this number and each queue's reserve.
    public var inFlightCount = 4_000
    /// The part of `inFlightCount` that background wakes leave free for VoIP.
    public var voipReserveCount = 400
    /// The number of wakes of one queue (app, environment, push type) that may be in flight in
    /// addition to `inFlightCount`; never more than a sixteenth of that.
    public var queueReserveCount = 64
    /// The number of wakes of one queue that may be in flight before APNs has answered any of them;
    /// each answer adds one, up to `inFlightCount`.
    public var queueWindowCount = 256
    /// The number of failed pushes without any answer that makes a queue unresponsive.
    public var queueFailureCount = 32
    /// The time with pushes in flight and without any answer after which a queue is unresponsive.
    public var queuePatienceMilliseconds = 5_000
    /// The number of probes of an unresponsive queue in flight.
    public var queueProbeCount = 4
    /// The pause after which an unresponsive queue sends another probe without an answer to the
    /// others.
    public var queueProbePauseSeconds = 5
    /// The least duration of a lease. A push is answered, or cancelled, within its lease: one that
    /// may take longer (``GatewayConfiguration/sendSeconds``) has a longer lease.
    public var leaseSeconds = 120
    /// The least difference between a lease and the timeout of a push: the time until it is sent,
    /// and until its result is written.
    public var leaseMarginSeconds = 30
    /// The most attempts for a wake that may have reached APNs.
    public var triesCount = 12
    /// The first pause after an attempt that did not reach APNs; it doubles from there.
    public var transportPauseMilliseconds = 100
    /// The longest such pause.
    public var transportPauseMaximumMilliseconds = 60_000
    /// The longest such pause of calls and Push to Talk: they have seconds, which must not be spent
    /// in a pause when a connection is possible again.
    public var callPauseMaximumMilliseconds = 1_000
    /// The first pause of a queue whose key or topic APNs refused; it doubles from there.
    public var holdPauseSeconds = 30
    /// The longest such pause.
    public var holdPauseMaximumSeconds = 600
    /// The time of failures without any answer after which a queue is reported, and the gateway is
    /// not ready.
    public var silenceSeconds = 60
    /// The longest that the dispatcher sleeps before it checks for expired wakes and lapsed leases.
    public var housekeepingMilliseconds = 1_000
    /// The most wakes expired or reclaimed in one step, so that admissions and claims wait for one
    /// step and not for all overdue wakes.
    public var housekeepingBatchCount = 128
    /// The most rows of a kind that are pruned in one step.
    public var pruneBatchCount = 500
    /// The pause between two steps while there is more to prune.
    public var prunePauseMilliseconds = 10
    /// The pause after everything was pruned.
    public var pruneIdleMilliseconds = 10_000
    /// The most callers that wait for the outcome of a wake.
    public var outcomeWaiterCount = 10_000
    /// The most readers of the stream of outcomes.
    public var eventSubscriberCount = 100
    /// The most of them that one caller may have.
    public var eventSubscriberCountOfCaller = 25
    /// The interval at which a gateway polls the store for outcomes written by others, while
    /// outcomes are read or waited for.
    public var outcomeLookMilliseconds = 100
    /// The longest pause between two polls for the outcome of one wake.
    public var outcomeLookMaximumMilliseconds = 2_000
    /// The pause after the store failed, before it is used again.
    public var storePauseMilliseconds = 250
    /// The largest step of the wall clock that is followed immediately; a larger one is a leap.
    public var clockToleranceMilliseconds = 5_000
    /// The time after a leap of the wall clock until the gateway follows it.
    public var clockLeapSeconds = 60
    /// The retention of webhooks for an endpoint that is not configured any more, so that a mistake
    /// in the configuration does not lose them.
    public var webhookGraceSeconds = 86_400
    /// The time for which a shutdown waits for answers before it cancels pushes.
    public var drainSeconds = 10

    /// The defaults for a process that may use all processors that are online.
    public init() { self.init(processorCount: sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// The defaults for a process that may use so many processors; in a container they may be fewer
    /// than are online.
    public init(processorCount: Int) {
        self.processorCount = processorCount
        intakeRestPercent = 300 / max(1, processorCount - 1)
    }

    /// Traps on limits that cannot work together.
    func check() {
        precondition(processorCount > 0, "A process has at least one processor.")
        precondition(intakeQueueCount > 0 && intakeBatchCount > 0, "Intake limits begin at 1.")
        precondition(intakePatienceMilliseconds >= 0, "Patience begins at 0.")
        precondition(
            findingCount > 0 && batchFindingCount > 0, "Who is refused is told a reason at least.")
        precondition(claimBatchCount > 0, "A claim takes at least one wake.")
        precondition(
            settleBatchCount > 0 && dispatchSharedBatchCount > 0,
            "A settling takes at least one wake.")
        precondition(
            pruneBatchCount > 0 && prunePauseMilliseconds > 0 && pruneIdleMilliseconds > 0,
            "Pruning takes at least one row, and pauses begin at 1.")
        precondition(
            voipReserveCount >= 0 && voipReserveCount < inFlightCount,
            "The VoIP reserve must leave room for background wakes.")
        precondition(leaseSeconds > 0 && triesCount > 0, "Leases and tries begin at 1.")
        precondition(leaseMarginSeconds > 0, "A lease outlives its push.")
        precondition(
            transportPauseMilliseconds > 0 && callPauseMaximumMilliseconds > 0,
            "Pauses begin at 1.")
        precondition(holdPauseSeconds > 0 && housekeepingMilliseconds > 0, "Pauses begin at 1.")
        precondition(silenceSeconds > 0, "A silence lasts.")
        precondition(
            intakeCallerReserveCount >= 0 && intakeSharedBatchCount > 0 && intakeSmallCount >= 0
                && intakeSharingMilliseconds >= 0 && intakeRestPercent >= 0
                && intakeRestMaximumMilliseconds >= 0,
            "Shares at intake begin at 0, and batches at 1.")
        precondition(
            queueReserveCount >= 0 && queueFailureCount > 0 && queuePatienceMilliseconds > 0,
            "A queue's reserve begins at 0, its failures and its patience at 1.")
        precondition(
            queueProbeCount > 0 && queueProbeCount <= queueWindowCount
                && queueProbePauseSeconds > 0,
            "A queue has at least one probe, and no more probes than its first window.")
        precondition(
            queuePatienceMilliseconds <= silenceSeconds * 1000,
            "A queue is unresponsive before its silence is told.")
        precondition(
            outcomeLookMilliseconds > 0 && outcomeLookMaximumMilliseconds > 0, "Pauses begin at 1.")
        precondition(storePauseMilliseconds > 0, "Pauses begin at 1.")
        precondition(
            clockToleranceMilliseconds >= 0 && clockLeapSeconds >= 0 && webhookGraceSeconds >= 0,
            "Patience begins at 0.")
    }

    /// The number of wakes of a queue that may be in flight regardless of the others.
    var ownReserveCount: Int { min(queueReserveCount, inFlightCount / 16) }
    /// The first window of a queue.
    var firstWindowCount: Int { min(queueWindowCount, inFlightCount) }
    /// The number of a caller's requests that may wait regardless of the others.
    var ownIntakeCount: Int { min(intakeCallerReserveCount, intakeQueueCount / 4) }
    /// The most wakes of a transaction at intake while several callers have requests.
    var sharedBatchCount: Int { min(intakeSharedBatchCount, intakeBatchCount) }
}
