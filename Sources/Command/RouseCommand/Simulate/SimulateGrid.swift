// SPDX-License-Identifier: Apache-2.0

import WakeSimulation

/// `rouse simulate --grid`: the default budget on unmeasured devices.
///
/// With `--json` it writes one line for each row of the table, and then the same for each family
/// under each workload:
///
/// | Key | Value |
/// |---|---|
/// | `condition` | what the sender hears of its devices |
/// | `cell` | the family and the workload; not in the lines of all together |
/// | `seed`, `devices` | where chance comes from; how many devices there are in all |
/// | `able` | the share that reached the app of the pushes that only the device's pace could hold |
/// | `pushes_per_need` | pushes as a share of those that reach the app when everything is sent |
/// | `staleness` | the age of the data over time, relative to sending everything |
/// | `staleness_p95` | the same of each device, which 95 % of them do not exceed |
/// | `worst`, `worst_cell` | the same of the family and workload that are worst off, and which |
struct SimulateGrid {
    private let grid: Grid
    private let threads: Int
    private let json: Bool

    /// The grid of a command line.
    init(_ command: SimulateCommand) {
        var grid = Grid()
        if let seed = command.seed { grid.seed = seed }
        if let devices = command.devices {
            grid.devicesPerCell = max(1, devices / grid.cellCount)
        }
        self.grid = grid
        threads = command.threads ?? Processors.usableCount
        json = command.json
    }

    /// Runs all cells and writes the table.
    func run(_ console: Console) async throws {
        let cells = await cells()
        let rows = grid.rows(of: cells)
        let devices = grid.devicesPerCell * grid.cellCount
        if json {
            for row in rows {
                let line = Line(row, seed: grid.seed, devices: devices)
                try console.write(line, onOneLine: true)
            }
            for cell in cells {
                for row in grid.rows(of: [cell]) {
                    let line = Line(
                        row, of: cell.name, seed: grid.seed, devices: grid.devicesPerCell)
                    try console.write(line, onOneLine: true)
                }
            }
            return
        }
        console.say(
            "Grid",
            "\(grid.families.count) families of devices under \(grid.workloads.count) workloads, "
                + "\(Figures.devices(devices)) for \(Figures.time(grid.seconds * 1000)), "
                + "seed \(grid.seed)")
        console.say()
        console.writeRaw(Self.table(rows))
        console.say()
        console.say(
            "Meaning",
            "able: the share that reached the app of the pushes that only the device's own pace "
                + "could hold. /need: pushes as a share of those that reach the app when "
                + "everything is sent. age: of the data over time, as a multiple of its age when "
                + "everything is sent, over all devices; 95 % of the devices have no more than "
                + "the next; worst: in the family and workload that are worst off. oracle: what "
                + "a sender could do that knew each push's fate at once.")
    }

    private func cells() async -> [Grid.Cell] {
        await withTaskGroup(of: (number: Int, cell: Grid.Cell).self) { group in
            var waiting = ArraySlice(0..<grid.cellCount)
            func addCell() {
                guard let number = waiting.popFirst() else { return }
                group.addTask { (number, grid.run(cell: number)) }
            }
            let bar = ProgressBar(
                total: grid.cellCount, noun: "cells", patience: ProgressBar.patience)
            defer { bar.clear() }
            for _ in 0..<threads { addCell() }
            var done: [(number: Int, cell: Grid.Cell)] = []
            while let cell = await group.next() {
                done.append(cell)
                bar.show(done.count)
                addCell()
            }
            return done.sorted { $0.number < $1.number }.map(\.cell)
        }
    }

    private static func table(_ rows: [Grid.Row]) -> String {
        let head = line("", ["able", "/need", "age", "95 %", "worst"], "")
        return head
            + rows.map { row in
                let figures = [
                    row.able, row.pushesPerNeed, row.staleness, row.staleness95, row.worst,
                ]
                let words = figures.map { Figures.decimal($0, digits: 3) }
                return line(row.condition, words, row.worstCell)
            }.joined()
    }

    private static func line(_ name: String, _ figures: [String], _ last: String) -> String {
        let columns = figures.map { String(repeating: " ", count: max(1, 9 - $0.count)) + $0 }
        let tail = last.isEmpty ? "" : "  " + last
        return name.padding(toWidth: 16) + columns.joined() + tail + "\n"
    }

    private struct Line: Encodable {
        let condition: String
        let cell: String?
        let seed: UInt64
        let devices: Int
        let able: Double
        let pushesPerNeed: Double
        let staleness: Double
        let stalenessP95: Double
        let worst: Double
        let worstCell: String

        init(_ row: Grid.Row, of cell: String? = nil, seed: UInt64, devices: Int) {
            condition = row.condition
            self.cell = cell
            self.seed = seed
            self.devices = devices
            able = row.able
            pushesPerNeed = row.pushesPerNeed
            staleness = row.staleness
            stalenessP95 = row.staleness95
            worst = row.worst
            worstCell = row.worstCell
        }
    }
}
