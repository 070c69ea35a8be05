// SPDX-License-Identifier: Apache-2.0

/// The kind of an input.
public enum InputKind: String, CaseIterable, Sendable {
    /// A payload: the JSON body of a push.
    case payload
    /// A payload with `Simulator Target Bundle`, for `xcrun simctl push`.
    case apns
    /// A request in JSON or YAML, with the members `headers` and `payload`.
    case request
    /// One payload or request per line (JSON lines).
    case lines
    /// One sent push per line, with its time and device, for `--log`.
    case log
}
