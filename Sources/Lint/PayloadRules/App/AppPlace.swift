// SPDX-License-Identifier: Apache-2.0

/// A place in one of an app's files.
public struct AppPlace: Hashable, Sendable {
    /// The file's path, as it was found.
    public var file: String
    /// The line, from 1. A file without lines (a binary property list) has only line 1.
    public var line: Int
    /// The column in characters (Unicode scalars), from 1.
    public var column: Int
    /// The offset in bytes, from 0.
    public var offset: Int
    /// The way to a value in a property list, written as a JSON pointer (RFC 6901), such as
    /// `/UIBackgroundModes/0`; empty for a file as a whole, and in source text.
    public var pointer: String

    /// Names a place; by itself, the beginning of a file.
    public init(
        file: String, line: Int = 1, column: Int = 1, offset: Int = 0, pointer: String = ""
    ) {
        self.file = file
        self.line = line
        self.column = column
        self.offset = offset
        self.pointer = pointer
    }
}

/// A value, and its place.
public struct Located<Value: Hashable & Sendable>: Hashable, Sendable {
    /// The value.
    public var value: Value
    /// Its place.
    public var place: AppPlace

    /// Pairs a value with its place.
    public init(_ value: Value, at place: AppPlace) {
        self.value = value
        self.place = place
    }
}
