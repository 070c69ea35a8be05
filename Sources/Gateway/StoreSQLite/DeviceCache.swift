// SPDX-License-Identifier: Apache-2.0

import Gateway

/// The recently used devices, in two generations: when the young one is full, the old one is
/// dropped and the young one takes its place. So the most recently used half is always cached, an
/// access costs one or two dictionary lookups, and nothing is ever sorted. Devices changed by the
/// running transaction are in the young generation, which is not dropped before it ends.
struct DeviceCache {
    /// The most devices that are kept: at about 400 bytes each, some 25 MB.
    static let defaultCapacity = 65_536

    private let capacity: Int
    private var young: [Int64: DeviceRow] = [:]
    private var old: [Int64: DeviceRow] = [:]
    /// The numbers of those that the running transaction has changed.
    private(set) var dirty: Set<Int64> = []

    /// An empty cache; with a capacity of 0 it keeps what is dirty and nothing else.
    init(capacity: Int) { self.capacity = capacity }

    mutating func find(_ number: Int64) -> DeviceRow? {
        if let device = young[number] { return device }
        guard let device = old.removeValue(forKey: number) else { return nil }
        insert(device)
        return device
    }

    /// Keeps a device as it is on disk.
    mutating func insert(_ device: DeviceRow) {
        guard capacity > 0 else { return }
        if dirty.isEmpty { makeRoom() }
        young[device.number] = device
    }

    /// Keeps a device that is to be written.
    mutating func change(_ device: DeviceRow) {
        young[device.number] = device
        if dirty.insert(device.number).inserted, !old.isEmpty { old[device.number] = nil }
    }

    /// The changes are on disk.
    mutating func committed() {
        dirty.removeAll(keepingCapacity: true)
        if capacity > 0 { makeRoom() } else { young.removeAll(keepingCapacity: true) }
    }

    /// The changes are undone, and what was changed is read again.
    mutating func rolledBack() {
        for number in dirty { young[number] = nil }
        dirty.removeAll(keepingCapacity: true)
    }

    /// Forgets a device that was removed.
    mutating func remove(_ number: Int64) {
        young[number] = nil
        old[number] = nil
        dirty.remove(number)
    }

    private mutating func makeRoom() {
        guard young.count >= max(1, capacity / 2) else { return }
        old = young
        young.removeAll(keepingCapacity: true)
    }
}
