// SPDX-License-Identifier: Apache-2.0

import Gateway

/// The devices that were looked at lately, in two generations: when the young one is full, the old
/// one is forgotten and the young one takes its place. So the most recently used half is always
/// there, a look costs one or two dictionary lookups, and nothing is ever sorted.
struct DeviceCache {
    /// The most devices that are kept: at about 400 bytes each, some 25 MB.
    static let defaultCapacity = 65_536

    private let capacity: Int
    private var young: [Int64: DeviceRow] = [:]
    private var old: [Int64: DeviceRow] = [:]
    /// What the running transaction has changed.
    private(set) var dirty: [Int64: DeviceRow] = [:]

    /// An empty cache; with a capacity of 0 it keeps what is dirty and nothing else.
    init(capacity: Int) { self.capacity = capacity }

    mutating func find(_ number: Int64) -> DeviceRow? {
        if let device = dirty[number] ?? young[number] { return device }
        guard let device = old.removeValue(forKey: number) else { return nil }
        insert(device)
        return device
    }

    /// Keeps a device as it is on disk.
    mutating func insert(_ device: DeviceRow) {
        guard capacity > 0 else { return }
        if young.count >= capacity / 2 {
            old = young
            young.removeAll(keepingCapacity: true)
        }
        young[device.number] = device
    }

    /// Keeps a device that is to be written.
    mutating func change(_ device: DeviceRow) { dirty[device.number] = device }

    /// The changes are on disk.
    mutating func committed() {
        for (number, device) in dirty {
            if !old.isEmpty { old[number] = nil }
            insert(device)
        }
        dirty.removeAll(keepingCapacity: true)
    }

    /// The changes are undone.
    mutating func rolledBack() { dirty.removeAll(keepingCapacity: true) }

    /// Forgets a device that was removed.
    mutating func remove(_ number: Int64) {
        young[number] = nil
        old[number] = nil
        dirty[number] = nil
    }
}
