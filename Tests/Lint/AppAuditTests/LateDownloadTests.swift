// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Files of downloads that are used after the delegate method which gets them.
@Suite("Files of downloads that are used late")
struct LateDownloadTests: SourceFaultSuite {
    private static func isFound(_ body: String) -> Bool {
        faults(
            "class A: NSObject, URLSessionDownloadDelegate {\nfunc urlSession(_ session: "
                + "URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo "
                + "location: URL) {\n\(body)\n}\n}"
        ).contains(.downloadUsedLate)
    }

    @Test(
        "Swift uses the file later",
        arguments: [
            "DispatchQueue.main.async { try? fm.moveItem(at: location, to: target) }",
            "DispatchQueue.main.async { self.handler(location) }",
            "DispatchQueue.main.async { self.onLoad?(task, location) }",
            "DispatchQueue.main.async { task(at: location) }",
            "queue.async { [library] in\ndo {\ntry library.keep(location, as: id)\n} catch {}\n}",
            "DispatchQueue.main.async(execute: { try? fm.moveItem(at: location, to: target) })",
            "queue.async {\nguard let d = try? Data(contentsOf: location) else { return }\n"
                + "self.show(d)\n}",
            "Task { @MainActor in try? fm.copyItem(at: location, to: target) }",
            "Task.detached { _ = try fm.replaceItemAt(target, withItemAt: location) }",
            "queue.asyncAfter(deadline: .now() + 1) { [weak self] in\nif let self {\n"
                + "try? fm.moveItem(atPath: location.path, toPath: path)\n}\n}",
            "print(\"\\(location)\")\nDispatchQueue.main.async {\nprint(location)\n"
                + "items.forEach { i in try? fm.moveItem(at: location, to: i) }\n}",
        ])
    func swift(body: String) { #expect(Self.isFound(body)) }

    @Test(
        "Swift uses the file at once, waits, or only names it later",
        arguments: [
            "try? fm.moveItem(at: location, to: target)",
            "try? fm.moveItem(at: location, to: target)\nDispatchQueue.main.async { show(target) }",
            "let data = try? Data(contentsOf: location)\n"
                + "DispatchQueue.main.async { try? fm.moveItem(at: location, to: target) }",
            "DispatchQueue.main.sync { try? fm.moveItem(at: location, to: target) }",
            "let group = DispatchGroup()\nqueue.async(group: group) { "
                + "try? fm.moveItem(at: location, to: target) }\ngroup.wait()",
            "let s = DispatchSemaphore(value: 0)\nTask { try? fm.moveItem(at: location, to: t)\n"
                + "s.signal() }\ns.wait()",
            "DispatchQueue.main.async { print(location) }",
            "DispatchQueue.main.async { self.show(location.lastPathComponent) }",
            "DispatchQueue.main.async { logger.info(\"loaded\", location) }",
            "DispatchQueue.main.async { self.seen.insert(location) }",
            "DispatchQueue.main.async { Tracker.track(location) }",
            "queue.async { keep(location) }\nwhile !over { RunLoop.current.run(until: soon) }",
            "DispatchQueue.main.async { self.log.debug(location) }",
            "let location = keep(location)\n"
                + "DispatchQueue.main.async { try? fm.moveItem(at: location, to: target) }",
            "files.forEach { try? fm.moveItem(at: location, to: $0) }",
            "coordinator.coordinate(readingItemAt: location) { url in read(url) }",
            "DispatchQueue.main.async { try? fm.moveItem(at: other, to: target) }",
            "run { try? fm.moveItem(at: location, to: target) }",
            "DispatchQueue.main.async { show(1) }",
        ])
    func atOnce(body: String) { #expect(!Self.isFound(body), "\(body)") }

    @Test("another function of Swift")
    func otherFunction() {
        for head in [
            "func urlSession(_ session: URLSession, task: URLSessionTask, "
                + "didFinishCollecting location: URL)",
            "func handle(_ location: URL)",
            "func loader(_ l: L, didFinishDownloadingTo location: URL)",
        ] {
            let source =
                "class A {\n\(head) {\nDispatchQueue.main.async { try? fm.moveItem(at: location, "
                + "to: target) }\n}\n}"
            #expect(Self.faults(source) == [], "\(head)")
        }
    }

    private static func isFoundInC(_ body: String) -> Bool {
        faults(
            "@implementation A\n- (void)URLSession:(NSURLSession *)session downloadTask:"
                + "(NSURLSessionDownloadTask *)task didFinishDownloadingToURL:(NSURL *)location {\n"
                + "\(body)\n}\n@end", "A.m"
        ).contains(.downloadUsedLate)
    }

    @Test("Objective-C uses the file later, or at once")
    func objectiveC() {
        let move = "[fm moveItemAtURL:location toURL:target error:nil];"
        #expect(Self.isFoundInC("dispatch_async(dispatch_get_main_queue(), ^{ \(move) });"))
        #expect(Self.isFoundInC("dispatch_async(q, ^(void) {\nif (on) {\n\(move)\n}\n});"))
        #expect(
            Self.isFoundInC("dispatch_after(t, q, ^{ [NSData dataWithContentsOfURL:location]; });"))
        #expect(
            Self.isFoundInC(
                "dispatch_async(q, ^{ [fm moveItemAtPath:[location path] toPath:p error:nil]; });"))
        #expect(Self.isFoundInC("dispatch_async(q, ^{ [self take:location]; });"))
        #expect(
            Self.isFoundInC("dispatch_async(q, ^{ [self.delegate loader:self got:location]; });"))
        for body in [
            move, "dispatch_sync(q, ^{ \(move) });", "[self run:^{ \(move) }];",
            "dispatch_async(q, ^{ \(move) });\ndispatch_semaphore_wait(s, DISPATCH_TIME_FOREVER);",
            "dispatch_group_async(g, q, ^{ \(move) });\ndispatch_group_wait(g, t);",
            "NSData *d = [NSData dataWithContentsOfURL:location];\n"
                + "dispatch_async(q, ^{ [self show:d]; });",
            "dispatch_async(q, ^{ NSLog(@\"%@\", location); });",
            "dispatch_async(q, ^{ [self.logger log:location]; });",
            "dispatch_async(q, ^{ [self show:location.lastPathComponent]; });",
            "\(move)\ndispatch_async(q, ^{ [fm moveItemAtURL:target toURL:location error:nil]; });",
        ] {
            #expect(!Self.isFoundInC(body), "\(body)")
        }
    }
}
