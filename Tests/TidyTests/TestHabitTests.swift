// SPDX-License-Identifier: Apache-2.0

import Testing

/// What makes a test fail on a slow machine, or once and never again.
@Suite("Habits of tests")
struct TestHabitTests {
    /// The one place that may sleep for a fixed time, with the reasons there may be.
    static let waiting = "Tests/Core/WaitKit/Waiting.swift"

    static var sleeps: [Regex<Substring>] {
        [#/Task\.sleep\(/#, #/\.sleep\(for:/#, #/usleep\(/#, #/nanosleep\(/#]
    }
    static var draws: [Regex<Substring>] {
        [#/\.random\(/#, #/\.randomElement\(/#, #/\.shuffled\(/#, #/\.shuffle\(/#]
    }
    static let generators = ["SystemRandomNumberGenerator", "arc4random", "getrandom("]

    static let tests = Result {
        try SourceTree.checkout.swiftFiles(below: "Tests")
            .filter { !$0.path.hasPrefix("Tests/Benchmarks/") }
    }

    @Test("a test sleeps only while it polls a condition")
    func sleeps() throws {
        var findings: [String] = []
        for file in try Self.tests.get() where file.path != Self.waiting {
            for line in TestCode(file).lines(sleepingOutsidePolls: Self.sleeps) {
                findings.append(
                    place(file, line, "sleeps for a fixed time; poll, or see Waiting.swift"))
            }
        }
        #expect(findings == [])
    }

    @Test("randomness in tests has a seed")
    func seeds() throws {
        var findings: [String] = []
        for file in try Self.tests.get() {
            let code = TestCode(file)
            for line in code.lines(calling: Self.draws, without: "using:") {
                findings.append(place(file, line, "draws without a seeded generator"))
            }
            for (line, text) in file.codeLines.enumerated()
            where Self.generators.contains(where: text.contains) {
                findings.append(place(file, line, "uses the system's randomness"))
            }
        }
        #expect(findings == [])
    }

    @Test(
        "a sleep is found unless a loop around it looks at something",
        arguments: [
            ("func a() {\n    usleep(5)\n}", 1),
            ("func a() {\n    while b {\n        usleep(5)\n    }\n}", 0),
            (
                "func a() {\n    for _ in 0..<5 {\n        if b { return }\n        "
                    + "usleep(5)\n    }\n}",
                0
            ),
            ("func a() {\n    for _ in 0..<5 {\n        b()\n        usleep(5)\n    }\n}", 1),
            ("func a() {\n    for _ in 0..<5\n    where b\n    {\n        usleep(5)\n    }\n}", 0),
            ("func a() {\n    while b {\n        c()\n    }\n    usleep(5)\n}", 1),
            ("while b {\n    func a() {\n        usleep(5)\n    }\n}", 1),
        ])
    func sleepsFound(text: String, count: Int) {
        let code = TestCode(SourceFile(path: "a", text: text))
        #expect(code.lines(sleepingOutsidePolls: Self.sleeps).count == count)
    }

    @Test(
        "a draw is found unless it names a generator",
        arguments: [
            ("Int.random(in: 0..<5)", 1), ("Int.random(\n    in: f(1),\n    using: &g)", 0),
            ("a.shuffled(using: &g)", 0), ("a.randomElement()", 1), ("a.randomText(1)", 0),
        ])
    func drawsFound(text: String, count: Int) {
        let code = TestCode(SourceFile(path: "a", text: text))
        #expect(code.lines(calling: Self.draws, without: "using:").count == count)
    }
}

/// A file's code, without comments and the text of literals.
private struct TestCode {
    private let text: String

    init(_ file: SourceFile) { text = file.codeLines.joined(separator: "\n") }

    /// The indices of lines that call one of these with arguments in which a word is missing.
    func lines(calling names: [Regex<Substring>], without word: String) -> [Int] {
        names.flatMap { text.ranges(of: $0) }.filter { range in
            var depth = 1
            let rest = text[range.upperBound...]
            let arguments = rest.prefix { character in
                if character == "(" { depth += 1 }
                if character == ")" { depth -= 1 }
                return depth > 0
            }
            return !arguments.contains(word)
        }.map { line(of: $0.lowerBound) }
    }

    /// The indices of lines with one of these calls that no loop repeats until a condition holds.
    func lines(sleepingOutsidePolls calls: [Regex<Substring>]) -> [Int] {
        Set(
            calls.flatMap { text.ranges(of: $0) }.map(\.lowerBound).filter { !isPolling($0) }
                .map { line(of: $0) }
        ).sorted()
    }

    /// Whether a loop of the same function is around a place, and looks at something before it.
    private func isPolling(_ place: String.Index) -> Bool {
        for block in blocks(around: place).reversed() {
            let head = block.head
            if head.hasPrefix("while ") || head.hasPrefix("repeat") { return true }
            if head.hasPrefix("for ") {
                let body = text[block.start..<place]
                return head.contains("where ")
                    || ["if ", "guard ", "catch"].contains(where: body.contains)
            }
            if head.contains("func ") { return false }
        }
        return false
    }

    /// The blocks that are open at a place, outermost first: the statement that begins each, and
    /// where its body begins.
    private func blocks(
        around place: String.Index
    ) -> [(head: String, start: String.Index)] {
        var open: [(head: String, start: String.Index)] = []
        // Where the statement of the next block begins, and the same for the blocks that are open:
        // a closure among arguments does not end the statement around it.
        var start = text.startIndex
        var starts: [(statement: String.Index, parentheses: Int)] = []
        var parentheses = 0
        for index in text[..<place].indices {
            switch text[index] {
            case "(": parentheses += 1
            case ")": parentheses -= 1
            case "{":
                open.append((Self.lastStatement(of: text[start..<index]), text.index(after: index)))
                starts.append((start, parentheses))
                parentheses = 0
                start = text.index(after: index)
            case "}":
                guard let outer = starts.popLast() else { break }
                open.removeLast()
                parentheses = outer.parentheses
                start = parentheses > 0 ? outer.statement : text.index(after: index)
            default: break
            }
        }
        return open
    }

    /// The last statement of some lines: continuations are indented deeper than what they continue,
    /// or begin with `where`.
    private static func lastStatement(of text: Substring) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        // The rest of the line of a brace: a closure's parameters, mostly.
        if lines.count > 1 { lines.removeFirst() }
        lines.removeAll { $0.allSatisfy(\.isWhitespace) }
        func indentation(_ line: Substring) -> Int { line.prefix { $0 == " " }.count }
        guard let least = lines.map(indentation).min(),
            let first = lines.lastIndex(where: { line in
                indentation(line) == least
                    && !line.drop(while: \.isWhitespace).hasPrefix("where ")
            })
        else { return "" }
        return lines[first...].joined(separator: "\n").trimmingPrefix(while: \.isWhitespace)
            .description
    }

    private func line(of index: String.Index) -> Int { text[..<index].count { $0 == "\n" } }
}
