// SPDX-License-Identifier: Apache-2.0

import Gateway
import Synchronization
import WakeModel

/// The last hour of what the dashboard draws, for a page that was opened only now. It is in memory,
/// and begins anew with the process. May be used from any thread.
///
/// It keeps totals since the start, as `/metrics` has them: a chart takes the differences, and a
/// missing one costs no more than its point.
final class MetricsHistory: Sendable {
    /// From one point to the next, in seconds.
    static let intervalSeconds = 10
    /// How many points are kept: an hour.
    static let pointCount = 3_600 / intervalSeconds
    /// The states in which wakes end, by which they are counted.
    static let states = WakeState.allCases.filter(\.isEnd)

    /// Whose a number is, as its labels have it.
    private struct Owner: Hashable {
        let app: String
        let environment: String

        init(_ labels: [MetricsRegistry.Label]) {
            app = labels.value(of: "app")
            environment = labels.value(of: "environment")
        }

        func isOf(_ filter: AppFilter) -> Bool {
            let environment = (filter.app?.environment ?? filter.environment)?.rawValue
            return (filter.app == nil || filter.app?.bundleID.value == app)
                && (environment == nil || environment == self.environment)
        }
    }

    /// What a column of numbers counts.
    private struct Column: Hashable {
        let metric: Metric
        let owner: Owner
        /// The decision, or the state.
        let word: String
    }

    private struct Point {
        let at: WallInstant
        /// `nil` where the store did not say.
        let waiting: Int?
        /// By the place of their column; columns that came later are missing at the end.
        let totals: [Int64]
        /// How many of APNs' answers fell into each bucket, not cumulated.
        let answers: [Owner: [Int]]
        /// The apps that were configured and not counted by their names.
        let unnamed: Set<AppIdentity>

        /// Whether it has what a filter asks for, and not only what was counted under other names.
        func tells(of filter: AppFilter) -> Bool {
            guard filter.app != nil || filter.environment != nil else { return true }
            return !unnamed.contains { app in
                (filter.app == nil || filter.app == app)
                    && (filter.environment == nil || filter.environment == app.environment)
            }
        }
    }

    private struct State {
        /// Apps are configured, so that there are not many columns; none goes.
        var columns: [Column: Int] = [:]
        var points: [Point] = []
    }

    private let state = Mutex(State())

    /// Adds a point every ten seconds until the task is cancelled.
    func run(_ gateway: Gateway, _ registry: MetricsRegistry) async {
        repeat {
            let counts = try? await gateway.counts()
            record(registry, waiting: counts?.unended, at: gateway.now)
        } while (try? await Task.sleep(for: .seconds(Self.intervalSeconds))) != nil
    }

    /// Adds a point, and forgets the oldest beyond an hour.
    func record(_ registry: MetricsRegistry, waiting: Int?, at now: WallInstant) {
        let counters = [(Metric.decisions, "decision"), (.ended, "state")].flatMap {
            metric, label in
            registry.counters(metric.rawValue).map { labels, value in
                let column = Column(
                    metric: metric, owner: Owner(labels), word: labels.value(of: label))
                return (column, value)
            }
        }
        let answers = Dictionary(
            registry.bucketCounts(Metric.apnsLatency.rawValue).map { (Owner($0), $1) },
            uniquingKeysWith: Self.sum)
        state.withLock { state in
            var totals = [Int64](repeating: 0, count: state.columns.count)
            for (column, value) in counters {
                if let place = state.columns[column] {
                    totals[place] += value
                } else {
                    state.columns[column] = totals.count
                    totals.append(value)
                }
            }
            state.points.append(
                Point(
                    at: now, waiting: waiting, totals: totals, answers: answers,
                    unnamed: registry.unnamedApps))
            if state.points.count > Self.pointCount { state.points.removeFirst() }
        }
    }

    /// The points of all apps together, or of those that `filter` lets through, the oldest first.
    /// What an app counted under another name is left out, where one asks for it.
    func json(of filter: AppFilter) -> JSONValue {
        let (columns, points) = state.withLock { ($0.columns, $0.points) }
        let shown = columns.filter { column, _ in column.owner.isOf(filter) }
        func places(_ metric: Metric, _ words: [String]) -> [(word: String, places: [Int])] {
            words.map { word in
                (word, shown.filter { $0.key.metric == metric && $0.key.word == word }.map(\.value))
            }
        }
        func members(_ words: [(word: String, places: [Int])], _ point: Point) -> JSONValue {
            .object(
                words.map { word, places in
                    let known = places.filter { $0 < point.totals.count }
                    return (word, .integer(known.reduce(0) { $0 + point.totals[$1] }))
                })
        }
        let decisions = places(.decisions, WakeDecision.words)
        let outcomes = places(.ended, Self.states.map(\.rawValue))
        return .object([
            ("interval_seconds", .integer(Int64(Self.intervalSeconds))),
            ("apns_bounds_seconds", .array(Metric.apnsLatency.bounds.map { .number($0) })),
            (
                "points",
                .array(
                    points.map { point in
                        var known: [(String, JSONValue?)] = [
                            ("at", .string(point.at.description)),
                            ("waiting", point.waiting.map { .integer(Int64($0)) }),
                        ]
                        guard point.tells(of: filter) else { return .object(known) }
                        let answers = point.answers.filter { $0.key.isOf(filter) }.values
                            .reduce([], Self.sum)
                        known.append(("decisions", members(decisions, point)))
                        known.append(("outcomes", members(outcomes, point)))
                        known.append(
                            ("apns_answers", .array(answers.map { .integer(Int64($0)) })))
                        return .object(known)
                    })
            ),
        ])
    }

    /// Adds bucket by bucket; either may be empty.
    private static func sum(_ left: [Int], _ right: [Int]) -> [Int] {
        left.isEmpty ? right : right.isEmpty ? left : zip(left, right).map(+)
    }

    /// What the OpenAPI document says of it.
    static var schema: Schema {
        .object([
            .required("interval_seconds", .count("From one point to the next.")),
            .required(
                "apns_bounds_seconds",
                .array(of: .number(), "The upper bounds of the buckets of `apns_answers`.")),
            .required(
                "points",
                .array(
                    of: .object([
                        .required("at", .instant()),
                        .optional("waiting", .count("Wakes of all apps that had not ended.")),
                        .optional(
                            "decisions",
                            .object(
                                WakeDecision.words.map { .required($0, .count()) },
                                "By what the budget decided of accepted wakes.")),
                        .optional(
                            "outcomes",
                            .object(
                                states.map { .required($0.rawValue, .count()) },
                                "By the state in which wakes ended.")),
                        .optional(
                            "apns_answers",
                            .array(
                                of: .count(),
                                "APNs' answers by how long they took, for each bucket, and one "
                                    + "for those above all bounds; empty before the first.")
                        ),
                    ]),
                    "The oldest first. The numbers count from the gateway's start. Decisions, "
                        + "outcomes and answers are missing where an app or an environment is "
                        + "asked for and an app of it was not counted by its name.")),
        ])
    }
}

extension [MetricsRegistry.Label] {
    /// The value of a label; empty where there is none.
    fileprivate func value(of name: String) -> String { first { $0.name == name }?.value ?? "" }
}
