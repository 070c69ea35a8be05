// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Earliest dates of background tasks that are more than a week away.
@Suite("Earliest dates")
struct BeginDateTests {
    private static func isDistant(_ files: [String: String]) throws -> Bool {
        try OccasionTests.subjects(files).contains(.fault(.distantBeginDate))
    }

    private static func schedule(
        _ date: String, before: String = "", members: String = ""
    )
        -> String
    {
        "enum Jobs {\n\(members)\nstatic func schedule(_ due: TimeInterval = 9e9) {\n"
            + "let request = BGAppRefreshTaskRequest(identifier: \"a.b\")\n\(before)\n"
            + "request.earliestBeginDate = \(date)\nlater = Date(timeIntervalSinceNow: 9_000_000)"
            + "\n} }\nlet z: Void = Jobs.schedule()\n"
    }

    @Test(
        "a date from numbers and constants",
        arguments: [
            ("Date(timeIntervalSinceNow: interval)", "static let interval = 14 * 24 * 60 * 60.0"),
            (
                "Date(timeIntervalSinceNow: Jobs.interval)",
                "static let day: TimeInterval = 86_400\nstatic let interval = 14 * day"
            ),
            (
                "Date().addingTimeInterval(Self.interval)",
                "static var interval: TimeInterval { 30 * 86_400 }"
            ),
            ("Date(timeIntervalSinceNow: 2 * interval)", "static let interval = 432_000.0"),
            ("Date(timeIntervalSinceNow: TimeInterval(60 * 60 * 24 * 10))", ""),
            ("Date(timeIntervalSinceNow: (24 * 60 * 60) * 10)", ""),
            ("Date(timeInterval: 864_000, since: Date())", ""),
            ("Date().advanced(by: 10 * 86_400)", ""), (".now + 10 * 86_400", ""),
            ("Date.now.addingTimeInterval(10 * 86_400)", ""),
            ("max(due, Date(timeIntervalSinceNow: 10 * 86_400))", ""),
            ("due > 9 ? Date(timeIntervalSinceNow: 10 * 86_400) : nil", ""),
            ("(Date() + 10 * 86_400)", ""), ("Date(timeIntervalSinceNow: 864_000) as Date", ""),
            ("Calendar.current.date(byAdding: DateComponents(day: 21), to: Date())", ""),
            ("Calendar.current.date(byAdding: .month, value: 1, to: .now)", ""),
        ])
    func distant(date: String, members: String) throws {
        #expect(try Self.isDistant(["A.swift": Self.schedule(date, members: members)]))
        let before = "let next = \(date)"
        #expect(
            try Self.isDistant([
                "A.swift": Self.schedule("next", before: before, members: members)
            ]))
    }

    @Test(
        "a date that is near, or not known",
        arguments: [
            ("Date(timeIntervalSinceNow: interval)", "static var interval = 14 * 24 * 60 * 60.0"),
            ("Date(timeIntervalSinceNow: interval)", "static let interval = 3 * 24 * 60 * 60.0"),
            ("Date(timeIntervalSinceNow: due)", "static let due = 14 * 24 * 60 * 60.0"),
            ("Date(timeIntervalSinceNow: week / 2)", "static let week = 14 * 86_400.0"),
            ("min(Date(timeIntervalSinceNow: 30 * 86_400), end)", ""), ("nil", ""),
            ("Date(timeInterval: 864_000, since: last)", ""),
            ("Calendar.current.date(byAdding: DateComponents(hour: 21), to: Date())", ""),
            ("last.addingTimeInterval(30 * 86_400)", ""),
            ("last.advanced(by: 30 * 86_400)", ""),
            ("Calendar.current.date(byAdding: .day, value: 30, to: last)", ""),
            ("Date(timeIntervalSinceNow: 30 * 86_400\n/ 60)", ""),
            ("Date(timeIntervalSinceNow: 864_000).addingTimeInterval(-86_400)", ""),
            ("(Date() + 864_000).clamped(to: window)", ""),
            ("all(Date(timeIntervalSinceNow: 864_000)).sorted().first", ""),
            ("[Date().addingTimeInterval(864_000), end].randomElement()", ""),
            ("end < Date(timeIntervalSinceNow: 864_000) ? end : nil", ""),
            (".now + pause", "static let pause: Milliseconds = 9_000_000"),
            ("Date(timeIntervalSinceNow: settings.week)", "}\nlet week = 9_000_000.0\nenum Jobs {"),
            (
                "all.map { week in Date(timeIntervalSinceNow: week) }[0]",
                "static let week = 9_000_000.0"
            ),
        ])
    func near(date: String, members: String) throws {
        #expect(try !Self.isDistant(["A.swift": Self.schedule(date, members: members)]))
    }

    @Test("constants that multiply constants take no exponential time", .timeLimit(.minutes(10)))
    func chain() throws {
        let members = (1...8).map { number in
            let factors = repeatElement("a\(number - 1)", count: 12).joined(separator: " * ")
            return "static let a\(number) = \(factors)\n"
        }
        let all = "static let a0 = 2.0\n" + members.joined()
        let source = Self.schedule("Date(timeIntervalSinceNow: a8)", members: all)
        #expect(try !Self.isDistant(["A.swift": source]))
    }

    @Test("a constant of another file")
    func otherFile() throws {
        let source = Self.schedule("Date(timeIntervalSinceNow: Limits.cleanup)")
        let limits = "enum Limits { static let cleanup: TimeInterval = 60 * 60 * 24 * 30 }"
        #expect(try Self.isDistant(["A.swift": source, "B.swift": limits]))
        #expect(
            try !Self.isDistant([
                "A.swift": source, "B.swift": limits.replacing("30 }", with: "1 }"),
                "C.swift": limits.replacing("Limits", with: "Other"),
            ]))
        #expect(try !Self.isDistant(["A.swift": source]))
    }

    @Test("a number that another type or file has too, or that is none there")
    func ambiguous() throws {
        let source = Self.schedule("Date(timeIntervalSinceNow: Fast.Limits.pause)")
        let slow = "enum Slow { enum Limits { static let pause = 9_000_000.0 } }\n"
        let fast = "enum Fast { enum Limits { static let pause = TimeInterval(minutes: 5) } }"
        #expect(try Self.isDistant(["A.swift": source, "B.swift": slow]))
        #expect(try !Self.isDistant(["A.swift": source, "B.swift": slow + fast]))
        #expect(try !Self.isDistant(["A.swift": source, "B.swift": slow, "C.swift": fast]))
        let global = Self.schedule("Date(timeIntervalSinceNow: pause)")
        let member = "extension Jobs { var pause: TimeInterval { defaults.double(forKey: k) } }"
        let number = "let pause = 9_000_000.0\n"
        #expect(try Self.isDistant(["A.swift": global, "B.swift": number]))
        #expect(try !Self.isDistant(["A.swift": global, "B.swift": number, "C.swift": member]))
        #expect(try !Self.isDistant(["A.swift": global + number + member]))
    }

    @Test("a getter that a subclass has too")
    func overridden() throws {
        let source =
            "class Job {\nvar pause: TimeInterval { 30 * 86_400 }\nfunc schedule() {\n"
            + "request.earliestBeginDate = Date(timeIntervalSinceNow: pause)\n} }\n"
            + "let z: Void = Job().schedule()\n"
        let other = "class Hourly: Job { override var pause: TimeInterval { 3600 } }\n"
        #expect(try Self.isDistant(["A.swift": source]))
        #expect(try Self.isDistant(["A.swift": "final " + source]))
        #expect(try !Self.isDistant(["A.swift": source + other]))
        #expect(try !Self.isDistant(["A.swift": source, "B.swift": other]))
    }

    @Test("a date in Objective-C")
    func objectiveC() throws {
        let source =
            "static const NSTimeInterval kInterval = 30 * 24 * 60 * 60;\n@implementation Jobs\n"
            + "- (void)schedule { BGAppRefreshTaskRequest *r = [[BGAppRefreshTaskRequest alloc] "
            + "initWithIdentifier:@\"a.b\"];\nDATE }\n@end\n"
        for date in [
            "r.earliestBeginDate = [NSDate dateWithTimeIntervalSinceNow:kInterval];",
            "[r setEarliestBeginDate:[NSDate dateWithTimeIntervalSinceNow:kInterval]];",
            "r.earliestBeginDate = [[NSDate date] dateByAddingTimeInterval:30 * 86400];",
            "NSDate *d = [NSDate dateWithTimeIntervalSinceNow:kInterval];\n"
                + "r.earliestBeginDate = d;",
        ] {
            #expect(try Self.isDistant(["A.m": source.replacing("DATE", with: date)]))
        }
    }
}
