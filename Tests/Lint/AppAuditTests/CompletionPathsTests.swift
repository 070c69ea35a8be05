// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

@Suite("Completion paths")
struct CompletionPathsTests {
    /// The lines of the body, from 1, on which paths end that call no completion handler; 0 for
    /// the function as a whole.
    private static func gaps(_ body: String) -> [Int] {
        let source =
            "func application(_ a: A, didReceiveRemoteNotification u: U, "
            + "fetchCompletionHandler done: @escaping (R) -> Void) {\n\(body)\n}"
        let text = SourceText(Array(source.utf8), path: "a.swift")
        return SourceReader.observations(in: text, SourceConstants())
            .filter { $0.subject == .pathWithoutCompletion }.map { $0.place.line - 1 }
    }

    @Test(
        "a path on which the handler is not called is found",
        arguments: [
            ("", [0]), ("sync()", [0]), ("if a { done(.newData) }", [0]),
            ("guard let x else { return }\ndone(.newData)", [1]),
            ("if a {\nreturn\n}\ndone(.newData)", [2]),
            ("if a { done(.newData) } else if b { done(.noData) }", [0]),
            ("switch a {\ncase .b: done(.newData)\ndefault: break\n}", [0]),
            ("switch a {\ncase .b: return\ndefault: done(.noData)\n}", [2]),
            ("do {\ntry f()\ndone(.newData)\n} catch {\nlog(error)\n}", [0]),
            ("sync {\nif $0 { done(.newData) }\n}", [1]),
            ("sync { r in\nguard r else { return }\ndone(.newData)\n}", [2]),
            ("for x in y { done(.newData) }", [0]),
            ("while a {\nreturn\n}\ndone(.noData)", [2]),
            ("sync {\nif $0 { done(.a) }\n}\nif b { done(.c) }", [1]),
            ("if let u = URL(string: \"https://\\(a)\") { load(u, done) }", [0]),
            ("load().then { done(.newData) }\n.catch { log($0) }", [2]),
            ("load().then { done(.newData) }.cauterize()", [1]),
        ])
    func gap(body: String, lines: [Int]) { #expect(Self.gaps(body) == lines) }

    @Test("a transfer without an error has its data")
    func transfers() {
        func isOpen(_ body: String, of task: String = "dataTask") -> Bool {
            !Self.gaps("s.\(task)(with: u) { data, response, error in\n\(body)\n}.resume()").isEmpty
        }
        let done = "done(.newData)"
        for end in [
            "if let error { log(error)\n\(done)\nreturn\n}",
            "if let failure = error {\n\(done)\nreturn\n}",
            "if error != nil { done(.failed); return }",
            "guard error == nil else { done(.failed); return }",
        ] {
            #expect(!isOpen("\(end)\nif let data = data { \(done) }"), "\(end)")
            #expect(!isOpen("\(end)\nguard let data else { return }\n\(done)"))
            #expect(!isOpen("\(end)\nif let data { \(done) }", of: "downloadTask"))
            #expect(isOpen("\(end)\nif let data, isFine { \(done) }"))
            #expect(isOpen("\(end)\nif let body = response { \(done) }"))
            #expect(isOpen("\(end)\nif let data = parse(data) { \(done) }"))
            #expect(isOpen("\(end)\nif let data { \(done) }", of: "load"))
        }
        #expect(isOpen("if let data { \(done) }"))
        #expect(isOpen("if let error { log(error)\n\(done) }\nif let data { \(done) }"))
        #expect(isOpen("if let error, isBad { \(done)\nreturn\n}\nif let data { \(done) }"))
        for head in [
            "if isBad && error != nil {", "if isCancelled { log() } else if let error {",
            "do { try prepare() } catch let error {", "if let e = operation.error {",
            "if code == error {", "while error != nil {", "if error == nil {",
        ] {
            let end = "\(head)\n\(done)\nreturn\n}"
            #expect(isOpen("\(end)\nif let data { \(done) }"), "\(end)")
        }
        let end = "if error != nil { done(.failed); return }"
        for other in [
            "let response = response as! HTTPURLResponse", "if (error != nil) { log() }",
            "do { try save() } catch let error { log(error) }",
            "if let http = response as? HTTPURLResponse, let data = data { log(data) }",
        ] {
            #expect(!isOpen("\(end)\n\(other)\nif let data { \(done) }"), "\(other)")
        }
        #expect(!isOpen("if (error != nil) { done(.failed); return }\nif let data { \(done) }"))
        let unnamed = "{ data, _, error in\nlet _ = Log()\n\(end)\nif let data { \(done) }\n}"
        #expect(Self.gaps("s.dataTask(with: u) \(unnamed)").isEmpty)
        #expect(isOpen("\(end)\nlet data = parse(data)\nif let data { \(done) }"))
        #expect(!isOpen("\(end)\nif let data = data { log(data) }\nif let data { \(done) }"))
        #expect(isOpen("if let error { if bad { return }\n\(done) }\nif let data { \(done) }"))
    }

    @Test(
        "many errors and many conditions in one closure take no longer each",
        .timeLimit(.minutes(1)))
    func manyConditions() {
        let lines = String(repeating: "error;\nif let data { log() }\n", count: 8_000)
        let body = "s.dataTask(with: u) { data, response, error in\n\(lines)done(.newData)\n}"
        #expect(Self.gaps(body) == [])
    }

    @Test("the older fetch in the background completes on each path too")
    func fetch() {
        func gaps(_ body: String, _ result: String = "") -> [Int] {
            let source =
                "func application(_ a: A, performFetchWithCompletionHandler done: @escaping (R) -> "
                + "Void)\(result) {\n\(body)\n}"
            let text = SourceText(Array(source.utf8), path: "a.swift")
            return SourceReader.observations(in: text, SourceConstants())
                .filter { $0.subject == .fault(.fetchPathWithoutCompletion) }
                .map { $0.place.line - 1 }
        }
        #expect(gaps("if let view {\nview.load()\ndone(.newData)\n}") == [0])
        #expect(gaps("if let view { view.load() }\ndone(.newData)") == [])
        // A plugin answers whether the fetch was its own.
        #expect(gaps("if !mine { return false }\nfetch(done)\nreturn true", " -> Bool") == [])
    }

    @Test("a function of the same file that gets the handler is followed")
    func helper() {
        let helper =
            "}\nfunc fetch(_ done: @escaping (UIBackgroundFetchResult) -> Void) {\n"
            + "if a { done(.noData) }"
        #expect(Self.gaps("fetch(done)\n" + helper) == [3])
        #expect(Self.gaps("fetch(done)\n" + helper + " else { done(.failed) }") == [])
    }

    @Test(
        "a handler that is called, or handed on, on every path is let be",
        arguments: [
            "done(.newData)", "sync(completion: done)", "defer { done(.newData) }\nif a { return }",
            "if a { done(.newData) } else { done(.noData) }", "return done(.noData)",
            "if a {\ndone(.noData)\nreturn\n}\nsync { done(.newData) }",
            "guard let x else {\ndone(.failed)\nreturn\n}\nTask {\nawait sync()\ndone(.newData)\n}",
            "switch a {\ncase .b, .c:\ndone(.newData)\ncase let .d(x): sync(x, done)\n}",
            "do { try f(); done(.newData) } catch { done(.failed) }",
            "sync { r in\nswitch r {\ncase .success: done(.a)\ncase .failure: done(.b)\n}\n}",
            "let x = list.map { return $0 }\ndone(.newData)",
            "repeat { done(.newData) } while a", "fatalError()",
            "x.forEach { if $0 == last { q.add { done(.newData) } } }",
            "func finish() { done(.newData) }\nsync(finish)",
            "if a, let b = f(c) { done(.newData) } else { done(.noData) }",
            "guard a else { return done(.noData) }\nsync { done(.newData) }",
            "var over = false\nlet once = { if !over { over = true; done(.noData) } }\nsync(once)",
            "if let u = URL(string: \"https://a.example\") { load(u, done) }",
            "guard let u = URL(string: \"https://a.example\") else { return }\nload(u, done)",
            "let once = {\nguard !over else { return }\nover = true\ndone(.noData)\n}\nsync(once)",
            "sync { e in\nif e {\ndone(.failed)\nreturn\n}\n}\ndone(.newData)",
            "if a {\nsync { if $0 { done(.failed) } }\ndone(.newData)\n} else { done(.noData) }",
            "load().then { done(.newData) }.catch { _ in done(.failed) }",
            "load().then { use($0) }.catch { log($0) }.finally { done(.newData) }",
            "load().then { f($0) }.recover { g($0) }.then { done(.newData) }",
        ])
    func whole(body: String) { #expect(Self.gaps(body) == []) }

    @Test("a flag that nothing sets is not set")
    func unsetFlags() {
        let check = "load {\nif !expired { done(.newData) }\n}"
        #expect(Self.gaps("var expired = false\n" + check) == [])
        #expect(Self.gaps("var expired = false\nlog(!expired)\n" + check) == [])
        for other in [
            "wait { expired = true }\n", "set(&expired)\n", "expired.toggle()\n",
            "var expired = false\n", "(expired, x) = check()\n", "expired ^= true\n",
        ] {
            #expect(Self.gaps("var expired = false\n" + other + check) != [], "\(other)")
        }
        for whole in [
            "var expired = true\n" + check, check, "var expired = false || isLate\n" + check,
            "other { var expired = false\nlog(!expired) }\n" + check,
            "var expired = false\n" + check.replacing("load {", with: "load { expired in"),
            "var expired = false\n"
                + check.replacing("load {", with: "load {\nlet (_, expired) = x"),
            "var isDue = false\nload {\nif isDue { done(.newData) }\n}",
        ] {
            #expect(Self.gaps(whole) != [], "\(whole)")
        }
    }

    @Test("of two opposite conditions of one block one is met")
    func opposites() {
        let other = "if state == .active {\ndone(.newData)\n}"
        #expect(Self.gaps("if state != .active { done(.noData) }\nlog(state)\n" + other) == [])
        #expect(Self.gaps("if isBusy { done(.noData) }\nif !isBusy { done(.newData) }") == [])
        let chain = "if state != .active { done(.noData) } else if state == .active {\n"
        #expect(Self.gaps(chain + "done(.newData)\n}") == [])
        #expect(Self.gaps(chain.replacing("!= .active", with: "!= .b") + "done(.a)\n}") == [0])
        // They have to be about the same, and in the same block.
        #expect(Self.gaps("if state != .inactive { done(.noData) }\n" + other) == [0])
        #expect(Self.gaps("if state == .active { done(.noData) }\n" + other) == [0])
        #expect(Self.gaps("if a {\nif state != .active { done(.noData) }\n}\n" + other) == [0])
        #expect(Self.gaps("if isNew() { done(.noData) }\nif !isNew() { done(.newData) }") == [0])
        // What they ask for may change between them.
        let first = "if state != .active {\nstate = .active\ndone(.noData)\n}\n"
        #expect(Self.gaps(first + other) == [])
        #expect(Self.gaps(first + "state = next()\n" + other) == [0])
        #expect(Self.gaps(first + "model.state = next()\n" + other) == [])
        #expect(
            Self.gaps("if isBusy { done(.noData) }\nisBusy.toggle()\nif !isBusy { done(.b) }")
                == [0])
    }

    @Test("the last of some work that is counted completes, unless there is none")
    func countedWork() {
        let loop =
            "for item in list {\nload(item) {\ncount += 1\n"
            + "if count == all { done(.newData) }\n}\n}"
        #expect(Self.gaps("if list.isEmpty { return done(.noData) }\n" + loop) == [])
        #expect(Self.gaps("if all == 0 {\ndone(.noData)\nreturn\n}\n" + loop) == [])
        #expect(Self.gaps("guard all > 0 else { return done(.noData) }\n" + loop) == [])
        #expect(Self.gaps(loop) == [0])
        #expect(Self.gaps("if all == 0 { log(0) }\n" + loop) == [0])
        // These complete if there is something.
        #expect(Self.gaps("if all > 0 { return done(.noData) }\n" + loop) == [0])
        #expect(Self.gaps("if !list.items.isEmpty { return done(.noData) }\n" + loop) == [0])
        #expect(Self.gaps("guard list.isEmpty else { return done(.noData) }\n" + loop) == [0])
        #expect(Self.gaps("guard !list.isEmpty else { return done(.noData) }\n" + loop) == [])
    }

    @Test("a flag of an earlier push excuses no path of the handler of the next one")
    func earlierFlags() {
        #expect(
            Self.gaps("guard !isBusy else { return }\nisBusy = true\nload { done(.newData) }")
                == [1])
        #expect(Self.gaps("if !isBusy {\nisBusy = true\nload { done(.newData) }\n}") == [0])
        // A variable of the handler is one of this push.
        #expect(
            Self.gaps(
                "var isOver = false\nfor x in y { if !isOver { isOver = true } }\ndone(.newData)")
                == [])
        // So is one that the handler sets before, or of an object that it makes.
        let once = "if !called {\ncalled = true\ndone(.newData)\n}"
        #expect(Self.gaps("called = false\n" + once) == [])
        #expect(Self.gaps("var (count, called) = (0, false)\n" + once) == [])
        let ofObject = once.replacing("called", with: "state.called")
        #expect(Self.gaps("let state = State()\n" + ofObject) == [])
        #expect(Self.gaps(once) == [0])
        #expect(Self.gaps(once + "\ncalled = false") == [0])
    }

    @Test("a function or a closure may set the flag that is asked for before its call")
    func flagsOfHelpers() {
        let set = "{\ncalled = true\ndone(.newData)\n}\n"
        let once =
            "load { if !called { finish() } }\n"
            + "wait {\nguard !called else { return }\nfinish()\n}"
        #expect(Self.gaps("var called = false\nfunc finish() \(set)\(once)") == [])
        #expect(Self.gaps("var called = false\nlet finish = \(set)\(once)") == [])
        #expect(
            Self.gaps(
                "var called = false\nlet finish = { done(.newData) }\nwait { called = true }\n"
                    + once) == [4])
        // Its second call has nothing to do.
        let helper = "let finish = {\nif called { return }\ncalled = true\ndone(.newData)\n}\n"
        #expect(Self.gaps("var called = false\n\(helper)load { finish() }") == [])
        let locked = helper.replacing("{ return }", with: "{\nlock.unlock()\nreturn\n}")
        #expect(Self.gaps("var called = false\n\(locked)load { finish() }") == [])
        let other = helper.replacing("if called", with: "if called == false")
        #expect(Self.gaps("var called = false\n\(other)load { finish() }") == [3])
        let unset = helper.replacing("called = true\n", with: "")
        #expect(Self.gaps("var called = false\n\(unset)load { finish() }") == [3])
        #expect(Self.gaps("\(helper)load { finish() }") == [2], "a property is one of all pushes")
        // One of the file, for its flag.
        let ask = "isOver = false\nload { if !self.isOver { self.end(done) } }\n}\n"
        let end = "func end(_ done: D) {\nisOver = true\ndone(.newData)\n"
        #expect(Self.gaps(ask + end) == [])
        #expect(Self.gaps(ask + end.replacing("isOver = true\n", with: "")) == [2])
    }

    @Test("the last part of some work completes, when the flags of all parts are set")
    func lastParts() {
        let parts = "load {\nisLoaded = true\nfinish()\n}\nsave {\nisSaved = true\nfinish()\n}"
        let both = "let finish = {\nif (isLoaded && isSaved) { done(.newData) }\n}\n"
        #expect(Self.gaps(both + parts) == [])
        #expect(Self.gaps(both + "load {\nisLoaded = true\nfinish()\n}\nsave()") == [1])
        #expect(Self.gaps("let finish = {\nif a && b { done(.newData) }\n}\n" + parts) == [1])
    }
}
