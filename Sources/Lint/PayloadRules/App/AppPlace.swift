// SPDX-License-Identifier: Apache-2.0

/// A place in one of an app's files.
public struct AppPlace: Hashable, Sendable {
    /// The path of the file.
    public var file: String
    /// The line, from 1; always 1 for a binary property list.
    public var line: Int
    /// The column in characters (Unicode scalars), from 1.
    public var column: Int
    /// The offset in bytes, from 0.
    public var offset: Int
    /// The JSON pointer (RFC 6901) of a value in a property list, such as `/UIBackgroundModes/0`;
    /// empty for a whole file, and in source text.
    public var pointer: String

    /// Creates a place; by default the start of the file.
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

/// A value with its place.
public struct Located<Value: Hashable & Sendable>: Hashable, Sendable {
    /// The value.
    public var value: Value
    /// Its place.
    public var place: AppPlace

    /// Creates a value with a place.
    public init(_ value: Value, at place: AppPlace) {
        self.value = value
        self.place = place
    }
}
