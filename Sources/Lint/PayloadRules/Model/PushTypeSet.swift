// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// A set of push types, one bit each, in the order of `PushType.all`.
struct PushTypeSet: OptionSet, Hashable, Sendable {
    let rawValue: UInt16

    static let alert = PushTypeSet(rawValue: 1 << 0)
    static let background = PushTypeSet(rawValue: 1 << 1)
    static let voip = PushTypeSet(rawValue: 1 << 2)
    static let complication = PushTypeSet(rawValue: 1 << 3)
    static let fileprovider = PushTypeSet(rawValue: 1 << 4)
    static let mdm = PushTypeSet(rawValue: 1 << 5)
    static let location = PushTypeSet(rawValue: 1 << 6)
    static let liveactivity = PushTypeSet(rawValue: 1 << 7)
    static let pushtotalk = PushTypeSet(rawValue: 1 << 8)
    static let widgets = PushTypeSet(rawValue: 1 << 9)
    static let controls = PushTypeSet(rawValue: 1 << 10)
    /// A type that is not in Apple's documentation.
    static let unlisted = PushTypeSet(rawValue: 1 << 11)

    static let every = PushTypeSet(rawValue: 0xfff)
    /// The number of bits.
    static let bitCount = 12

    init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Creates a set of one type.
    init(_ type: PushType) {
        rawValue = 1 << UInt16(PushType.all.firstIndex(of: type) ?? Self.bitCount - 1)
    }

    /// Creates a set of one kind, without comparing strings.
    init(_ kind: WakeKind) {
        self =
            switch kind {
            case .background: .background
            case .voip: .voip
            case .alert: .alert
            case .liveactivity: .liveactivity
            case .location: .location
            case .complication: .complication
            case .fileprovider: .fileprovider
            case .mdm: .mdm
            case .widgets: .widgets
            case .controls: .controls
            case .pushtotalk: .pushtotalk
            }
    }

    /// The types with their own bit, in the order of `PushType.all`.
    var types: [PushType] {
        PushType.all.enumerated().filter { rawValue & (1 << UInt16($0.offset)) != 0 }.map(\.element)
    }
}
