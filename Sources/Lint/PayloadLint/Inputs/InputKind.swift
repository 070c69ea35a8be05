// SPDX-License-Identifier: Apache-2.0

/// What an input holds.
public enum InputKind: String, CaseIterable, Sendable {
    /// One payload: the JSON body of a push.
    case payload
    /// One payload with `Simulator Target Bundle`, as `xcrun simctl push` takes it.
    case apns
    /// One request in JSON or YAML: `headers` and `payload` side by side.
    case request
    /// One payload or request a line (JSON lines).
    case lines
    /// One sent push a line, with its time and device: what `--log` reads.
    case log
}
