// SPDX-License-Identifier: Apache-2.0

import Gateway
import Synchronization
import WakeModel

/// The last hour of the dashboard's charts, in memory. It starts empty with the process. May be
/// used from any thread.
///
/// Points hold totals since the start, as `/metrics` does. A chart shows the differences, so that a
/// missing point affects no other one.
final class MetricsHistory: Sendable {
    /// The interval of points, in seconds.
    static let intervalSeconds = 10
    /// The maximum number of points: one hour.
    static let pointCount = 3_600 / intervalSeconds
    /// The end states of wakes, by which outcomes are counted.
    static let states = WakeState.allCases.filter(\.isEnd)

    /// The app and the environment of a number, as in its labels.
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

    /// The identity of a column of totals.
    private struct Column: Hashable {
        let metric: Metric
        let owner: Owner
        /// The decision or the state.
        let word: String
    }

    private struct Point {
        let at: WallInstant
        /// `nil` if the store could not be read.
        let waiting: Int?
        /// By the index of the column; later columns are missing at the end.
        let totals: [Int64]
        /// The number of APNs' answers in each bucket, not cumulative.
        let answers: [Owner: [Int]]
        /// The configured apps without series of their own.
        let unnamed: Set<AppIdentity>

        /// Whether all apps that the filter selects have series of their own, so that the totals
        /// are complete.
        func tells(of filter: AppFilter) -> Bool {
            guard filter.app != nil || filter.environment != nil else { return true }
            return !unnamed.contains { app in
                (filter.app == nil || filter.app == app)
                    && (filter.environment == nil || filter.environment == app.environment)
            }
        }
    }

    private struct State {
        /// The indexes of columns. Columns are never removed; their number is bounded by the
        /// configured apps.
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

    /// Adds a point, and removes the oldest one if there are more than ``pointCount``.
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

    /// Returns the points, the oldest first, with the totals of the apps that `filter` selects.
    /// Totals are omitted from points for which not all selected apps have series of their own.
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

    /// Adds bucket by bucket; either array may be empty.
    private static func sum(_ left: [Int], _ right: [Int]) -> [Int] {
        left.isEmpty ? right : right.isEmpty ? left : zip(left, right).map(+)
    }

    /// The schema in the OpenAPI document.
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
    /// The value of a label; empty if there is none.
    fileprivate func value(of name: String) -> String { first { $0.name == name }?.value ?? "" }
}
