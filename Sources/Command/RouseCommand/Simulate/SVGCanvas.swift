// SPDX-License-Identifier: Apache-2.0

/// Plain SVG 1.1, element by element. Colours are classes, so that a dark page gets dark colours.
struct SVGCanvas {
    private var elements: [String] = []

    /// Where text begins or ends at its place.
    enum Anchor: String {
        case start
        case middle
        case end
    }

    /// A straight line.
    mutating func line(
        _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ style: String
    ) {
        add("<line x1=\"\(n(x1))\" y1=\"\(n(y1))\" x2=\"\(n(x2))\" y2=\"\(n(y2))\"", style)
    }

    /// A filled rectangle; nothing when it is empty.
    mutating func rectangle(
        _ x: Double, _ y: Double, _ width: Double, _ height: Double, _ style: String
    ) {
        guard width > 0, height > 0 else { return }
        add(
            "<rect x=\"\(n(x))\" y=\"\(n(y))\" width=\"\(n(width))\" height=\"\(n(height))\"",
            style)
    }

    /// A filled circle.
    mutating func circle(_ x: Double, _ y: Double, radius: Double, _ style: String) {
        add("<circle cx=\"\(n(x))\" cy=\"\(n(y))\" r=\"\(n(radius))\"", style)
    }

    /// A cross, for what came to nothing.
    mutating func cross(_ x: Double, _ y: Double, radius r: Double, _ style: String) {
        add(
            "<path d=\"M\(n(x - r)) \(n(y - r))L\(n(x + r)) \(n(y + r))"
                + "M\(n(x - r)) \(n(y + r))L\(n(x + r)) \(n(y - r))\"", style)
    }

    /// A line through points.
    mutating func polyline(_ points: [(x: Double, y: Double)], _ style: String) {
        let list = points.map { "\(n($0.x)),\(n($0.y))" }.joined(separator: " ")
        add("<polyline points=\"\(list)\"", style)
    }

    /// One line of text.
    mutating func text(
        _ text: String, _ x: Double, _ y: Double, _ style: String, _ anchor: Anchor = .start
    ) {
        elements.append(
            "<text x=\"\(n(x))\" y=\"\(n(y))\" class=\"\(style)\" "
                + "text-anchor=\"\(anchor.rawValue)\">\(Markup.escaped(text))</text>")
    }

    /// The document; `title` and `description` are for those who cannot see it.
    func document(width: Double, height: Double, title: String, description: String) -> String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(n(width)) \(n(height))" \
        width="\(n(width))" height="\(n(height))" role="img">
        <title>\(Markup.escaped(title))</title>
        <desc>\(Markup.escaped(description))</desc>
        <style>\(Self.styles)</style>
        <rect width="100%" height="100%" class="page"/>
        \(elements.joined(separator: "\n"))
        </svg>

        """
    }

    private mutating func add(_ element: String, _ style: String) {
        elements.append("\(element) class=\"\(style)\"/>")
    }

    /// A coordinate: two decimals.
    private func n(_ number: Double) -> String { Figures.decimal(number, digits: 2) }

    /// Colours that are distinguishable with colour blindness (Okabe and Ito, 2008); shapes and
    /// dashes also distinguish the series.
    private static let styles = """
        text{font-family:system-ui,-apple-system,'DejaVu Sans',sans-serif;font-size:12px}\
        .page{fill:#fff}.title{fill:#1d1d1f;font-size:17px;font-weight:600}\
        .head{fill:#1d1d1f;font-size:13px;font-weight:600}.ink{fill:#1d1d1f}.soft{fill:#6e6e73}\
        .axis{stroke:#6e6e73;stroke-width:1}.grid{stroke:#e3e3e8;stroke-width:1}\
        .unable{fill:#ececf0}.front{fill:#d5e8f7}.ask{stroke:#8e8e93;stroke-width:1}\
        .sent{stroke:#1d1d1f;stroke-width:1.5}.hold{fill:#e69f00}\
        .launched{fill:#009e73}.met{fill:#56b4e9}.wasted{fill:#d55e00}.open{fill:#b0b0b8}\
        .waste{stroke:#d55e00;stroke-width:1.5;fill:none}\
        .s0,.s1,.s2,.s3,.s4,.s5{fill:none;stroke-width:2}\
        .s0{stroke:#0072b2;stroke-width:3}.s1{stroke:#d55e00;stroke-dasharray:7 3}\
        .s2{stroke:#cc79a7;stroke-dasharray:2 3}.s3{stroke:#009e73;stroke-dasharray:9 3 2 3}\
        .s4{stroke:#e69f00;stroke-dasharray:4 4}.s5{stroke:#6e6e73;stroke-dasharray:1 4}\
        @media (prefers-color-scheme:dark){.page{fill:#161618}\
        .title,.head,.ink{fill:#f2f2f5}.soft{fill:#a1a1a8}.axis{stroke:#a1a1a8}\
        .grid{stroke:#333338}.unable{fill:#2a2a2f}.front{fill:#173a55}.ask{stroke:#8e8e93}\
        .sent{stroke:#f2f2f5}.open{fill:#77777f}.s0{stroke:#4aa8e0}.s5{stroke:#a1a1a8}}
        """
}

/// Text inside XML and HTML.
enum Markup {
    /// The text with its special characters as entities, and with a replacement character for each
    /// that no XML document may hold (XML 1.0, production 2).
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\t", "\n", "\r": escaped.unicodeScalars.append(scalar)
            case "\u{0}"..."\u{1f}", "\u{fffe}", "\u{ffff}": escaped += "\u{fffd}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
