// SPDX-License-Identifier: Apache-2.0

import WakeModel

extension Statement {
    func instant(_ column: CInt) -> WallInstant {
        WallInstant(millisecondsSinceEpoch: int64(column))
    }

    func optionalInstant(_ column: CInt) -> WallInstant? {
        optional(column).map { WallInstant(millisecondsSinceEpoch: $0) }
    }

    func bind(_ place: CInt, _ instant: WallInstant) {
        bind(place, instant.millisecondsSinceEpoch)
    }

    func bind(_ place: CInt, _ instant: WallInstant?) {
        bind(place, instant?.millisecondsSinceEpoch)
    }
}
