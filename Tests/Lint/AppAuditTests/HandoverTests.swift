// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Handlers that leave the completion of a push, a fetch or a task to a function of the same file
/// or of another one.
@Suite("Handovers")
struct HandoverTests: SourceFaultSuite {
    private static func fetch(_ body: String) -> String {
        "class AppDelegate {\nfunc application(_ a: UIApplication, "
            + "performFetchWithCompletionHandler done: @escaping (R) -> Void) {\n\(body)\n}\n}\n"
    }

    private static func task(_ body: String) -> String {
        "class Tasks {\nfunc handle(task: BGProcessingTask) {\n"
            + "task.expirationHandler = { work.cancel() }\n\(body)\n}\n}\n"
    }

    private static let end = "task.setTaskCompleted(success: true)"

    /// The faults with their files, in the order of files.
    private static func faults(_ files: [String: String]) throws -> [String] {
        let folder = try TestFolder()
        var list = SourceList()
        for (name, text) in files { try folder.write(text, to: name) }
        list.add(files.keys.sorted().map { folder.path + "/" + $0 })
        let facts = FileLibrary().facts(of: list)
        return (facts?.observations ?? []).compactMap { seen in
            guard case .fault(let fault) = seen.subject else { return nil }
            return "\(Paths.name(of: seen.place.file)):\(seen.place.line) \(fault.rawValue)"
        }
    }

    @Test(
        "a function that calls the closure it gets on some paths leaves the handler open",
        arguments: [
            "sync { done(.newData) }", "self.sync { ok in\ndone(.newData)\n}",
            "sync(then: { _ in done(.newData) })", "queue.async { self.sync { done(.newData) } }",
            "Tasks.sync(then: done)",
        ])
    func closures(call: String) {
        let sync = "extension Tasks {\nstatic func sync(then: @escaping () -> Void) {\nBODY\n} }\n"
        let source = Self.fetch(call) + sync
        #expect(
            Self.faults(source.replacing("BODY", with: "guard isNew else { return }\nload(then)"))
                == [.fetchPathWithoutCompletion])
        #expect(Self.faults(source.replacing("BODY", with: "load(then)")) == [])
        #expect(
            Self.faults(
                source.replacing("BODY", with: "guard isNew else { return then() }\nload(then)"))
                == [])
    }

    @Test("a task that a closure ends is open where a function drops the closure")
    func tasks() {
        let sync = "func sync(_ n: Int, completion: @escaping () -> Void) {\nBODY\n}\n"
        let source = Self.task("sync(1) { \(Self.end) }") + sync
        let open = source.replacing("BODY", with: "if n > 1 { completion() }")
        #expect(Self.faults(open) == [.taskPathWithoutEnd])
        #expect(Self.faults(source.replacing("BODY", with: "store(completion)")) == [])
        // Something else ends it too.
        let other = open.replacing(
            "sync(1)", with: "other.run { \(Self.end) }\nsync(1)")
        #expect(Self.faults(other) == [])
        // A function of another form is another one.
        #expect(Self.faults(open.replacing("sync(1)", with: "sync(for: 1)")) == [])
    }

    @Test("of two closures that a function gets it calls one")
    func alternatives() {
        let source =
            Self.task("load(success: { \(Self.end) }, failure: { \(Self.end) })")
            + "func load(success: () -> Void, failure: () -> Void) {\nBODY\n}\n"
        #expect(
            Self.faults(source.replacing("BODY", with: "if a { success() } else { failure() }"))
                == [])
        #expect(
            Self.faults(source.replacing("BODY", with: "if a { success() }\nif b { failure() }"))
                == [.taskPathWithoutEnd])
    }

    @Test("a message of Objective-C gets the handler in a block")
    func objectiveC() {
        let source =
            "- (void)application:(UIApplication *)a "
            + "performFetchWithCompletionHandler:(void (^)(R))done {\n"
            + "[self load:a then:^(BOOL ok) { done(R); }];\n}\n"
            + "- (void)load:(NSObject *)o then:(void (^)(BOOL))next {\nBODY\n}\n"
        func faults(_ body: String) -> Set<Fault> {
            BackgroundSourceTests.faults(source.replacing("BODY", with: body), "a.m")
        }
        #expect(faults("if (o.isNew) { return; }\nnext(YES);") == [.fetchPathWithoutCompletion])
        #expect(faults("next(YES);") == [])
    }

    @Test("a function of another file that gets the handler is followed to the next file")
    func files() throws {
        let delegate = Self.fetch("fetcher.fetch(at: 1, with: done)").replacing(
            "class AppDelegate {", with: "class AppDelegate {\nlet fetcher: Fetcher\n")
        let fetcher =
            "class Fetcher {\nfunc fetch(at time: Int, with completion: @escaping (R) -> Void) {\n"
            + "Store.shared.load { completion(.newData) }\n}\n}\n"
        let store = "class Store {\nfunc load(then: () -> Void) {\nBODY\n}\n}\n"
        func faults(_ body: String, _ other: String = "", with more: String = "") throws -> [String]
        {
            try Self.faults([
                "A.swift": delegate, "Fetcher.swift": fetcher.replacing("Store", with: "Store"),
                "Store.swift": store.replacing("BODY", with: body), "X.swift": other + more,
            ])
        }
        let open = "guard isNew else { return }\nthen()"
        #expect(try faults(open) == ["Store.swift:3 fetchPathWithoutCompletion"])
        #expect(try faults("then()") == [])
        // A method of a type that has nothing to do with it.
        let other = "class Other {\nfunc load(then: () -> Void) { }\n}\n"
        #expect(try faults(open, other) == ["Store.swift:3 fetchPathWithoutCompletion"])
        #expect(try faults("then()", other) == [])
        // Which of two functions of the same form is called is not known.
        let subclass = "class Local: Store {\noverride func load(then: () -> Void) { then() }\n}\n"
        #expect(try faults(open, subclass) == [])
    }

    @Test("a task that several files hand on is judged where it ends, and where it does not")
    func tasksOfFiles() throws {
        let handler = Self.task("coordinator.run(task, kind: 1)").replacing(
            "class Tasks {", with: "class Tasks {\nlet coordinator = TaskCoordinator()\n")
        func faults(_ body: String) throws -> [String] {
            try Self.faults([
                "A.swift": handler,
                "B.swift":
                    "class TaskCoordinator {\nfunc run(_ task: BGTask, kind: Int) {\n\(body)\n}\n}",
            ])
        }
        #expect(try faults("print(kind)") == ["B.swift:2 taskPathWithoutEnd"])
        #expect(try faults("print(kind)\n\(Self.end)") == [])
        #expect(try faults("queue.add(task)") == [])
        // The file that hands it on has set its expiration handler.
        #expect(try faults("load { \(Self.end) }") == [])
    }

    @Test("what the receiver is decides which type's function is meant")
    func receivers() throws {
        let helper = "class ViewController {\nfunc fetch(_ done: (R) -> Void) { }\n}\n"
        func faults(_ call: String, _ helper: String) throws -> [String] {
            try Self.faults(["A.swift": Self.fetch(call), "B.swift": helper])
        }
        let fault = ["B.swift:2 fetchPathWithoutCompletion"]
        #expect(
            try faults(
                "let viewController = root as! ViewController\nviewController.fetch(done)",
                helper) == fault)
        #expect(try faults("client.fetch(done)", helper) == [])
        // What something else has made may be of any type, whatever the variable's name.
        #expect(try faults("viewController.fetch(done)", helper) == fault)
        #expect(
            try faults(
                "let viewController = self.viewController\nviewController.fetch(done)", helper)
                == fault)
        #expect(
            try faults("let viewController = top()\nviewController.fetch(done)", helper) == [])
        #expect(try faults("ViewController().fetch(done)", helper) == fault)
        #expect(try faults("fetch(done)", helper) == [])
        let own = helper.replacing("class ViewController", with: "extension AppDelegate")
        #expect(try faults("fetch(done)", own) == fault)
        #expect(try faults("UIApplication.shared.fetch(done)", helper) == [])
    }

    @Test("a function of another file that gets a VoIP push has to report it on each path")
    func pushes() throws {
        let handler =
            "class Delegate {\nlet calls = CallManager()\nfunc pushRegistry(_ r: PKPushRegistry, "
            + "didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType) {\n"
            + "calls.receive(payload.dictionaryPayload)\n}\n}\n"
        func faults(_ body: String, in type: String = "CallManager") throws -> [String] {
            try Self.faults([
                "A.swift": handler,
                "B.swift":
                    "class \(type) {\nfunc receive(_ data: [String: Any]) {\n\(body)\n}\n}",
            ])
        }
        let report = "provider.reportNewIncomingCall(with: id, update: u) { _ in }"
        let guarded = "guard let id = data[\"id\"] else { return }\n\(report)"
        #expect(try faults(guarded) == ["B.swift:3 voipPathWithoutReport"])
        #expect(try faults(report) == [])
        #expect(try faults(guarded, in: "Chat") == [])
        // A library may report it.
        #expect(try faults("guard let id = data[\"id\"] else { return }\nclient.take(id)") == [])
    }

    @Test("a function of another file may ask what its caller wants")
    func wishes() throws {
        func faults(_ type: String, _ wish: String = "true") throws -> [String] {
            try Self.faults([
                "A.swift":
                    "class Delegate {\nlet calls = CallManager()\n"
                    + "func pushRegistry(_ r: PKPushRegistry, didReceiveIncomingPushWith "
                    + "payload: PKPushPayload, for type: PKPushType) {\n"
                    + "calls.receive(payload.dictionaryPayload, reports: \(wish))\n}\n}\n",
                "B.swift":
                    "class CallManager {\nfunc receive(_ data: [String: Any], reports: \(type)) {\n"
                    + "if reports, let then = end {\n"
                    + "provider.reportNewIncomingCall(with: id, update: u) { _ in then() }\n}\n"
                    + "guard !isBusy else { return }\nshow()\n}\n}",
            ])
        }
        #expect(try faults("Bool") == [])
        #expect(try faults("Any") != [])
        #expect(try faults("Bool", "payload.dictionaryPayload[a] == b") != [])
    }

    @Test("of the closures of one call each has to complete on its paths")
    func siblings() {
        let source = Self.fetch(
            "sync(failure: { done(.failed) }, success: { isNew in\nif isNew { done(.newData) }\n})")
        #expect(Self.faults(source) == [.fetchPathWithoutCompletion])
        #expect(
            Self.faults(
                source.replacing("{ done(.newData) }", with: "{ done(.newData) } else { done(.a) }")
            ) == [])
    }

    @Test("one of two opposite conditions is met")
    func opposites() {
        let source =
            Self.fetch("report(id) { done(.newData) }")
            + "func report(_ id: String, then: (() -> Void)?) {\n"
            + "if calls[1] == nil || calls[1] != id { provider.add { then?() } }\n"
            + "else if calls[1] == id { then?() }\n}\n"
        #expect(Self.faults(source) == [])
        #expect(
            Self.faults(source.replacing("else if calls[1] == id", with: "else if calls[1] == old"))
                == [.fetchPathWithoutCompletion])
    }

    @Test("an initializer of Objective-C has an object")
    func initializers() {
        let source =
            "- (void)application:(UIApplication *)a "
            + "performFetchWithCompletionHandler:(void (^)(R))done {\n"
            + "[self startWith:^(R result) { done(result); }];\n}\n"
            + "- (id)startWith:(void (^)(R))next {\nself = [super init];\nif (self) {\n"
            + "self.block = next;\n}\nreturn self;\n}\n"
        #expect(BackgroundSourceTests.faults(source, "a.m") == [])
        #expect(
            BackgroundSourceTests.faults(source.replacing("if (self)", with: "if (ready)"), "a.m")
                == [.fetchPathWithoutCompletion])
    }

    @Test("another completion of the same name is not that of the parameter")
    func shadows() {
        let source =
            Self.fetch("keep(done)")
            + "func keep(_ done: @escaping (R) -> Void) {\n"
            + "let timer = Timer(after: 1) {\nguard let kept = self.kept else { return }\n"
            + "if let (done, timer) = self.kept { timer.stop()\ndone(.noData) }\n}\n"
            + "self.kept = (done, timer)\n}\n"
        #expect(Self.faults(source) == [])
    }

    @Test("the parameter unwrapped under its own name is the parameter")
    func unwrapped() {
        for unwrapping in [
            "guard let done else { return }", "guard let done = done else { return }",
        ] {
            let source =
                Self.fetch("sync(then: done)")
                + "func sync(then done: ((R) -> Void)? = nil) {\nload {\n\(unwrapping)\n"
                + "done(.newData)\n}\n}\n"
            #expect(Self.faults(source) == [])
        }
    }

    @Test("a closure after the arguments need not be the last parameter")
    func defaults() {
        let source =
            Self.fetch("sync(1) { done(.newData) }")
            + "func sync(_ n: Int, then: @escaping () -> Void, queue: DispatchQueue = .main) {\n"
            + "load { BODY }\n}\n"
        #expect(Self.faults(source.replacing("BODY", with: "then()")) == [])
        #expect(
            Self.faults(source.replacing("BODY", with: "if ok { then() }"))
                == [.fetchPathWithoutCompletion])
    }

    @Test("a function whose result is asked for may say that it took nothing")
    func results() {
        let helper =
            "func take(_ done: @escaping (R) -> Void) -> Bool {\n"
            + "guard isOurs else { return false }\nload(done)\nreturn true\n}\n"
        for call in [
            "let isTaken = take(done)\nif !isTaken { done(.noData) }",
            "guard !take(done) else { return }\ndone(.noData)",
        ] {
            #expect(Self.faults(Self.fetch(call) + helper) == [])
        }
        #expect(Self.faults(Self.fetch("_ = take(done)") + helper) == [.fetchPathWithoutCompletion])
    }

    @Test("an object whose type is not known is of no type with a similar name")
    func similarNames() throws {
        let files = [
            "A.swift": Self.fetch("container.resolve().engine.fetch(done)"),
            "B.swift": "class SoundEngine {\nfunc fetch(_ done: (R) -> Void) { }\n}\n",
        ]
        #expect(try Self.faults(files) == [])
        let named = files.mapValues { $0.replacing("SoundEngine", with: "Engine") }
        #expect(try Self.faults(named) == ["B.swift:2 fetchPathWithoutCompletion"])
    }

    @Test("conditions about two different values do not exclude each other")
    func differentValues() {
        let source = Self.fetch(
            "if error != nil { done(.failed) } else if data == nil { done(.noData) }")
        #expect(Self.faults(source) == [.fetchPathWithoutCompletion])
        #expect(Self.faults(source.replacing("data ==", with: "error ==")) == [])
    }

    @Test(
        "functions that all hand on to each other are each followed once", .timeLimit(.minutes(10)))
    func everyoneToEveryone() {
        let names = (0..<60).map { "g\($0)" }
        let cases = names.map { "case \"\($0)\": self.\($0)(done)" }.joined(separator: "\n")
        let body = "switch kind {\n\(cases)\ndefault: done(.noData)\n}"
        let helpers = names.map { "func \($0)(_ done: @escaping (R) -> Void) {\n\(body)\n}\n" }
        #expect(Self.faults(Self.fetch(body) + helpers.joined()) == [])
    }

    @Test(
        "functions of many files that all hand on to each other are each followed once",
        .timeLimit(.minutes(10)))
    func everyFileToEveryFile() throws {
        let names = (0..<60).map { "g\($0)" }
        let cases = names.map { "case \"\($0)\": self.\($0)(done)" }.joined(separator: "\n")
        let body = "switch kind {\n\(cases)\ndefault: done(.noData)\n}"
        var files = ["A.swift": Self.fetch(body)]
        for (index, name) in names.enumerated() {
            let function = "func \(name)(_ done: @escaping (R) -> Void) {\n\(body)\n}\n"
            files["F\(index / 3).swift", default: ""] += "extension AppDelegate {\n\(function)}\n"
        }
        #expect(try Self.faults(files) == [])
    }

    private static let silentSync = "func sync(then: @escaping (R) -> Void) { }\n"

    @Test("the only conformer of a protocol that is seen need not be the one that is used")
    func conformers() throws {
        func faults(
            _ variable: String, _ others: String = "", _ call: String = "service.sync(then: done)"
        ) throws -> [String] {
            try Self.faults([
                "A.swift": Self.fetch(call).replacing(
                    "class AppDelegate {", with: "class AppDelegate {\n\(variable)\n"),
                "Local.swift":
                    "class LocalSync: SyncService {\n\(Self.silentSync)}\n",
                "Others.swift": others,
            ])
        }
        let found = ["Local.swift:2 fetchPathWithoutCompletion"]
        let requirement = "protocol SyncService {\nfunc sync(then: @escaping (R) -> Void)\n}\n"
        for variable in [
            "let service: SyncService", "let service: any SyncService", "var service: SyncService?",
            "let service = Services.make()", "let service = Builder().build()",
        ] {
            #expect(try faults(variable) == [])
            #expect(try faults(variable, requirement) == [])
        }
        // The source says which one it is.
        for variable in [
            "let service: SyncService = LocalSync()", "let service = LocalSync()",
            "let service: any SyncService = LocalSync.shared", "let service: LocalSync",
        ] {
            #expect(try faults(variable, requirement) == found)
        }
        // The default of a protocol is for conformers without one.
        let standard = "extension SyncService {\n\(Self.silentSync)}\n"
        #expect(try faults("let service: SyncService", requirement + standard) == [])
    }

    @Test("what a factory makes is not of the type of a function in the same file")
    func factories() {
        let helper = "class Local: Service {\n\(Self.silentSync)}\n"
        #expect(Self.faults(Self.fetch("Factory.make().sync(then: done)") + helper) == [])
        #expect(Self.faults(Self.fetch("services[0].sync(then: done)") + helper) == [])
        #expect(
            Self.faults(Self.fetch("Local().sync(then: done)") + helper)
                == [.fetchPathWithoutCompletion])
    }

    @Test("the conformer of a protocol that may report no call need not be the one that is used")
    func reporters() {
        func source(_ variable: String) -> String {
            "class Delegate {\n\(variable)\nfunc pushRegistry(_ r: PKPushRegistry, "
                + "didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType) {\n"
                + "calls.take(payload.dictionaryPayload)\n}\n}\n"
                + "class Recorder: CallTaking {\nfunc take(_ data: [AnyHashable: Any]) {\n"
                + "guard data[1] != nil else { return }\n"
                + "provider.reportNewIncomingCall(with: id, update: u) { _ in }\n}\n}\n"
        }
        #expect(Self.faults(source("let calls: CallTaking")) == [])
        #expect(Self.faults(source("let calls = makeCalls()")) == [])
        #expect(Self.faults(source("let calls: Recorder")) == [.voipPathWithoutReport])
    }

    @Test("an argument behind a block of Objective-C has its own label")
    func labelsBehindBlocks() throws {
        let caller =
            "@implementation AppDelegate\n- (void)application:(UIApplication *)a "
            + "performFetchWithCompletionHandler:(void (^)(UIBackgroundFetchResult))done {\n"
            + "[[Sync sharedInstance] sync:NO then:^(NSError *error) {\nlog(error);\n} "
            + "done:^(UIBackgroundFetchResult result) {\ndone(result);\n}];\n}\n@end\n"
        let worker =
            "@implementation Sync\n- (void)sync:(BOOL)all then:(void (^)(NSError *))then {\n"
            + "[self sync:all then:then done:nil];\n}\n- (void)sync:(BOOL)all then:(void (^)"
            + "(NSError *))then done:(void (^)(UIBackgroundFetchResult))end {\n"
            + "if (self.isBusy) { return; }\nend(0);\n}\n@end\n"
        let broken = ["a.m": caller, "b.m": worker]
        #expect(try Self.faults(broken) == ["b.m:6 fetchPathWithoutCompletion"])
        let whole = worker.replacing("{ return; }", with: "{ end(1); return; }")
        #expect(try Self.faults(["a.m": caller, "b.m": whole]) == [])
    }

    @Test("a function of another file gets a task for which the next one is requested")
    func nextTask() throws {
        func faults(_ closure: String) throws -> [String] {
            try Self.faults([
                "A.swift": "class A {\nlet w = Worker()\nfunc begin() {\n"
                    + "s.register(forTaskWithIdentifier: \"a\", using: nil) { [weak self] t in\n"
                    + "t.expirationHandler = { x.cancel() }\n\(closure)\n}\n}\n}",
                "B.swift": "class Worker {\nfunc handle(_ task: BGAppRefreshTask) {\n"
                    + "load { task.setTaskCompleted(success: $0) }\n}\n}",
            ])
        }
        let hand = "self?.w.handle(t as! BGAppRefreshTask)"
        let fault = "B.swift:2 refreshWithoutNext"
        #expect(try !faults("self?.schedule()\n" + hand).contains(fault))
        #expect(try faults("self?.note()\n" + hand).contains(fault))
    }
}
