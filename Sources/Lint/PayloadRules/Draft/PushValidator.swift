// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// Checks drafts of pushes of every type against Apple's rules.
///
/// A pure function of the draft and the configuration. Every rule for which the draft has enough
/// data is checked, so that all faults are found at once.
///
/// ```swift
/// let draft = PushDraft(payload: bytes, headers: [.init("apns-push-type", "background")])
/// for finding in PushValidator().report(on: draft).diagnostics { … }
/// ```
public struct PushValidator: Sendable {
    private let settings: WakeValidator.Settings

    /// The maximum number of rounds of ``repaired(_:includingUnsafe:)``. One round is nearly always
    /// sufficient; overlapping repairs need one more each.
    public static let maximumRepairRounds = 32

    /// Whether the reserved keys are the default (Firebase's), not configured ones.
    package var reservesDefaultKeys: Bool { settings.reservesDefaultKeys }

    /// Creates a validator with these settings.
    public init(configuration: WakeValidator.Configuration = .init()) {
        settings = WakeValidator.Settings(configuration)
    }

    /// Returns all findings about a draft, and the push type by which it was checked.
    ///
    /// The type of a draft without `apns-push-type` is inferred from the suffix of its topic,
    /// otherwise from its payload: `background` with `content-available` and nothing visible;
    /// `liveactivity`, `widgets`, `mdm` and others by their keys; `voip` if it names a call and has
    /// no `aps` or an empty one; otherwise `alert`.
    public func report(on draft: PushDraft) -> PushReport {
        let context = ValidationContext(draft, settings: settings)
        let diagnostics = Findings.of(Rules.forDraft(of: context.type), on: context)
            .diagnostics(of: context)
        let given = context.draft?.pushType
        return PushReport(
            pushType: given ?? context.type.types.first?.rawValue ?? "",
            pushTypeIsInferred: given == nil, diagnostics: diagnostics)
    }

    /// Returns the payload of a draft with the safe repairs, or all, applied. Checks again after
    /// each round, because one repair can enable another.
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
