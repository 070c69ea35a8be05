// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import WakeModel
import WakeSimulation

/// The first day of one device: what was asked, sent, held and launched, a row for each way to
/// send.
struct DeviceTimeline {
    private static let rowHeight = 52.0
    /// How far below the top of its row a push is drawn, and how far one that was wasted ends.
    private static let queue = 34.0
    private static let wasteQueue = 42.0
    /// The longest time that is drawn, in seconds.
    private static let maximumSeconds: Int64 = 86_400

    private let traces: [DeviceTrace]
    private let start: Int64
    private let end: Int64
    private let isModelled: Bool

    init(_ output: SimulatePlan.Output) {
        let scenario = output.simulation.scenario
        traces = output.drawn
        isModelled = output.simulation.modelsDevices
        start = scenario.start.millisecondsSinceEpoch
        end = start + min(scenario.seconds, Self.maximumSeconds) * 1000
    }

    func draw(on canvas: inout SVGCanvas, y: inout Double) {
        guard let first = traces.first else { return }
        let span = end - start == Self.maximumSeconds * 1000 ? "the first day of " : ""
        canvas.text("Timeline: \(span)device \(first.device) (\(first.group))", 24, y, "head")
        y += 20
        drawLegend(on: &canvas, y: y)
        y += 14
        let top = y
        for trace in traces {
            draw(trace, on: &canvas, y: y)
            y += Self.rowHeight
        }
        drawAxis(on: &canvas, top: top, bottom: y)
        y += 58
    }

    // MARK: Places

    private func x(_ instant: Int64) -> Double {
        let plot = ResultPicture.plot
        let share = Double(min(max(instant, start), end) - start) / Double(end - start)
        return plot.lowerBound + share * (plot.upperBound - plot.lowerBound)
    }

    private func x(_ instant: WallInstant) -> Double { x(instant.millisecondsSinceEpoch) }

    private func isShown(_ instant: WallInstant) -> Bool {
        (start..<end).contains(instant.millisecondsSinceEpoch)
    }

    // MARK: Rows

    private func draw(_ trace: DeviceTrace, on canvas: inout SVGCanvas, y: Double) {
        canvas.text(trace.sendingStrategy, 140, y + 24, "ink", .end)
        let pushes = trace.pushes.filter { isShown($0.sentAt) }
        canvas.text("\(pushes.count) pushes", 140, y + 39, "soft", .end)
        for span in trace.unable { band(span, "unable", on: &canvas, y: y) }
        for span in trace.foreground { band(span, "front", on: &canvas, y: y) }
        for ask in trace.asks where isShown(ask.at) {
            canvas.line(x(ask.at), y + 6, x(ask.at), y + 14, "ask")
        }
        // What is drawn later lies above: no hold hides a launch, and none hides what was wasted.
        for push in pushes { drawHold(push, on: &canvas, y: y) }
        for push in pushes where push.report?.fate.reachedApp == true {
            drawEnd(push, on: &canvas, y: y)
        }
        for push in pushes where push.report?.fate.reachedApp == false {
            drawEnd(push, on: &canvas, y: y)
        }
        canvas.line(
            ResultPicture.plot.lowerBound, y + Self.rowHeight - 3, ResultPicture.plot.upperBound,
            y + Self.rowHeight - 3, "grid")
    }

    private func band(
        _ span: Range<Int64>, _ style: String, on canvas: inout SVGCanvas, y: Double
    ) {
        let (left, right) = (x(span.lowerBound), x(span.upperBound))
        // What is too short to be seen is made just visible.
        let isShown = span.upperBound > start && span.lowerBound < end
        canvas.rectangle(
            left, y + 2, isShown ? max(1, right - left) : 0, Self.rowHeight - 6, style)
    }

    /// From its sending to its end, or to that of the picture while it has none.
    private func drawHold(_ push: DeviceTrace.Push, on canvas: inout SVGCanvas, y: Double) {
        let sent = x(push.sentAt)
        let decided = push.report.map { x($0.at) } ?? (isModelled ? x(end) : sent)
        canvas.rectangle(sent, y + Self.queue - 1.5, decided - sent, 3, "hold")
        canvas.line(sent, y + 18, sent, y + 27, "sent")
    }

    private func drawEnd(_ push: DeviceTrace.Push, on canvas: inout SVGCanvas, y: Double) {
        guard let report = push.report else { return }
        let place = x(report.at)
        switch report.fate {
        case .launched: canvas.circle(place, y + Self.queue, radius: 4, "launched")
        case .deliveredInForeground: canvas.circle(place, y + Self.queue, radius: 4, "met")
        default: canvas.cross(place, y + Self.wasteQueue, radius: 3, "waste")
        }
    }

    // MARK: Axis and legend

    private func drawAxis(on canvas: inout SVGCanvas, top: Double, bottom: Double) {
        canvas.line(
            ResultPicture.plot.lowerBound, bottom, ResultPicture.plot.upperBound, bottom, "axis")
        let length = (end - start) / 1000
        let steps: [Int64] = [60, 300, 600, 900, 1800, 3600, 7200, 10_800]
        let step = steps.first { length / $0 <= 9 } ?? 10_800
        for second in stride(from: 0, through: length, by: Int(step)) {
            let place = x(start + second * 1000)
            canvas.line(place, bottom, place, bottom + 5, "axis")
            canvas.text(Self.clock(second), place, bottom + 19, "soft", .middle)
        }
        canvas.text("local time", ResultPicture.plot.upperBound, bottom + 36, "soft", .end)
    }

    private static func clock(_ second: Int64) -> String {
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return two(second / 3600) + ":" + two(second / 60 % 60)
    }

    private func drawLegend(on canvas: inout SVGCanvas, y: Double) {
        let marks: [(String, (inout SVGCanvas, Double) -> Void)] = [
            ("event", { $0.line($1, y - 8, $1, y, "ask") }),
            ("push sent", { $0.line($1, y - 9, $1, y + 1, "sent") }),
            ("held", { $0.rectangle($1 - 8, y - 5.5, 14, 3, "hold") }),
            ("launched", { $0.circle($1, y - 4, radius: 4, "launched") }),
            ("met in foreground", { $0.circle($1, y - 4, radius: 4, "met") }),
            ("wasted", { $0.cross($1, y - 4, radius: 3, "waste") }),
            ("device not able", { $0.rectangle($1 - 8, y - 10, 12, 12, "unable") }),
            ("app in foreground", { $0.rectangle($1 - 8, y - 10, 12, 12, "front") }),
        ]
        var place = 34.0
        for (words, draw) in marks {
            draw(&canvas, place)
            canvas.text(words, place + 11, y, "soft")
            place += 40 + 6.7 * Double(words.count)
        }
    }
}
