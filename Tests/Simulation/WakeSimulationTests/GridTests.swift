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
        let worst: Double
    }

    static let margins: [String: Margin] = [
        "98 % receipts": Margin(able: 0.87, pushesPerNeed: 1.25, staleness: 1.1, worst: 1.8),
        "hours late": Margin(able: 0.78, pushesPerNeed: 1.1, staleness: 1.25, worst: 2.2),
        "no receipts": Margin(able: 0.78, pushesPerNeed: 1.15, staleness: 1.2, worst: 2.2),
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
