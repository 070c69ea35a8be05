// SPDX-License-Identifier: Apache-2.0

import WakeSimulation

/// `rouse simulate --html`: one page that needs nothing beside it.
struct ReportPage {
    private let outputs: [SimulatePlan.Output]

    /// A page about these results.
    init(_ outputs: [SimulatePlan.Output]) { self.outputs = outputs }

    /// The page.
    var html: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>Rouse: ways to send compared</title>
        <style>\(Self.styles)</style>
        </head>
        <body>
        <h1>Ways to send compared</h1>
        \(outputs.map(section).joined(separator: "\n"))
        <p class="small">An event makes the app’s data stale until the app syncs: when a push \
        reaches it, or its user opens it. Age is the average over time of how old the oldest \
        unseen event is. Able: of the pushes sent to a device that could launch the app, the share \
        that reached it. The devices are a model; it compares schedules and forecasts nothing.</p>
        </body>
        </html>

        """
    }

    private func section(_ output: SimulatePlan.Output) -> String {
        let scenario = output.simulation.scenario
        return """
            <section>
            <h2>\(Markup.escaped(scenario.name))</h2>
            <p>\(Markup.escaped(scenario.summary))</p>
            \(table(output))
            <figure>\(ResultPicture(output).svg)</figure>
            </section>
            """
    }

    private func table(_ output: SimulatePlan.Output) -> String {
        let everything = output.result.contenders.first { $0.name == "everything" }?.total
        let heads = [
            "", "Pushes", "Of all", "Launches", "Per push", "Wasted", "Able", "Median", "95 %",
            "Age", "Of all’s",
        ]
        let rows = output.result.contenders.map { sendingStrategy in
            let tally = sendingStrategy.total
            let comparison = everything.map { Comparison(tally, $0) }
            let cells = [
                sendingStrategy.name, "\(tally.sent)", Figures.percent(comparison?.pushes),
                "\(tally.launched)", Figures.share(tally.launchesPerPush), "\(tally.wasted)",
                Figures.percent(tally.reachedShare),
                Figures.time(tally.staleness.percentile(50)),
                Figures.time(tally.staleness.percentile(95)),
                Figures.time(tally.meanAge.map { Int64($0) }), Figures.share(comparison?.age),
            ]
            return "<tr>" + cells.map { "<td>\(Markup.escaped($0))</td>" }.joined() + "</tr>"
        }
        return "<table><thead><tr>" + heads.map { "<th>\($0)</th>" }.joined()
            + "</tr></thead><tbody>" + rows.joined(separator: "\n") + "</tbody></table>"
    }

    private static let styles = """
        body{font:15px/1.5 system-ui,-apple-system,sans-serif;max-width:1000px;margin:2em auto;\
        padding:0 1em;color:#1d1d1f;background:#fff}
        table{border-collapse:collapse;font-variant-numeric:tabular-nums;width:100%}
        th,td{text-align:right;padding:.25em .5em;border-bottom:1px solid #e3e3e8}
        th:first-child,td:first-child{text-align:left}
        tbody tr:first-child{font-weight:600}
        figure{margin:1em 0;overflow-x:auto}
        svg{max-width:100%;height:auto}
        .small{font-size:13px;color:#6e6e73}
        @media (prefers-color-scheme:dark){body{color:#f2f2f5;background:#161618}\
        th,td{border-color:#333338}.small{color:#a1a1a8}}
        """
}
