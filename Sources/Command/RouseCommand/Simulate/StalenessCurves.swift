// SPDX-License-Identifier: Apache-2.0

import Glibc
import WakeSimulation

/// How stale events became: for each time the share of the events that were seen by then, a curve
/// for each way to send. Without a device model: how long events waited for their push.
struct StalenessCurves {
    private static let height = 230.0
    /// The styles that there are for curves; more contenders than that share the last.
    private static let styles = ["s0", "s1", "s2", "s3", "s4", "s5"]
    /// The ends of the logarithmic axis, in milliseconds, and its labels.
    private static let times = 1_000.0...604_800_000.0
    private static let ticks: [(milliseconds: Double, words: String)] = [
        (1_000, "1 s"), (10_000, "10 s"), (60_000, "1 min"), (600_000, "10 min"),
        (3_600_000, "1 h"), (21_600_000, "6 h"), (86_400_000, "1 d"), (604_800_000, "7 d"),
    ]
    private static let sampleCount = 240

    private let output: SimulatePlan.Output

    init(_ output: SimulatePlan.Output) { self.output = output }

    func draw(on canvas: inout SVGCanvas, y: inout Double) {
        let isModelled = output.simulation.modelsDevices
        canvas.text(
            isModelled
                ? "Staleness: the share of the events that the app had seen after a time"
                : "Wait: the share of the events whose push was sent after a time", 24, y, "head")
        y += 18
        let (top, bottom) = (y, y + Self.height)
        for percent in stride(from: 0, through: 100, by: 25) {
            let place = bottom - Self.height * Double(percent) / 100
            canvas.line(
                ResultPicture.plot.lowerBound, place, ResultPicture.plot.upperBound, place, "grid")
            canvas.text("\(percent) %", 140, place + 4, "soft", .end)
        }
        for tick in Self.ticks {
            let place = Self.x(tick.milliseconds)
            canvas.line(place, top, place, bottom, "grid")
            canvas.text(tick.words, place, bottom + 18, "soft", .middle)
        }
        canvas.line(
            ResultPicture.plot.lowerBound, bottom, ResultPicture.plot.upperBound, bottom, "axis")
        canvas.text(
            isModelled ? "from the event to the sync that showed it" : "from the event to its push",
            ResultPicture.plot.upperBound, bottom + 36, "soft", .end)
        // The first, which is under test, has the one solid line. It lies below, so that those that
        // take the same course show as dashes on it.
        for (number, sendingStrategy) in output.result.contenders.enumerated() {
            let tally = sendingStrategy.total
            curve(number, on: &canvas, bottom: bottom) { time in
                isModelled ? tally.shareSeen(within: time) : tally.wait.share(upTo: time)
            }
        }
        drawKey(on: &canvas, top: bottom - 22 * Double(output.result.contenders.count) - 12)
        y = bottom + 58
    }

    /// One curve; none where there is no share of anything.
    private func curve(
        _ number: Int, on canvas: inout SVGCanvas, bottom: Double,
        share: (_ milliseconds: Int64) -> Double?
    ) {
        let ratio = Self.times.upperBound / Self.times.lowerBound
        let points = (0...Self.sampleCount).compactMap { sample in
            let time =
                Self.times.lowerBound * pow(ratio, Double(sample) / Double(Self.sampleCount))
            return share(Int64(time)).map { (x: Self.x(time), y: bottom - Self.height * $0) }
        }
        if !points.isEmpty { canvas.polyline(points, Self.style(number)) }
    }

    private func drawKey(on canvas: inout SVGCanvas, top: Double) {
        for (number, sendingStrategy) in output.result.contenders.enumerated() {
            let place = top + 22 * Double(number) + 12
            canvas.line(700, place, 740, place, Self.style(number))
            canvas.text(sendingStrategy.name, 750, place + 4, "ink")
        }
    }

    private static func style(_ number: Int) -> String {
        styles[min(number, styles.count - 1)]
    }

    private static func x(_ milliseconds: Double) -> Double {
        let share =
            log(milliseconds / times.lowerBound) / log(times.upperBound / times.lowerBound)
        let plot = ResultPicture.plot
        return plot.lowerBound + share * (plot.upperBound - plot.lowerBound)
    }
}
