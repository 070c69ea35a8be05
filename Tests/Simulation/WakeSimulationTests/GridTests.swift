// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import Testing
import WakeSimulation

/// The table of `rouse simulate --grid` on two devices of each cell, with margins: the goals are
/// judged on more.
@Suite("The grid of device families and workloads")
struct GridTests {
    /// The least that may be reached, and the most that may be sent and be old.
    struct Margin {
        let able: Double
        let pushesPerNeed: Double
        let staleness: Double
        let staleness95: Double
        let worst: Double

        init(
            _ able: Double, need pushesPerNeed: Double, age staleness: Double,
            of95: Double, worst: Double
        ) {
            self.able = able
            self.pushesPerNeed = pushesPerNeed
            self.staleness = staleness
            staleness95 = of95
            self.worst = worst
        }
    }

    static let margins: [String: Margin] = [
        "98 % receipts": Margin(0.91, need: 1.18, age: 1.06, of95: 1.4, worst: 1.5),
        "80 % receipts": Margin(0.9, need: 1.12, age: 1.1, of95: 2.0, worst: 1.6),
        "80 %, kept": Margin(0.89, need: 1.16, age: 1.07, of95: 1.7, worst: 1.6),
        "hours late": Margin(0.81, need: 1.25, age: 1.1, of95: 1.9, worst: 1.7),
        "no receipts": Margin(0.8, need: 1.1, age: 1.13, of95: 3.8, worst: 2.2),
        "never confirms": Margin(0.8, need: 1.1, age: 1.13, of95: 3.8, worst: 2.2),
    ]

    @Test("devices that nobody measured are as fresh as with everything sent, within margins")
    func margins() {
        var grid = Grid()
        grid.devicesPerCell = 2
        grid.conditions = grid.conditions.filter { Self.margins[$0.name] != nil }
        let rows = grid.rows(of: (0..<grid.cellCount).map(grid.run(cell:)))
        #expect(rows.count == Self.margins.count)
        for row in rows {
            guard let margin = Self.margins[row.condition] else { continue }
            #expect(row.able >= margin.able, "\(row)")
            #expect(row.pushesPerNeed <= margin.pushesPerNeed, "\(row)")
            #expect(row.staleness <= margin.staleness, "\(row)")
            #expect(row.staleness95 <= margin.staleness95, "\(row)")
            #expect(row.worst <= margin.worst, "\(row)")
        }
    }

    @Test("a sender that knows each push's fate reaches nearly every able device")
    func oracle() {
        var grid = Grid()
        grid.devicesPerCell = 2
        grid.families = [.unmeasured]
        grid.conditions = grid.conditions.filter(\.isOracle)
        let rows = grid.rows(of: (0..<grid.cellCount).map(grid.run(cell:)))
        #expect(rows.count == 1)
        #expect(rows.allSatisfy { $0.able > 0.95 && $0.staleness < 1.05 }, "\(rows)")
    }
}
