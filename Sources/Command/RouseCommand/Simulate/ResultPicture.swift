// SPDX-License-Identifier: Apache-2.0

import WakeSimulation

/// One scenario's result as a picture: the outcomes of the pushes, one day of one device, and how
/// stale events became.
struct ResultPicture {
    static let width = 960.0
    /// Where every panel's plot begins and ends.
    static let plot = 150.0...930.0

    private let output: SimulatePlan.Output

    /// A picture of this result.
    init(_ output: SimulatePlan.Output) { self.output = output }

    /// The picture as an SVG document.
    var svg: String {
        var canvas = SVGCanvas()
        let scenario = output.simulation.scenario
        canvas.text(scenario.name, 24, 34, "title")
        canvas.text(
            "\(Figures.devices(scenario.deviceCount)), \(Figures.time(scenario.seconds * 1000)), "
                + "seed \(scenario.seed)", 24, 54, "soft")
        var y = 88.0
        PushBars(output).draw(on: &canvas, y: &y)
        DeviceTimeline(output).draw(on: &canvas, y: &y)
        StalenessCurves(output).draw(on: &canvas, y: &y)
        return canvas.document(
            width: Self.width, height: y,
            title: "\(scenario.name): ways to send compared",
            description: "Bars of what became of the pushes, a timeline of one device, and the "
                + "distribution of how long events stayed unseen, for each way to send.")
    }
}

/// The outcomes of the pushes: a bar for each way to send.
struct PushBars {
    private static let barHeight = 20.0
    private static let rowHeight = 30.0

    private let output: SimulatePlan.Output

    init(_ output: SimulatePlan.Output) { self.output = output }

    func draw(on canvas: inout SVGCanvas, y: inout Double) {
        let isModelled = output.simulation.modelsDevices
        canvas.text(isModelled ? "What became of the pushes" : "Pushes sent", 24, y, "head")
        if isModelled {
            Legend.draw(
                [
                    ("launched", "launched the app"), ("met", "met it in the foreground"),
                    ("wasted", "wasted"), ("open", "open at the end"),
                ], on: &canvas, x: 330, y: y)
        }
        y += 16
        let tallies = output.result.contenders.map { ($0.name, $0.total) }
        let most = tallies.map(\.1.sent).max() ?? 0
        let axis = LinearAxis(maximum: Double(max(1, most)), plot: 150...860)
        let top = y
        let bottom = y + Double(tallies.count) * Self.rowHeight
        for tick in axis.ticks {
            canvas.line(axis.place(tick), top, axis.place(tick), bottom, "grid")
            canvas.text(
                Figures.count(UInt64(tick)), axis.place(tick), bottom + 16, "soft", .middle)
        }
        for (name, tally) in tallies {
            let middle = y + Self.rowHeight / 2
            canvas.text(name, 140, middle + 4, "ink", .end)
            var x = axis.place(0)
            for (style, count) in Self.parts(tally, isModelled) {
                let length = axis.place(Double(count)) - axis.place(0)
                canvas.rectangle(x, middle - Self.barHeight / 2, length, Self.barHeight, style)
                x += length
            }
            canvas.text(Figures.count(tally.sent), x + 6, middle + 4, "soft")
            y += Self.rowHeight
        }
        canvas.line(axis.place(0), top, axis.place(0), bottom, "axis")
        canvas.text("pushes", axis.plot.upperBound + 34, bottom + 16, "soft")
        y = bottom + 56
    }

    private static func parts(_ tally: Tally, _ isModelled: Bool) -> [(String, UInt64)] {
        guard isModelled else { return [("open", tally.sent)] }
        return [
            ("launched", tally.launched), ("met", tally.inForeground), ("wasted", tally.wasted),
            ("open", tally.undecided),
        ]
    }
}

/// A row of coloured squares with words.
enum Legend {
    static func draw(
        _ entries: [(style: String, words: String)], on canvas: inout SVGCanvas, x: Double,
        y: Double
    ) {
        var x = x
        for entry in entries {
            canvas.rectangle(x, y - 10, 11, 11, entry.style)
            canvas.text(entry.words, x + 16, y, "soft")
            x += 34 + 6.6 * Double(entry.words.count)
        }
    }
}

/// An axis from 0, with round steps.
struct LinearAxis {
    let plot: ClosedRange<Double>
    let ticks: [Double]
    private let maximum: Double

    init(maximum: Double, plot: ClosedRange<Double>) {
        self.plot = plot
        self.maximum = maximum
        // The first of 1, 2, 5, 10, 20 … that makes at most six steps.
        var step = 1.0
        var turn = 0
        while maximum / step > 6 {
            step *= turn % 3 == 1 ? 2.5 : 2
            turn += 1
        }
        let count = Int(maximum / step)
        ticks = (0...count).map { [step] in Double($0) * step }
    }

    func place(_ value: Double) -> Double {
        plot.lowerBound + value / maximum * (plot.upperBound - plot.lowerBound)
    }
}
