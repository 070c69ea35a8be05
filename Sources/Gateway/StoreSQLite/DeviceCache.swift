// SPDX-License-Identifier: Apache-2.0

import Gateway

/// The recently used devices, in two generations: when the young one is full, the old one is
/// dropped and the young one takes its place. So the most recently used half is always cached, an
/// access costs one or two dictionary lookups, and nothing is ever sorted. Devices changed by the
/// running transaction are in the young generation, which is not dropped before it ends.
struct DeviceCache {
    /// The most cached devices: at about 400 bytes each, some 25 MB.
    static let defaultCapacity = 65_536

    private let capacity: Int
    private var young: [Int64: DeviceRow] = [:]
    private var old: [Int64: DeviceRow] = [:]
    /// The numbers of the devices that the running transaction has changed.
    private(set) var dirty: Set<Int64> = []

    /// Creates an empty cache; with a capacity of 0 it keeps only changed devices.
    init(capacity: Int) { self.capacity = capacity }

    mutating func find(_ number: Int64) -> DeviceRow? {
        if let device = young[number] { return device }
        guard let device = old.removeValue(forKey: number) else { return nil }
        insert(device)
        return device
    }

    /// Caches a device as it is on disk.
    mutating func insert(_ device: DeviceRow) {
        guard capacity > 0 else { return }
        if dirty.isEmpty { makeRoom() }
        young[device.number] = device
    }

    /// Caches a device that is to be written.
    mutating func change(_ device: DeviceRow) {
        young[device.number] = device
        if dirty.insert(device.number).inserted, !old.isEmpty { old[device.number] = nil }
    }

    /// Records that the changes were written.
    mutating func committed() {
        dirty.removeAll(keepingCapacity: true)
        if capacity > 0 { makeRoom() } else { young.removeAll(keepingCapacity: true) }
    }

    /// Drops the changed devices after a rollback, so that they are read again.
    mutating func rolledBack() {
        for number in dirty { young[number] = nil }
        dirty.removeAll(keepingCapacity: true)
    }

    /// Removes a device.
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
