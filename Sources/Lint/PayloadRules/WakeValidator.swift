// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// Checks wakes against Apple's rules: the one door to a ``ValidWake``.
///
/// It is a pure function of the request, the time and its configuration. Every rule checks every
/// request, so that all faults are found together. In a test of the code that writes payloads:
///
/// ```swift
/// let payload = Array(#"{"aps":{"content-available":1},"version":7}"#.utf8)
/// let findings = WakeValidator().diagnostics(ofPayload: payload, as: .background)
/// #expect(findings.isEmpty)
/// ```
public struct WakeValidator: Sendable {
    /// A payload larger than this, in bytes, is not read: that it is over Apple's limit is all that
    /// need be said, and it bounds the work that hostile input can cause.
    public static let maximumReadBytes = 16_384

    private let configuration: Configuration
    private let settings: Settings

    /// A validator with these settings.
    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        settings = Settings(configuration)
    }

    /// Checks a request as of `now`. Where the request has no expiration, the wake gets its kind's
    /// default (``WakeModel/WakeKind/lifetimeSeconds``): for VoIP one immediate attempt, for
    /// background one day from `now`.
    ///
    /// A plain push is judged with the headers that it will be sent with, by all rules that a
    /// ``PushDraft`` of its type is judged by.
    ///
    /// Returns at most `count` findings, errors before the rest: hostile input has one every few
    /// bytes, and each finding takes hundreds of bytes.
    public func validate(
        _ request: WakeRequest, now: WallInstant, most count: Int = .max
    ) -> Verdict {
        if request.kind.discipline == .plain {
            return validate(plain: request, now: now, most: count)
        }
        let headers = ValidationContext.Headers(request, now: now)
        let reading = PayloadFastPath.read(
            request.payload, as: request.kind, settings: settings)
        if let reading {
            let remarks = remarks(onClean: request, headers).prefix(count)
            return verdict(on: request, Array(remarks), now: now, callID: reading.callID)
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

    /// The findings of the rules about size and headers for a wake with clean content. Wakes
    /// without any are recognised quickly.
    private func remarks(
        onClean request: WakeRequest, _ headers: ValidationContext.Headers
    ) -> [Diagnostic] {
        let isShort = request.payload.count * 10 <= ValidationContext.maximumBytes * 9
        if isShort, headers.areUnremarkable(for: request.kind, settings) { return [] }
        let context = ValidationContext(
            clean: PushTypeSet(request.kind), payload: request.payload, headers: headers,
            settings: settings)
        return Findings.of(Rules.forCleanRequest(of: request.kind), on: context)
            .diagnostics(of: context)
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

    /// Checks a payload by itself, as it would be sent in a push of this kind: the rules about
    /// headers stay out.
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
