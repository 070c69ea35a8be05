// SPDX-License-Identifier: Apache-2.0

/// Writes a registry in the text format 0.0.4 of Prometheus.
enum PrometheusText {
    /// The media type of the format, with its version.
    static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    /// Returns the whole text.
    static func page(of registry: MetricsRegistry) -> String {
        var text = ""
        for (rawName, kind, series) in registry.snapshot() {
            let name = sanitized(rawName)
            if let help = Metric(rawValue: rawName)?.help { text += "# HELP \(name) \(help)\n" }
            // Some counters are recorded as gauges, because their total is read from elsewhere.
            text += "# TYPE \(name) \((Metric(rawValue: rawName)?.kind ?? kind).rawValue)\n"
            for (key, sample) in series {
                switch sample {
                case .number(let number):
                    text += "\(name)\(labels(key.labels)) \(number.prometheus)\n"
                case .histogram(let histogram):
                    write(histogram, name, key.labels, to: &text)
                }
            }
        }
        return text
    }

    private static func write(
        _ histogram: HistogramSeries.Snapshot, _ name: String, _ labels: [MetricsRegistry.Label],
        to text: inout String
    ) {
        var cumulated = 0
        for (index, count) in histogram.counts.enumerated() {
            cumulated += count
            let isLast = index == histogram.bounds.count
            let bound = isLast ? "+Inf" : histogram.bounds[index].prometheus
            let all = labels + [MetricsRegistry.Label(name: "le", value: bound)]
            text += "\(name)_bucket\(self.labels(all)) \(cumulated)\n"
        }
        text += "\(name)_sum\(self.labels(labels)) \(histogram.sum.prometheus)\n"
        text += "\(name)_count\(self.labels(labels)) \(cumulated)\n"
    }

    private static func labels(_ labels: [MetricsRegistry.Label]) -> String {
        guard !labels.isEmpty else { return "" }
        let pairs = labels.map { "\(sanitized($0.name))=\"\(escaped($0.value))\"" }
        return "{\(pairs.joined(separator: ","))}"
    }

    /// Replaces each character that Prometheus does not allow by an underscore.
    private static func sanitized(_ name: String) -> String {
        String(
            name.map { letter in
                letter.isASCII && (letter.isLetter || letter.isNumber || letter == "_")
                    ? letter : "_"
            })
    }

    private static func escaped(_ value: String) -> String {
        var text = ""
        for letter in value.unicodeScalars {
            switch letter {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(letter)
            }
        }
        return text
    }
}

extension Double {
    /// Without a fraction if the value is an integer.
    fileprivate var prometheus: String {
        self == rounded() && magnitude < 1e15 ? String(Int64(self)) : "\(self)"
    }
}
