// SPDX-License-Identifier: Apache-2.0

/// Where one sample found a thread.
struct StackSample {
    /// The thread's name, of which Linux keeps 15 bytes.
    let thread: Substring
    /// From the leaf on.
    var frames: [StackFrame] = []
}

/// One of the functions that call each other.
struct StackFrame: Hashable {
    /// As the linker has it, mangled; `[unknown]` where nobody knows.
    let symbol: Substring
    /// The file that holds it, without its folders, or a word in brackets.
    let file: Substring
    let isKernel: Bool
}

extension StackSample {
    /// All that `perf script -F comm,ip,sym,dso` printed: a line with the thread's name, then one
    /// for each frame, behind a tab.
    static func all(in text: String) -> [StackSample] {
        var samples: [StackSample] = []
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            if line.first != UInt8(ascii: "\t") {
                samples.append(StackSample(thread: Substring(line.trimmed)))
            } else if let frame = StackFrame(line), !samples.isEmpty {
                samples[samples.count - 1].frames.append(frame)
            }
        }
        return samples
    }
}

extension StackFrame {
    /// Addresses of the kernel begin with so many bits set, on each processor that Swift knows.
    private static let kernelPrefix = Array("ffff".utf8)
    private static let addressDigits = 16

    /// Of `  ffffffff815e9aa9 do_anonymous_page ([kernel.kallsyms])`; `nil` for another line.
    init?(_ line: Substring.UTF8View) {
        let text = line.trimmed
        guard let addressEnd = text.firstIndex(of: UInt8(ascii: " ")),
            let fileStart = text.lastIndex(of: UInt8(ascii: "(")), addressEnd < fileStart,
            text.last == UInt8(ascii: ")")
        else { return nil }
        let address = text[..<addressEnd]
        let path = text[text.index(after: fileStart)...].dropLast()
        let name = path.lastIndex(of: UInt8(ascii: "/")).map { path[path.index(after: $0)...] }
        symbol = Substring(text[addressEnd..<fileStart].trimmed)
        file = Substring(name ?? path)
        isKernel =
            address.count == Self.addressDigits && address.starts(with: Self.kernelPrefix)
    }
}

extension Substring.UTF8View {
    /// Without blanks at its ends.
    fileprivate var trimmed: Substring.UTF8View {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        guard let first = firstIndex(where: { !isBlank($0) }),
            let last = lastIndex(where: { !isBlank($0) })
        else { return self[endIndex...] }
        return self[first...last]
    }
}
