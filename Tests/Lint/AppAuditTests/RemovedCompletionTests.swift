// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Completion handlers of the events of background sessions that a dictionary keeps.
@Suite("Completion handlers that are only removed from a dictionary")
struct RemovedCompletionTests: SourceFaultSuite {
    private static let declaration = "private var finishers: [String: () -> Void] = [:]"

    private static func isFound(
        _ end: String, _ declaration: String = declaration, more: String = ""
    ) -> Bool {
        faults(
            "final class Loads: NSObject, URLSessionDownloadDelegate {\n\(declaration)\n"
                + "func adopt(_ finish: @escaping () -> Void, for id: String) {\n"
                + "finishers[id] = finish\n}\n\(more)\n"
                + "func urlSessionDidFinishEvents(forBackgroundURLSession s: URLSession) {\n"
                + end + "\n}\n}"
        ).contains(.transferCompletionKeptForNothing)
    }

    @Test(
        "it is removed, and nothing calls it",
        arguments: [
            "finishers.removeValue(forKey: id)", "self.finishers.removeValue(forKey: id)",
            "DispatchQueue.main.async {\nguard let id = s.configuration.identifier else { return }"
                + "\nself.finishers.removeValue(forKey: id)\n}",
            "DispatchQueue.main.async { self.finishers.removeValue(forKey: id) }",
            "log(id)\nfinishers.removeValue(forKey: id)\nreload()",
        ])
    func removed(end: String) {
        #expect(Self.isFound(end))
        #expect(
            Self.isFound(end, "fileprivate var finishers = 1\n" + Self.declaration) == false,
            "two of this name")
    }

    @Test(
        "something may call it",
        arguments: [
            "finishers.removeValue(forKey: id)?()", "finishers.removeValue(forKey: id)!()",
            "let end = finishers.removeValue(forKey: id)\nend?()",
            "if let end = finishers.removeValue(forKey: id) { end() }",
            "run(finishers.removeValue(forKey: id))",
            "return finishers.removeValue(forKey: id)", "finishers[id]?()",
            "let end = finishers[id]\nfinishers.removeValue(forKey: id)\nend?()",
            "finishers.values.forEach { $0() }\nfinishers.removeValue(forKey: id)",
            "finishers.removeValue(forKey: id)\n    .map { $0() }",
            "let end = lock.withLock { finishers.removeValue(forKey: id) }\nend?()",
            "let end = queue.sync {\nself.finishers.removeValue(forKey: id)\n}\nend?()",
            "let end = if own { finishers.removeValue(forKey: id) } else { nil }\nend?()",
            "_ =\n    finishers.removeValue(forKey: id)", "others.removeValue(forKey: id)",
        ])
    func called(end: String) { #expect(!Self.isFound(end)) }

    @Test("a dictionary of which more is to be known")
    func declarations() {
        let end = "finishers.removeValue(forKey: id)"
        for declaration in [
            "var finishers: [String: () -> Void] = [:]",
            "private var finishers: [String: Int] = [:]", "private var finishers = Finishers()",
            "@Locked private var finishers: [String: () -> Void]", "",
        ] {
            #expect(!Self.isFound(end, declaration), "\(declaration)")
        }
        for more in [
            "func take(_ i: String) -> (() -> Void)? { finishers.removeValue(forKey: i) }",
            "func end() { finishers.values.forEach { $0() } }", "func all() -> Any { finishers }",
            "func read() { value(forKey: \"finishers\") }",
            "func end(_ i: String) { finishers[i]?() }",
        ] {
            #expect(!Self.isFound(end, more: more), "\(more)")
        }
        #expect(Self.isFound(end, more: "func reset() { finishers = [:] }"))
    }

    private static func isFoundInC(
        _ end: String, header: String = "NSMutableDictionary<NSString *, void (^)(void)> *"
    ) -> Bool {
        faults(
            "@interface Loads ()\n@property (nonatomic, strong) \(header)completions;\n@end\n"
                + "@implementation Loads\n- (id)init {\n"
                + "self.completions = [NSMutableDictionary dictionary];\nreturn self;\n}\n"
                + "- (void)add:(void (^)(void))completion for:(NSString *)i {\n"
                + "self.completions[i] = [completion copy];\n}\n"
                + "- (void)URLSessionDidFinishEventsForBackgroundURLSession:(NSURLSession *)s {\n"
                + end + "\n}\n@end", "Loads.m"
        ).contains(.transferCompletionKeptForNothing)
    }

    @Test("Objective-C")
    func objectiveC() {
        let removal = "[self.completions removeObjectForKey:i];"
        #expect(Self.isFoundInC(removal))
        #expect(Self.isFoundInC("NSString *i = s.configuration.identifier;\n\(removal)\nlog(1);"))
        #expect(!Self.isFoundInC("void (^end)(void) = self.completions[i];\n\(removal)\nend();"))
        #expect(!Self.isFoundInC("[self run:self.completions];\n\(removal)"))
        #expect(!Self.isFoundInC(removal, header: "NSMutableDictionary *"))
        #expect(!Self.isFoundInC("[self.others removeObjectForKey:i];"))
    }
}
