// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// Checks wakes against Apple's rules, and creates ``ValidWake``.
///
/// A pure function of the request, the time and the configuration. All rules are checked, so that
/// all faults are found at once. In a test of code that writes payloads:
///
/// ```swift
/// let payload = Array(#"{"aps":{"content-available":1},"version":7}"#.utf8)
/// let findings = WakeValidator().diagnostics(ofPayload: payload, as: .background)
/// #expect(findings.isEmpty)
/// ```
public struct WakeValidator: Sendable {
    /// The maximum size of a payload that is read, in bytes. A larger one is only reported as too
    /// large, which bounds the work for hostile input.
    public static let maximumReadBytes = 16_384

    private let configuration: Configuration
    private let settings: Settings

    /// Creates a validator with these settings.
    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        settings = Settings(configuration)
    }

    /// Checks a request at the time `now`. A wake without an expiration gets its kind's default
    /// (``WakeModel/WakeKind/lifetimeSeconds``): for VoIP one immediate attempt, for background one
    /// day from `now`.
    ///
    /// A plain push is checked with the headers that it will have, by all rules for a ``PushDraft``
    /// of its type.
    ///
    /// Returns at most `count` findings, errors first: hostile input can have one every few bytes,
    /// and each finding needs hundreds of bytes.
    public func validate(
        _ request: WakeRequest, now: WallInstant, most count: Int = .max
    ) -> Verdict {
        if request.kind.discipline == .plain {
            return validate(plain: request, now: now, most: count)
        }
        let headers = ValidationContext.Headers(request, now: now)
        let reading = PayloadFastPath.read(
            request.payload, as: request.kind, settings: settings)
        if let reading,
            let remarks = remarks(onClean: request, headers, lacksVersion: reading.lacksVersion),
            remarks.count <= count
        {
            return verdict(on: request, remarks, now: now, callID: reading.callID)
        }
        let type = PushTypeSet(request.kind)
        let context = ValidationContext(
            type: type, payload: request.payload, headers: headers, settings: settings)
        let diagnostics = Findings.of(Rules.forRequest(of: type), on: context)
            .diagnostics(of: context, most: count)
        return verdict(
            on: request, diagnostics, now: now,
            callID: request.kind == .voip ? context.callID : nil)
    }

    private func validate(
        plain request: WakeRequest, now: WallInstant, most count: Int
    ) -> Verdict {
        let expiration = request.expiration ?? defaultExpiration(request.kind, now)
        let draft = PushDraft(request, expiration: expiration, now: now)
        let context = ValidationContext(draft, settings: settings)
        let diagnostics = Findings.of(Rules.forDraft(of: context.type), on: context)
            .diagnostics(of: context, most: count)
        return verdict(on: request, diagnostics, now: now, callID: nil)
    }

    /// Returns the findings of the rules about size and headers, and of BG023, for a wake whose
    /// content has no others; `nil` if the rules have to find them. The usual cases, with nothing
    /// but an expiration or a version missing, are detected quickly.
    private func remarks(
        onClean request: WakeRequest, _ headers: ValidationContext.Headers, lacksVersion: Bool
    ) -> [Diagnostic]? {
        let isShort = request.payload.count * 10 <= ValidationContext.maximumBytes * 9
        let areUsual = isShort && headers.areUnremarkable(for: request.kind, settings)
        if areUsual, !lacksVersion { return [] }
        let lacksExpiration = request.kind == .background && headers.areAbsent
        if areUsual || isShort && lacksExpiration {
            return Self.omissions[(lacksExpiration ? 1 : 0) + (lacksVersion ? 2 : 0)]
        }
        guard !lacksVersion else { return nil }
        let context = ValidationContext(
            clean: PushTypeSet(request.kind), payload: request.payload, headers: headers,
            settings: settings)
        return Findings.of(Rules.forCleanRequest(of: request.kind), on: context)
            .diagnostics(of: context)
    }

    /// The findings about a background wake without an expiration (1), without a version (2), and
    /// without both (3).
    private static let omissions: [[Diagnostic]] =
        [[], ["BG018"], ["BG023"], ["BG018", "BG023"]].map { (ids: [RuleID]) in
            let context = ValidationContext(
                type: .background, payload: Array("{}".utf8),
                headers: ValidationContext.Headers(expiration: .absent, hasCollapseID: false),
                settings: Settings(Configuration()))
            return Findings.of(ids.compactMap(Rules.rule), on: context).diagnostics(of: context)
        }

    private func verdict(
        on request: WakeRequest, _ diagnostics: [Diagnostic], now: WallInstant, callID: String?
    ) -> Verdict {
        if !diagnostics.isEmpty, diagnostics.contains(where: { $0.severity == .error }) {
            return .invalid(diagnostics)
        }
        let wake = ValidWake(
            request, expiration: request.expiration ?? defaultExpiration(request.kind, now),
            callID: callID)
        return .valid(wake, remarks: diagnostics)
    }

    /// Checks a payload without headers, as sent in a push of this kind; the rules about headers
    /// are skipped.
    public func diagnostics(ofPayload payload: [UInt8], as kind: WakeKind) -> [Diagnostic] {
        let type = PushTypeSet(kind)
        let context = ValidationContext(
            type: type, payload: payload, headers: nil, settings: settings)
        return Findings.of(Rules.forPayload(of: type), on: context)
            .diagnostics(of: context)
    }

    private func defaultExpiration(_ kind: WakeKind, _ now: WallInstant) -> Expiration {
        let seconds =
            kind == .background ? configuration.backgroundLifetimeSeconds : kind.lifetimeSeconds
        return seconds == 0 ? .immediately : .at(now.advanced(bySeconds: seconds))
    }
}
