// SPDX-License-Identifier: Apache-2.0

/// The calls of the last hour, the latest first, each packed into one word: its age in
/// milliseconds above its fingerprint.
struct CallMarks: Hashable, Sendable {
    private var first = Half()
    private var second = Half()
    private(set) var count: UInt8 = 0

    /// Six words.
    private struct Half: Hashable, Sendable {
        var word0: UInt64 = 0
        var word1: UInt64 = 0
        var word2: UInt64 = 0
        var word3: UInt64 = 0
        var word4: UInt64 = 0
        var word5: UInt64 = 0

        subscript(index: Int) -> UInt64 {
            get {
                switch index {
                case 0: word0
                case 1: word1
                case 2: word2
                case 3: word3
                case 4: word4
                default: word5
                }
            }
            set {
                switch index {
                case 0: word0 = newValue
                case 1: word1 = newValue
                case 2: word2 = newValue
                case 3: word3 = newValue
                case 4: word4 = newValue
                default: word5 = newValue
                }
            }
        }
    }

    /// One packed call; 0 is the latest.
    subscript(index: Int) -> UInt64 {
        get { index < 6 ? first[index] : second[index - 6] }
        set { if index < 6 { first[index] = newValue } else { second[index - 6] = newValue } }
    }

    private static let ageShift = UInt64(CallFingerprint.bitCount)
    private static let fingerprintMask: UInt64 = (1 << ageShift) - 1

    /// The age of a call, in milliseconds.
    func age(at index: Int) -> Int64 { Int64(self[index] >> Self.ageShift) }

    /// Whether a call is among those younger than so many milliseconds.
    func contains(_ call: CallFingerprint, youngerThan milliseconds: Int64) -> Bool {
        (0..<Int(count)).contains {
            self[$0] & Self.fingerprintMask == call.bits && age(at: $0) < milliseconds
        }
    }

    /// Makes all calls older, and drops those that are over an hour old.
    mutating func age(by milliseconds: Int64) {
        guard milliseconds > 0 else { return }
        for index in 0..<Int(count) {
            let room = CallLedger.windowMilliseconds - age(at: index)
            guard milliseconds < room else { return keep(index) }
            self[index] += UInt64(milliseconds) << Self.ageShift
        }
    }

    /// Adds a call before all others, and drops the oldest when there are too many.
    mutating func insert(_ call: CallFingerprint) {
        let kept = min(Int(count), CallLedger.capacity - 1)
        for index in (0..<kept).reversed() { self[index + 1] = self[index] }
        self[0] = call.bits
        count = UInt8(kept + 1)
    }

    /// Adds a packed call after all others, as it was stored. The caller must observe the capacity.
    mutating func append(_ mark: UInt64) {
        self[Int(count)] = mark
        count += 1
    }

    /// Removes the call with this fingerprint after this number of later ones with the same.
    /// Returns whether there was one.
    mutating func remove(_ call: CallFingerprint, behind newer: Int) -> Bool {
        var same = (0..<Int(count)).filter { self[$0] & Self.fingerprintMask == call.bits }[...]
        same = same.dropFirst(newer)
        guard let found = same.first else { return false }
        for index in found..<Int(count) - 1 { self[index] = self[index + 1] }
        keep(Int(count) - 1)
        return true
    }

    /// Drops all but the latest calls, and clears their words, so that equal ledgers are equal.
    private mutating func keep(_ kept: Int) {
        for index in kept..<Int(count) { self[index] = 0 }
        count = UInt8(kept)
    }
}
