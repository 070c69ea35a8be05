// SPDX-License-Identifier: Apache-2.0

import CDashboard

/// The dashboard's source files, by name.
struct DashboardFiles: Sendable {
    /// The text of each file, by name.
    let texts: [String: String]

    init(_ texts: [String: String]) { self.texts = texts }

    /// The files that were compiled into the program.
    static let embedded: DashboardFiles = {
        var texts: [String: String] = [:]
        for index in 0..<CDashboard_file_count() {
            let file = CDashboard_file(index)
            // SAFETY: name and bytes are constants of the program that are never freed or changed,
            // and `length` is the size of the array behind `bytes`.
            let bytes = UnsafeBufferPointer(start: file.bytes, count: file.length)
            texts[String(cString: file.name)] = String(decoding: bytes, as: UTF8.self)
        }
        return DashboardFiles(texts)
    }()
}
