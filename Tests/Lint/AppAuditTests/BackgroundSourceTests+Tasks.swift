// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Functions that take a task: the handler that ends it, and those that help.
extension BackgroundSourceTests {
    private static let end = "task.setTaskCompleted(success: true)"
    private static let expiration = "task.expirationHandler = { work.cancel() }\n"

    private static func launch(_ body: String) -> String {
        "func begin() { s.register(forTaskWithIdentifier: \"a\", using: nil) { task in\n"
            + "guard let job = task as? BGContinuedProcessingTask else {\n\(end)\nreturn }\n"
            + "\(body) } }\n"
    }

    @Test("a function that only shows the progress of a task does not have to end it")
    func progress() {
        let handler =
            "func handle(_ task: BGContinuedProcessingTask) {\n\(Self.expiration)"
            + "queue.async {\nself.show(1, task: task)\n\(Self.end)\n} }\n"
        let show =
            "func show(_ units: Int, task: BGContinuedProcessingTask) {\n"
            + "guard units > 0 else { return }\nupdate(units, task: task)\n}\n"
            + "func update(_ units: Int, task: BGContinuedProcessingTask) {\n"
            + "task.updateTitle(\"a\", subtitle: \"b\")\n}\n"
        #expect(Self.faults(Self.launch("handle(job)") + handler + show) == [])
        // In a file of its own too.
        #expect(Self.faults(show) == [])
    }

    @Test(
        "a function that gets the task of a launch has to end it",
        arguments: [
            launch("handle(job)"), launch("if ready { self.handle(job) }"),
            "func begin() { s.register(forTaskWithIdentifier: \"a\", using: nil, "
                + "launchHandler: handle) }\n",
            launch("take(job)")
                + "func take(_ task: BGContinuedProcessingTask) {\nlog(1)\nhandle(task) }\n",
            "func begin() { tasks.add(\"a\") { task in self.handle(task) } }\n", "",
        ])
    func handlers(caller: String) {
        let handler = "func handle(_ task: BGContinuedProcessingTask) {\nwork.start()\n}\n"
        #expect(Self.faults(caller + handler).contains(.taskPathWithoutEnd))
    }

    @Test("a function that ends its task on one path has to end it on each")
    func finish() {
        let source =
            "func finish(_ units: Int, task: BGProcessingTask) {\n"
            + "guard units > 0 else { return }\n\(Self.end)\n}\n"
        #expect(Self.faults(source) == [.taskPathWithoutEnd])
    }

    @Test("a processing task may expire though its work is done in one go")
    func expirationOfProcessing() {
        func faults(_ body: String, _ request: String = "BGProcessingTaskRequest") -> Set<Fault> {
            Self.faults(
                "func f(task: BGTask) {\n\(body)\n\(Self.end)\n}\n"
                    + "func ask() { let r = \(request)(identifier: \"a\") }")
        }
        let work = "load()\ncontext.fetch(NSFetchRequest(entityName: n))\nstore.save()"
        #expect(faults(work) == [.taskWithoutExpiration])
        let own = "update()\n\(Self.end)\n}\nfunc update() {\n\(work)"
        #expect(faults(own).contains(.taskWithoutExpiration))
        // What a refresh task does, and what a call or two do.
        let refresh = faults("\(work)\nlet t = task as? BGAppRefreshTask")
        #expect(!refresh.contains(.taskWithoutExpiration))
        #expect(faults("cache.removeAll()\nWidgetCenter.shared.reloadAllTimelines()") == [])
        #expect(faults(Self.expiration + work) == [])
        #expect(faults("print(1)\nscheduleNext()") == [])
        #expect(faults(work + "\nschedule()", "BGAppRefreshTaskRequest") == [])
    }

    @Test("a task that a closure ends through a function of its handler may expire")
    func expirationOfLocalFunction() {
        let local =
            "func handle(_ task: BGAppRefreshTask) {\nscheduleNext()\n"
            + "func finish() { \(Self.end) }\n"
        #expect(
            Self.faults(local + "load { finish() }\n}").contains(.taskWithoutExpiration))
        #expect(!Self.faults(local + "clean()\nfinish()\n}").contains(.taskWithoutExpiration))
        #expect(
            !Self.faults(local + Self.expiration + "load { finish() }\n}")
                .contains(.taskWithoutExpiration))
    }

    @Test("the handler has set the expiration handler of what gets its task among others")
    func expirationOfHandler() {
        let source =
            "func handle(_ task: BGProcessingTask) {\n\(Self.expiration)"
            + "queue.async { self.finish(task, failed: false) }\n}\n"
            + "func finish(_ task: BGProcessingTask, failed: Bool) {\nsave { \(Self.end) }\n}\n"
        #expect(Self.faults(source) == [])
        #expect(
            Self.faults(source.replacing(Self.expiration, with: "")) == [.taskWithoutExpiration])
    }

    @Test(
        "a closure that a latch lets through once ends the task where it does",
        arguments: [
            "let end = {\nguard latch.claim() else { return }\nEND\n}\n",
            "let end = {\nif once.first() { END }\n}\n",
            "let end = {\nguard !done.exchange(true, ordering: .relaxed) else { return }\nEND\n}\n",
            "func end() {\nguard self.completion.claim() else { return }\nEND\n}\n",
        ])
    func latch(closure: String) {
        let source =
            "func handle(task: BGProcessingTask) {\n\(Self.expiration)"
            + closure.replacing("END", with: Self.end)
            + "queue.asyncAfter(deadline: .now() + 9) { end() }\nstart { end() }\n}"
        #expect(Self.faults(source) == [])
        let other = source.replacing("latch.claim()", with: "work.isReady()")
        #expect(
            Self.faults(other)
                == (closure.contains("latch.claim()") ? [.taskPathWithoutEnd] : []))
    }

    @Test(
        "an error that a task throws away ends nothing",
        arguments: [
            "try await sync()\nEND", "let x = try load()\nEND",
            "if try await sync() { log(1) }\nEND",
        ])
    func thrownAway(body: String) {
        func faults(_ body: String, _ more: String = "") -> Set<Fault> {
            Self.faults(
                "func handle(task: BGProcessingTask) {\n\(Self.expiration)let job = Task {\n"
                    + body.replacing("END", with: Self.end) + "\n}\n\(more)\n}")
        }
        #expect(faults(body) == [.taskPathWithoutEnd])
        #expect(faults("do {\n\(body)\n} catch { END }") == [])
        #expect(faults("defer { END }\n" + body.replacing("END", with: "")) == [])
        #expect(faults(body, "wait { await job.result }") == [])
        #expect(faults(body.replacing("try ", with: "try? ")) == [])
        #expect(faults("try await Task.sleep(for: .seconds(1))\nEND") == [])
    }

    @Test("an error that a function throws leaves its time in the background as it is")
    func thrownFromFunction() {
        let source =
            "func save() throws {\nlet id = UIApplication.shared.beginBackgroundTask { stop() }\n"
            + "try write()\nUIApplication.shared.endBackgroundTask(id)\n}"
        #expect(Self.faults(source) == [.assertionPathWithoutEnd])
        #expect(
            Self.faults(
                source.replacing("try write()", with: "do { try write() } catch { log(error) }"))
                == [])
    }

    @Test("time that is only given back when it is up always runs out")
    func wholeTime() {
        let source =
            "func keepAlive() {\nvar id = UIBackgroundTaskIdentifier.invalid\n"
            + "id = UIApplication.shared.beginBackgroundTask { "
            + "UIApplication.shared.endBackgroundTask(id) }\nEND}"
        #expect(
            Self.faults(source.replacing("END", with: "player.play()\n"))
                == [.assertionEndedByExpiration])
        let end = "guard player.plays else { return }\nUIApplication.shared.endBackgroundTask(id)\n"
        #expect(Self.faults(source.replacing("END", with: end)) == [.assertionPathWithoutEnd])
    }

    @Test("attributes of a closure are none of its parameters")
    func closureAttributes() {
        func faults(_ attribute: String) -> Set<Fault> {
            Self.faults(
                "class A { func f() { s.register(forTaskWithIdentifier: \"a\", using: nil) { "
                    + "\(attribute)[weak self] task in\nTask { await self?.sync()\n\(Self.end) }\n"
                    + "} } }")
        }
        #expect(faults("") == [.taskWithoutExpiration])
        #expect(faults("@Sendable @MainActor ") == [.taskWithoutExpiration])
    }

    @Test("only a return or a break leads out of an endless loop")
    func endlessLoop() {
        func faults(_ body: String) -> Set<Fault> {
            Self.faults(
                "func handle(task: BGProcessingTask) {\n\(Self.expiration)queue.async {\n"
                    + "while true {\n\(body)\nwait()\n}\n} }")
        }
        #expect(faults("if done { \(Self.end)\nreturn }") == [])
        #expect(
            faults("switch pass {\ncase .more: break\ncase .last: \(Self.end)\nreturn\n}") == [])
        #expect(
            faults("if over { break }\nif done { \(Self.end)\nreturn }") == [.taskPathWithoutEnd])
        #expect(faults("if done { return }\n\(Self.end)") == [.taskPathWithoutEnd])
    }

    @Test("a part that every build for iOS has is a part of the path")
    func builtForIOS() {
        let body = "#if os(iOS)\nguard ready else { return }\n\(Self.end)\n#endif"
        let source = "func handle(task: BGProcessingTask) {\n\(body)\n}"
        #expect(Self.faults(source) == [.taskPathWithoutEnd])
        #expect(Self.faults(source.replacing("os(iOS)", with: "CALLS")) == [])
    }

    @Test("a session that its initializer creates by name needs a delegate too")
    func namedInitializer() {
        func faults(_ arguments: String) -> Set<Fault> {
            Self.faults("func f() {\n\(arguments)\n}")
        }
        let configuration = "let c = URLSessionConfiguration.background(withIdentifier: id)\n"
        #expect(
            faults(configuration + "let s = URLSession.init(configuration: c)")
                == [.sessionWithoutDelegate])
        #expect(
            faults(
                "let s = URLSession.init(configuration: .background(withIdentifier: id))")
                == [.sessionWithoutDelegate])
        #expect(
            faults(
                configuration
                    + "let s = URLSession.init(configuration: c, delegate: self, "
                    + "delegateQueue: nil)") == [])
    }

    @Test("what runs when the app returns may give time in the background back")
    func timeUntilReturn() {
        let source =
            "func leave() {\nself.id = UIApplication.shared.beginBackgroundTask { self.stop() }\n"
            + "guard limit < 9 else { return }\nafter(limit) { self.stop() }\n}\n"
            + "func stop() { UIApplication.shared.endBackgroundTask(id) }\n"
        #expect(Self.faults(source) == [.assertionPathWithoutEnd])
        #expect(Self.faults(source + "func enter() { stop() }") == [])
        let atOnce = source.replacing("after(limit) { self.stop() }", with: "stop()")
        #expect(Self.faults(atOnce + "func enter() { stop() }") == [.assertionPathWithoutEnd])
    }

    @Test("a session of another type with the same name is another one")
    func sessionsOfTwoTypes() {
        let made =
            "URLSession(configuration: .background(withIdentifier: \"a\"), delegate: d, "
            + "delegateQueue: nil)"
        let use = "func f() { session.downloadTask(with: url) { _, _, _ in }.resume() } }\n"
        let two = "class A { let session: URLSession\n\(use)class B { let session = \(made) }"
        #expect(Self.faults(two) == [])
        let one = "class A { let session = \(made) }\nextension A { \(use)"
        #expect(Self.faults(one) == [.closureInBackgroundSession])
    }
}
