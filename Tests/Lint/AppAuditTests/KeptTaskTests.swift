// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Tasks that a property keeps, and identifiers of time in the background.
@Suite("Kept tasks")
struct KeptTaskTests {
    private static func faults(_ source: String, _ path: String = "a.swift") -> Set<String> {
        Set(BackgroundSourceTests.faults(source, path).map(\.rawValue))
    }

    private static let end = "task?.setTaskCompleted(success: true)\n"

    private static func kept(_ body: String = "", _ other: String) -> String {
        "class Sync {\nprivate var task: BGTask?\nfunc handle(_ new: BGProcessingTask) {\n"
            + "task = new\n\(body)start()\n}\nfunc finish() {\n\(other)}\n}\n"
    }

    @Test("a task that a property keeps needs an expiration handler and an end")
    func property() {
        #expect(Self.faults(Self.kept("", Self.end)) == ["taskWithoutExpiration"])
        let expiration = "task?.expirationHandler = { stop() }\n"
        let time = "app.beginBackgroundTask(expirationHandler: { stop() })\n"
        #expect(Self.faults(Self.kept(time, Self.end)).contains("taskWithoutExpiration"))
        #expect(Self.faults(Self.kept(expiration, Self.end)) == [])
        #expect(Self.faults(Self.kept("", expiration + Self.end)) == [])
        // Nothing uses it.
        #expect(Self.faults(Self.kept("", "task = nil\n")) == ["taskPathWithoutEnd"])
        // Another file may.
        #expect(Self.faults(Self.kept("", "Worker.run(task)\n")) == [])
        #expect(
            Self.faults(Self.kept("", "task = nil\n").replacing("private var", with: "var")) == [])
    }

    @Test("who makes an object that keeps a task may set its expiration handler")
    func initializer() {
        #expect(
            Self.faults(
                "class Completion {\nprivate let task: BGTask?\n"
                    + "init(task: BGTask) {\nself.task = task\n}\ninit() { task = nil }\n"
                    + "func complete() {\n\(Self.end)}\n}\n") == [])
        // One that ends it itself answers for it.
        #expect(
            Self.faults(
                "class Work {\ninit(task: BGProcessingTask) {\nif isReady {\n"
                    + "task.setTaskCompleted(success: true)\n}\n} }\n"
            )
            .contains("taskPathWithoutEnd"))
    }

    @Test("a task that a property keeps may be ended through it, once something was called")
    func throughProperty() {
        func source(
            _ body: String, ends: String = "task?.setTaskCompleted(success: true)"
        )
            -> String
        {
            "class Sync {\nvar task: BGProcessingTask?\nfunc begin(_ new: BGProcessingTask) {\n"
                + "task = new\nrun(new)\n}\nfunc run(_ new: BGProcessingTask) {\n"
                + "new.expirationHandler = { self.stop() }\n\(body)\n}\n"
                + "func finish() {\n\(ends)\n} }\n"
        }
        let end = "new.setTaskCompleted(success: false)"
        let guarded = "guard isReady else {\n\(end)\nreturn\n}\n"
        for body in [
            guarded + "finish()", guarded + "location.request()",
            guarded + "load { if $0 { self.finish() } }",
            guarded + "task?.setTaskCompleted(success: true)",
        ] {
            #expect(Self.faults(source(body)) == [])
            for ends in [
                "if let kept = self.task { kept.setTaskCompleted(success: true) }",
                "self.task!.setTaskCompleted(success: true)",
            ] {
                #expect(Self.faults(source(body, ends: ends)) == [])
            }
        }
        // At once, and where nothing ends what the property has.
        for body in ["guard isReady else { return }\nfinish()\n\(end)", guarded + "print(1)"] {
            #expect(Self.faults(source(body)).contains("taskPathWithoutEnd"))
        }
        #expect(
            Self.faults(source(guarded + "location.request()", ends: "task = nil"))
                .contains("taskPathWithoutEnd"))
    }

    @Test("a function of the file may set the expiration handler, too late after a wait")
    func helper() {
        func source(_ body: String) -> String {
            "func handle(task: BGProcessingTask) async {\n\(body)\ntask.setTaskCompleted(success: "
                + "true)\n}\nfunc prepare(_ task: BGProcessingTask) {\n"
                + "task.expirationHandler = { stop() }\n}\n"
        }
        #expect(Self.faults(source("prepare(task)\nawait sync()")) == [])
        #expect(Self.faults(source("await sync()\nprepare(task)")) == ["lateExpiration"])
    }

    @Test("an expiration handler is late after a wait, and not after other code")
    func lateExpiration() {
        let set = "task.expirationHandler = { stop() }\n"
        func isLate(_ body: String) -> Bool {
            Self.faults(
                "func handle(task: BGProcessingTask) async {\n\(body)\nawait sync()\n"
                    + "task.setTaskCompleted(success: true)\n}\n"
                    + "func run(_ task: BGProcessingTask) {\n\(set)}\n"
            ).contains("lateExpiration")
        }
        for body in [
            set, "schedule()\nlet queue = OperationQueue()\nqueue.addOperation(work)\n" + set,
            "Task { await prepare() }\n" + set, "await run(task)", "Task { await run(task) }",
            "waitForNetwork { ok in note(ok) }\n" + set, "waitlist(task)\nwaiter.add(task)\n" + set,
            "guard isReady else {\nawait note()\ntask.setTaskCompleted(success: false)\nreturn\n}\n"
                + set,
        ] {
            #expect(!isLate(body))
        }
        for body in [
            "await prepare()\n" + set, "group.wait()\n" + set, "Thread.sleep(1)\n" + set,
            "queue.addOperations(all, waitUntilFinished: true)\n" + set,
            "await prepare()\nif isOld {\n\(set)}", "do { try await prepare() } catch { }\n" + set,
            "while isStarting { await pause() }\nTask {\n\(set)}",
            "queue.asyncAfter(deadline: .now() + 1) {\n\(set)}", "await prepare()\nrun(task)",
        ] {
            #expect(isLate(body))
        }
    }

    @Test("an expiration handler of Objective-C is late after a wait that blocks")
    func lateBlock() {
        func faults(_ line: String) -> Set<String> {
            Self.faults(
                "- (void)handle:(BGProcessingTask *)task {\n\(line)\n"
                    + "[task setExpirationHandler:^{ [self stop]; }];\n"
                    + "[self sync:^{ [task setTaskCompletedWithSuccess:YES]; }];\n}", "a.m")
        }
        #expect(faults("[self schedule];") == [])
        #expect(faults("dispatch_semaphore_wait(lock, time);") == ["lateExpiration"])
    }

    @Test("an expiration handler that only records what happened stops nothing")
    func tracked() {
        let source =
            "func handle(task: BGProcessingTask) {\ntask.expirationHandler = {\n"
            + "EventTracker.track(.expired(at: now))\nlogger.debug(\"expired\")\n}\n"
            + "sync { task.setTaskCompleted(success: true) }\n}\n"
        #expect(Self.faults(source) == ["idleExpiration"])
        #expect(Self.faults(source.replacing("logger", with: "work.cancel()\nlogger")) == [])
    }

    @Test(
        "an identifier that is set to invalid before ends nothing",
        arguments: [
            "func end() {\nif id != .invalid {\nid = .invalid\nqueue.async { END(self.id) }\n}\n}",
            "func end() {\nself.id = UIBackgroundTaskInvalid\nEND(id)\n}",
        ])
    func invalid(function: String) {
        let source =
            "class A {\nvar id = UIBackgroundTaskIdentifier.invalid\n"
            + function.replacing("END", with: "UIApplication.shared.endBackgroundTask") + "\n}"
        #expect(Self.faults(source) == ["assertionEndedInvalid"])
        let copied = source.replacing("func end() {\n", with: "func end() {\nlet old = id\n")
            .replacing("Task(id)", with: "Task(old)").replacing("self.id)", with: "old)")
        #expect(Self.faults(copied) == [])
        // In another branch.
        #expect(
            Self.faults(
                "func end() {\nswitch state {\ncase .idle: id = .invalid\n"
                    + "case .running: UIApplication.shared.endBackgroundTask(id)\n}\n}") == [])
        // The parameter is another one.
        #expect(
            Self.faults(
                "func end(id: I) {\nself.id = .invalid\nUIApplication.shared.endBackgroundTask(id)"
                    + "\n}") == [])
    }

    @Test(
        "an identifier that may be set again before it is ended, or is tested, is not invalid",
        arguments: [
            "id = .invalid\nexpire = { END(id) }\nid = BEGIN(expirationHandler: expire)",
            "var t = BGID.invalid\nlet end = { END(t) }\nt = BEGIN {\nend() }",
            "id = .invalid\ncenter.addObserver(forName: name) { _ in END(self.id) }",
            "id = .invalid\nstart()\nif self.id != .invalid {\nEND(id)\n}",
            "id = .invalid\nstart()\nguard .invalid != self.id else { return }\nEND(id)",
        ])
    func setAgain(body: String) {
        let source =
            "func f() {\n"
            + body.replacing("END", with: "app.endBackgroundTask")
            .replacing("BEGIN", with: "app.beginBackgroundTask")
            .replacing("BGID", with: "UIBackgroundTaskIdentifier") + "\n}"
        #expect(!Self.faults(source).contains("assertionEndedInvalid"))
    }

    @Test("time that the next statement gives back cannot run out")
    func endedNext() {
        let source =
            "func f() {\nlet t = app.beginBackgroundTask(expirationHandler: nil)\nWORK\n"
            + "app.endBackgroundTask(t)\n}"
        #expect(Self.faults(source.replacing("WORK", with: "")) == [])
        #expect(
            Self.faults(source.replacing("WORK", with: "await store.save(all: items)"))
                == ["assertionWithoutExpiration"])
    }

    @Test("the end of a task gives no time in the background back")
    func otherEnd() {
        let source =
            "func handle(task: BGProcessingTask) {\ntask.expirationHandler = { stop() }\n"
            + "let t = app.beginBackgroundTask {\nEND}\n"
            + "sync {\ntask.setTaskCompleted(success: true)\napp.endBackgroundTask(t)\n}\n}"
        let end = "task.setTaskCompleted(success: false)\n"
        #expect(
            Self.faults(source.replacing("END", with: end)) == ["assertionExpirationWithoutEnd"])
        #expect(Self.faults(source.replacing("END", with: end + "stop()\n")) == [])
    }

    @Test("the invalid identifier itself ends nothing")
    func invalidItself() {
        for value in [".invalid", "UIBackgroundTaskIdentifier.invalid", "UIBackgroundTaskInvalid"] {
            let source = "func end() { app.endBackgroundTask(\(value)) }"
            #expect(Self.faults(source) == ["assertionEndedInvalid"])
        }
        let block = "- (void)end {\n[app endBackgroundTask:UIBackgroundTaskInvalid];\n}"
        #expect(Self.faults(block, "a.m") == ["assertionEndedInvalid"])
    }

    @Test("a variable of Objective-C keeps the identifier that its property no longer has")
    func localIdentifier() {
        let source =
            "- (void)end {\nLET\nself.task = UIBackgroundTaskInvalid;\n"
            + "[app endBackgroundTask:task];\n}"
        let local = source.replacing("LET", with: "UIBackgroundTaskIdentifier task = self.task;")
        #expect(Self.faults(local, "a.m") == [])
    }

    @Test("a block that Objective-C keeps in a property ends what is there when it runs")
    func keptBlock() {
        let source =
            "- (void)f {\nself.task = UIBackgroundTaskInvalid;\nself.expire = ^{\nKEEP"
            + "dispatch_async(queue, ^{\n[app endBackgroundTask:self.task];\n"
            + "self.task = UIBackgroundTaskInvalid;\n});\n};\n}\n- (void)g {\n"
            + "self.task = [app beginBackgroundTaskWithExpirationHandler:self.expire];\n}"
        for line in ["", "if (self.task == UIBackgroundTaskInvalid) { return; }\n"] {
            #expect(Self.faults(source.replacing("KEEP", with: line), "a.m") == [])
        }
    }

    @Test("a block that a queue of Objective-C runs next ends nothing that was set to invalid")
    func dispatchedBlock() {
        let source =
            "- (void)f {\nLET\nself.task = UIBackgroundTaskInvalid;\n"
            + "dispatch_async(dispatch_get_main_queue(), ^{\n[app endBackgroundTask:TASK];\n});\n}"
        #expect(
            Self.faults(
                source.replacing("LET", with: "").replacing("TASK", with: "self.task"), "a.m")
                == ["assertionEndedInvalid"])
        #expect(
            Self.faults(
                source.replacing("LET", with: "UIBackgroundTaskIdentifier old = self.task;")
                    .replacing("TASK", with: "old"), "a.m") == [])
    }

    @Test("an expiration handler of Objective-C ends what it was asked for")
    func invalidBlock() {
        func faults(_ lines: [String]) -> Set<String> {
            Self.faults(
                "- (void)f {\n__block UIBackgroundTaskIdentifier t = UIBackgroundTaskInvalid;\n"
                    + "t = [application beginBackgroundTaskWithExpirationHandler:^{\n"
                    + lines.joined(separator: "\n") + "\n}];\n[self.list addObject:@(t)];\n}", "a.m"
            )
        }
        let lines = ["[application endBackgroundTask:t];", "t = UIBackgroundTaskInvalid;"]
        #expect(faults(lines) == [])
        #expect(faults(lines.reversed()) == ["assertionEndedInvalid"])
    }

    @Test("a switch on the type of a push lets the cases of other types be")
    func pushType() {
        let source =
            "func pushRegistry(_ r: PKPushRegistry, didReceiveIncomingPushWith payload: "
            + "PKPushPayload, for type: PKPushType, completion: @escaping () -> Void) {\n"
            + "switch type {\ncase .voIP: provider.reportNewIncomingCall(with: id, update: u) { _ "
            + "in }\ndefault: return\n}\ncompletion()\n}"
        #expect(Self.faults(source) == [])
        let silent = source.replacing(
            "provider.reportNewIncomingCall(with: id, update: u) { _ in }",
            with: "guard isNew else { return }\nprovider.reportNewIncomingCall(with: id)")
        #expect(Self.faults(silent) == ["voipPathWithoutReport", "voipPathWithoutCompletion"])
        let other = source.replacing("switch type", with: "switch payload.dictionaryPayload.count")
            .replacing("case .voIP", with: "case 1")
        #expect(Self.faults(other) == ["voipPathWithoutReport", "voipPathWithoutCompletion"])
    }

    @Test("a flag of an earlier push or task excuses no path of a handler")
    func earlierFlags() {
        let push =
            "func pushRegistry(_ r: PKPushRegistry, didReceiveIncomingPushWith payload: "
            + "PKPushPayload, for type: PKPushType, completion: @escaping () -> Void) {\n"
            + "guard !isRinging else { return completion() }\nisRinging = true\n"
            + "provider.reportNewIncomingCall(with: id, update: u) { _ in completion() }\n}"
        #expect(Self.faults(push) == ["voipPathWithoutReport"])
        let task =
            "s.register(forTaskWithIdentifier: \"a\", using: nil) { task in\n"
            + "guard !isBusy else { return }\nisBusy = true\n"
            + "task.expirationHandler = { stop() }\n"
            + "sync { task.setTaskCompleted(success: true) }\n}"
        #expect(Self.faults(task) == ["taskPathWithoutEnd"])
        // A function that ends the task once is called several times.
        let end =
            "func end(_ task: BGTask) {\nguard !isOver else { return }\nisOver = true\n"
            + "task.setTaskCompleted(success: true)\n}"
        #expect(Self.faults(end) == [])
    }

    @Test("a helper that gets a VoIP push has to hand it on on each path")
    func payloadHelper() {
        let source =
            "func pushRegistry(_ r: PKPushRegistry, didReceiveIncomingPushWith payload: "
            + "PKPushPayload, for type: PKPushType, completion: @escaping () -> Void) {\n"
            + "process(payload)\ncompletion()\n}\nfunc process(_ push: PKPushPayload) {\n"
            + "do {\nlet user = try load()\nclient.login(user)\n"
            + "client.processInvite(push.dictionaryPayload)\n} catch {\nEND}\n}"
        #expect(Self.faults(source.replacing("END", with: "")) == ["voipPathWithoutReport"])
        #expect(Self.faults(source.replacing("END", with: "client.show(push)\n")) == [])
    }

    @Test("a closure that CloudKit calls until no more is coming completes in the end")
    func moreComing() {
        let source =
            "- (void)application:(UIApplication *)a "
            + "performFetchWithCompletionHandler:(void (^)(R))done {\n"
            + "[self.cloud fetchChanges:^(R result, BOOL moreComing) {\n"
            + "if (!moreComing) { done(result); }\n}];\n}\n"
        #expect(Self.faults(source, "a.m") == [])
        #expect(
            Self.faults(source.replacing("moreComing", with: "failed"), "a.m")
                == ["fetchPathWithoutCompletion"])
    }

    @Test("a view that a storyboard decodes makes its session, an archive of a library does not")
    func decoded() {
        func sees(_ type: String) -> Bool {
            let source =
                "class A: \(type) {\nrequired init?(coder: NSCoder) {\nlet c = "
                + "URLSessionConfiguration.background(withIdentifier: i)\n} }"
            let text = SourceText(Array(source.utf8), path: "a.swift")
            return SourceReader.observations(in: text, SourceConstants())
                .contains { $0.subject == .backgroundSession }
        }
        #expect(sees("UIViewController"))
        #expect(!sees("NSObject, NSCoding"))
    }

    @Test("a value does not stay alive with a handler")
    func values() {
        let register =
            "func f() { s.register(forTaskWithIdentifier: \"a\", using: nil) { t in\n"
            + "self.run(t) { t.setTaskCompleted(success: true) } } }"
        #expect(Self.faults("struct Sync { \(register) }") == [])
        #expect(Self.faults("enum Sync {}\nextension Sync { \(register) }") == [])
        #expect(Self.faults("class Sync { \(register) }") == ["taskHandlerKeepsSelf"])
    }

    @Test("a function that an extension adds to tasks may end one")
    func extensions() {
        func source(_ use: String) -> String {
            "func handle(_ task: BGProcessingTask) {\n\(use)\n}"
        }
        #expect(Self.faults(source("task.finish(Task { await f() })")) == [])
        #expect(Self.faults(source("task.updateTitle(\"a\", subtitle: b)")) != [])
    }

    @Test("a closure that ends time in the background may stand before the request for it")
    func earlierEnd() {
        let source =
            "func f(_ work: (@escaping () -> Void) -> Void) {\nvar id = "
            + "UIBackgroundTaskIdentifier.invalid\nlet end = { app.endBackgroundTask(id) }\n"
            + "id = UIApplication.shared.beginBackgroundTask(expirationHandler: end)\nBODY\n}"
        #expect(Self.faults(source.replacing("BODY", with: "work(end)")) == [])
        #expect(
            Self.faults(source.replacing("BODY", with: "if a { return }\nwork(end)"))
                == ["assertionPathWithoutEnd"])
    }

    @Test("a task that starts before the identifier is set, and ends it later")
    func laterIdentifier() {
        let source =
            "func f() {\nvar id = UIBackgroundTaskIdentifier.invalid\nlet job = Task {\n"
            + "await save()\napp.endBackgroundTask(id) }\nEND\n}"
        let begin = "id = app.beginBackgroundTask { job.cancel(); app.endBackgroundTask(id) }"
        #expect(Self.faults(source.replacing("END", with: begin)) == [])
        #expect(Self.faults(source.replacing("END", with: "")) == ["assertionEndedInvalid"])
    }
}
