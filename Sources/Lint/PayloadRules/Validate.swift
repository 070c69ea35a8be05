// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// Checks a payload with the default settings, as sent in a push of this kind; for tests of an app
/// or a server.
///
/// ```swift
/// let payload = try JSONEncoder().encode(Wake(version: 7))
/// #expect(validate(Array(payload)).isEmpty)
/// ```
///
/// The findings are those of ``WakeValidator/diagnostics(ofPayload:as:)``, notes included.
public func validate(_ payload: [UInt8], as kind: WakeKind = .background) -> [Diagnostic] {
    WakeValidator().diagnostics(ofPayload: payload, as: kind)
}

/// Checks a payload that is a string.
public func validate(_ payload: String, as kind: WakeKind = .background) -> [Diagnostic] {
    validate(Array(payload.utf8), as: kind)
}
