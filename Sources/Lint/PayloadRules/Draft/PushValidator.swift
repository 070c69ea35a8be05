// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// Checks drafts of pushes of every type against Apple's rules: what a lint tool calls.
///
/// It is a pure function of the draft and the configuration. Every rule for which the draft has
/// enough data checks it, so that all faults are found together.
///
/// ```swift
/// let draft = PushDraft(payload: bytes, headers: [.init("apns-push-type", "background")])
/// for finding in PushValidator().report(on: draft).diagnostics { … }
/// ```
public struct PushValidator: Sendable {
    private let settings: WakeValidator.Settings

    /// How often ``repaired(_:includingUnsafe:)`` checks again at most. One round is nearly always
    /// enough; repairs that touch each other take one more each.
    public static let maximumRepairRounds = 32

    /// Whether the reserved keys are Firebase's defaults, and not configured ones.
    package var reservesDefaultKeys: Bool { settings.reservesDefaultKeys }

    /// A validator with these settings.
    public init(configuration: WakeValidator.Configuration = .init()) {
        settings = WakeValidator.Settings(configuration)
    }

    /// All findings about a draft, and the push type that it was judged by.
    ///
    /// A draft without `apns-push-type` is judged by its topic's suffix, else by what it holds: as
    /// `background` where it has `content-available` and nothing visible, as `liveactivity`,
    /// `widgets`, `mdm` and so on by their keys, as `voip` where it names a call and has no `aps`
    /// or an empty one, otherwise as `alert`.
    public func report(on draft: PushDraft) -> PushReport {
        let context = ValidationContext(draft, settings: settings)
        let diagnostics = Findings.of(Rules.forDraft(of: context.type), on: context)
            .diagnostics(of: context)
        let given = context.draft?.pushType
        return PushReport(
            pushType: given ?? context.type.types.first?.rawValue ?? "",
            pushTypeIsInferred: given == nil, diagnostics: diagnostics)
    }

    /// The payload of a draft with its repairs made: the safe ones, or all. Checks again after each
    /// round, since one repair can enable another; ends when nothing is left to fix.
    public func repaired(_ draft: PushDraft, includingUnsafe: Bool = false) -> [UInt8] {
        var draft = draft
        for _ in 0..<Self.maximumRepairRounds {
            let repairs = report(on: draft).diagnostics.compactMap(\.repair)
                .filter { includingUnsafe || $0.isSafe }
            guard !repairs.isEmpty else { break }
            let mended = Repairs.apply(repairs, to: draft.payload)
            guard mended != draft.payload else { break }
            draft.payload = mended
        }
        return draft.payload
    }
}
