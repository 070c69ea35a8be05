// SPDX-License-Identifier: Apache-2.0

import Gateway

extension StoreWriter {
    /// Takes a duty, or keeps it, by the database's clock. All who ask for a duty ask for as long.
    func take(_ duty: StoreDuty, seconds: Int) async throws(StoreFailure) -> Bool {
        try await session.run(
            [
                Query(
                    Self.take, .text(duty.name), .text(link.gateway),
                    .int8(Int64(seconds) * 1_000))
            ], transaction: .write
        ).results()[0].affectedRowCount == 1
    }

    /// Gives a duty back, unless it is another gateway's by now.
    func giveBack(_ duty: StoreDuty) async throws(StoreFailure) {
        _ = try await session.run(
            [Query(Self.giveBack, .text(duty.name), .text(link.gateway))], transaction: .write
        ).results()
    }

    /// One that ends after more than twice as long as is asked for was taken while the database's
    /// clock was ahead; whoever has it may be gone.
    private static let take = Statement(
        """
        INSERT INTO rouse.duty VALUES ($1, $2, clock_timestamp() + $3 * interval '1 ms')
        ON CONFLICT (name) DO UPDATE SET gateway = excluded.gateway, until = excluded.until
        WHERE duty.gateway = excluded.gateway OR duty.until NOT BETWEEN clock_timestamp()
            AND clock_timestamp() + 2 * $3 * interval '1 ms'
        """, .text, .text, .int8)
    /// The row stays: no index entry comes and goes with each event.
    private static let giveBack = Statement(
        """
        UPDATE rouse.duty SET until = '-infinity'
        WHERE name = $1 AND gateway = $2 AND until > '-infinity'
        """, .text, .text)
}
