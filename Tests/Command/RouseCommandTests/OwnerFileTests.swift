// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What `rouse keys` asks of the system, as strace sees it: a power cut is no test that can be run.
@Suite("Files that only their owner reads")
struct OwnerFileTests {
    @Test("are on the disk before they get their name, and the folder is after it")
    func durability() async throws {
        let folder = try TestFolder()
        let trace = folder.path + "/trace"
        let result = try await Rouse.run(
            "/usr/bin/strace",
            ["-f", "-y", "-e", "trace=fsync,rename", "-o", trace, Rouse.path, "keys", "create"]
                + ["--keys-file", folder.path + "/keys.json", "--name", "made"])
        #expect(result.status == 0, "\(result.all)")
        let calls = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
        func place(_ parts: String...) throws -> Int {
            try #require(
                calls.firstIndex { call in
                    call.hasSuffix("= 0") && parts.allSatisfy { call.contains($0) }
                }, "\(parts): \(calls)")
        }
        let contents = try place("fsync(", "/keys.json.", ".new>)")
        let rename = try place("rename(", "\"\(folder.path)/keys.json\"")
        let entry = try place("fsync(", "<\(folder.path)>)")
        #expect(contents < rename && rename < entry, "\(calls)")
    }
}
