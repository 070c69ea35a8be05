// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A temporary folder that is gone with the object.
final class TestFolder: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "aa-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file, with the folders around it, and returns its path.
    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        try write(Array(text.utf8), to: name)
    }

    /// Writes a file, with the folders around it, and returns its path.
    @discardableResult
    func write(_ bytes: [UInt8], to name: String) throws -> String {
        let file = URL(filePath: path).appending(path: name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: file)
        return file.path
    }
}

/// Property lists in XML.
enum XML {
    /// A document around a value.
    static func document(_ value: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
        "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        \(value)
        </plist>

        """
    }

    /// A dictionary of raw values.
    static func dictionary(_ members: [(String, String)]) -> String {
        document(
            "<dict>\n" + members.map { "<key>\($0)</key>\($1)\n" }.joined() + "</dict>")
    }

    /// An array of texts.
    static func array(_ texts: String...) -> String {
        "<array>" + texts.map { "<string>\($0)</string>" }.joined() + "</array>"
    }
}
