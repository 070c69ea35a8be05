// SPDX-License-Identifier: Apache-2.0

/// A table for people: columns as wide as their widest cell, numbers to the right.
struct TextTable {
    private let titles: [String]
    private var rows: [[String]] = []

    init(_ titles: String...) { self.titles = titles }

    mutating func add(_ cells: String...) {
        precondition(cells.count == titles.count, "A row has as many cells as the table columns.")
        rows.append(cells)
    }

    var text: String {
        let widths = titles.indices.map { column in
            ([titles] + rows).map { $0[column].count }.max() ?? 0
        }
        return ([titles] + rows).map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                let isNumber = cell.first.map { $0.isNumber || $0 == "-" } ?? false
                let isTitle = cell == titles[column] && column > 0
                line += (isNumber || isTitle ? padding + cell : cell + padding) + "  "
            }
            while line.last == " " { line.removeLast() }
            return line
        }.joined(separator: "\n")
    }
}

extension Double {
    /// With so many digits behind the point.
    func fixed(_ digits: Int) -> String {
        var scale = 1
        for _ in 0..<digits { scale *= 10 }
        let scaled = Int((magnitude * Double(scale)).rounded())
        let sign = self < 0 && scaled > 0 ? "-" : ""
        guard digits > 0 else { return sign + String(scaled) }
        let fraction = String(scaled % scale)
        let zeros = String(repeating: "0", count: digits - fraction.count)
        return sign + String(scaled / scale) + "." + zeros + fraction
    }

    /// Without a fraction, thousands apart: 31 250.
    var grouped: String {
        var digits = fixed(0)
        var groups: [String] = []
        while digits.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        return ([digits] + groups).joined(separator: " ")
    }
}
