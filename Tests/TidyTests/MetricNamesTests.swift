// SPDX-License-Identifier: Apache-2.0

import Testing

/// Alert rules and dashboards are written in a language that no compiler checks against the code.
@Suite("Metric names")
struct MetricNamesTests {
    /// What Prometheus makes of a histogram's name.
    private static let histogramSuffixes = ["_bucket", "_count", "_sum"]
    private static let users = ["Deploy/prometheus/alerts.yaml", "Deploy/grafana/rouse.json"]

    /// The list's names, each with its labels.
    private static func listed() throws -> [String: Set<String>] {
        var list: [String: Set<String>] = [:]
        let text = try SourceTree.checkout.text(of: "Deploy/prometheus/metrics.txt")
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ").map(String.init)
            try #require(list.updateValue(Set(words.dropFirst()), forKey: words[0]) == nil)
        }
        return list
    }

    /// The metrics that a text names.
    private static func names(in text: String) -> Set<String> {
        Set(
            text.matches(of: /\brouse_[a-z0-9_]+/).map { match in
                let name = String(match.output)
                let suffix = histogramSuffixes.first(where: name.hasSuffix)
                return String(name.dropLast(suffix?.count ?? 0))
            })
    }

    @Test("the list has what rules and dashboard use, and nothing else")
    func list() throws {
        let used = try Self.users.reduce(into: Set<String>()) {
            $0.formUnion(Self.names(in: try SourceTree.checkout.text(of: $1)))
        }
        #expect(used.count > 10)
        #expect(try Set(Self.listed().keys) == used)
    }

    @Test("labels that rules and dashboard choose or group by are listed")
    func labels() throws {
        // What Prometheus adds, and what its histograms have.
        let known: Set<String> = try Self.listed().values.reduce(["instance", "job", "le"]) {
            $0.union($1)
        }
        for path in Self.users {
            let text = try SourceTree.checkout.text(of: path)
            let groups = text.matches(of: /\bby \(([a-z_, ]+)\)/).flatMap {
                $0.1.split(separator: ",").map { $0.filter { $0 != " " } }
            }
            let choices = text.matches(of: /[{,]([a-z_]+)(?:=~?|!=|!~)\\?"/).map { String($0.1) }
            #expect(!groups.isEmpty && !choices.isEmpty)
            #expect(
                Set(groups + choices).subtracting(known).subtracting(["alertname", "alertstate"])
                    == [], "\(path)")
        }
    }

    @Test("the manual says what to do about each alert")
    func alerts() throws {
        let rules = try SourceTree.checkout.text(of: "Deploy/prometheus/alerts.yaml")
        let alerts = rules.matches(of: /- alert: (\w+)/).map { String($0.1) }
        let manual = try SourceTree.checkout.text(of: "Deploy/manual/operations.md")
        #expect(alerts.count > 10)
        #expect(alerts.filter { !manual.contains("`\($0)`") } == [])
        let named = manual.matches(of: /`(Rouse[A-Z]\w+)`/).map { String($0.1) }
        #expect(Set(named).subtracting(alerts) == [])
    }

    private static let tablePath = "Sources/Gateway/AdminAPI/Metrics/Metric.swift"
    private static let hasTable = (try? SourceTree.checkout.text(of: tablePath)) != nil

    @Test("the gateway has each metric of the list", .enabled(if: hasTable))
    func gateway() throws {
        let table = try SourceTree.checkout.text(of: Self.tablePath)
        let cases = table.matches(of: /= "(rouse_[a-z0-9_]+)"/).map { String($0.1) }
        #expect(try Set(Self.listed().keys).subtracting(cases) == [])
    }
}
