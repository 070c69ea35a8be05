// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("rouse simulate")
struct SimulateTests {
    private static let scenarios = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appending(path: "Deploy/scenarios")

    private static let small = """
        name: small
        seed: 5
        days: 2
        devices:
          - { profile: commuter, count: 20, model: drawn }
          - { profile: night-owl, count: 20, model: drawn }
        streams:
          - { name: talk, pattern: bursts, per-day: 20, size: 4 }
        """

    private func policies(_ result: Rouse.Finished) throws -> [String: [String: Any]] {
        let scenarios = try #require(try result.json()["scenarios"] as? [[String: Any]])
        let policies = try #require(scenarios.first?["policies"] as? [[String: Any]])
        var totals: [String: [String: Any]] = [:]
        for policy in policies {
            totals[try #require(policy["name"] as? String)] = policy["total"] as? [String: Any]
        }
        return totals
    }

    // The eighth push is with the device when the scenario ends, as is one of the fourteen.
    @Test("the scenario of WWDC makes 7 launches, of 14 pushes and of 8")
    func wwdc() async throws {
        let path = Self.scenarios.appending(path: "wwdc-14-pushes.yaml").path
        let result = try await Rouse.run(["simulate", path, "--json"])
        #expect(result.status == 0, "\(result.error)")
        let totals = try policies(result)
        #expect(totals["everything"]?["sent"] as? Int == 14)
        #expect(totals["everything"]?["launched"] as? Int == 7)
        #expect(totals["rouse"]?["launched"] as? Int == 7)
        #expect(totals["rouse"]?["sent"] as? Int == 8)
        #expect(totals["rouse"]?["undecided"] as? Int == 1)
        #expect(totals["rouse"]?["wasted"] as? Int == 0)
    }

    @Test(
        "each scenario that comes with Rouse runs, says what it shows, and shows it",
        arguments: [
            "wwdc-14-pushes", "chat-app", "news-morning-burst", "weather-hourly", "iot-alarm",
        ])
    func shipped(name: String) async throws {
        let path = Self.scenarios.appending(path: "\(name).yaml").path
        let devices = name == "wwdc-14-pushes" ? [] : ["--devices", "12"]
        let result = try await Rouse.run(["simulate", path] + devices)
        #expect(result.status == 0, "\(result.error)")
        #expect(result.out.hasPrefix(name))
        #expect(result.out.contains("Verdict"))
        #expect(result.out.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }

    @Test("the same scenario gives the same bytes, on one thread and on many")
    func deterministic() async throws {
        let folder = try TestFolder()
        let path = try folder.write(Self.small, to: "small.yaml")
        let one = try await Rouse.run(
            ["simulate", path, "--json", "--threads", "1", "--trace", folder.path + "/one"])
        let many = try await Rouse.run(
            ["simulate", path, "--json", "--threads", "7", "--trace", folder.path + "/many"])
        #expect(one.status == 0, "\(one.error)")
        #expect(one.out == many.out)
        let left = try Data(contentsOf: URL(filePath: folder.path + "/one"))
        #expect(left == (try Data(contentsOf: URL(filePath: folder.path + "/many"))))
        let other = try await Rouse.run(["simulate", path, "--json", "--seed", "6"])
        #expect(other.out != one.out)
    }

    @Test("a trace is JSON lines that add up to the result")
    func trace() async throws {
        let folder = try TestFolder()
        let path = try folder.write(Self.small, to: "small.yaml")
        let trace = folder.path + "/trace.jsonl"
        let result = try await Rouse.run(["simulate", path, "--json", "--trace", trace])
        let totals = try policies(result)
        var asked: [String: Int] = [:]
        var pushes: [String: Set<String>] = [:]
        for line in try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n") {
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let policy = try #require(object["policy"] as? String)
            asked[policy, default: 0] += 1
            if let push = object["push"] as? Int, let device = object["device"] as? Int {
                pushes[policy, default: []].insert("\(device)/\(push)")
                #expect(object["sent"] is String)
            } else {
                #expect(object["discarded"] is String || object["sent"] is NSNull)
            }
        }
        for (name, total) in totals {
            #expect(asked[name] == total["asked"] as? Int, "\(name)")
            #expect(pushes[name]?.count == total["sent"] as? Int, "\(name)")
        }
    }

    @Test("without a device model nothing is said of launches")
    func withoutModel() async throws {
        let folder = try TestFolder()
        let path = try folder.write(Self.small, to: "small.yaml")
        let result = try await Rouse.run(["simulate", path, "--json", "--no-device-model"])
        let rouse = try #require(try policies(result)["rouse"])
        #expect(rouse["launched"] == nil)
        #expect(rouse["sent"] is Int)
        let text = try await Rouse.run(["simulate", path, "--no-device-model"])
        #expect(text.status == 0)
        #expect(!text.out.contains("launch "))
    }

    @Test(
        "a log whose time is beyond all time is refused with its line",
        arguments: ["9.2e15", "-1", "1e300", #""+292277026596-12-04T15:30:07Z""#])
    func timeBeyondAll(at: String) async throws {
        let folder = try TestFolder()
        _ = try folder.write(#"{"at": 0}"# + "\n{\"at\": \(at)}\n", to: "log.jsonl")
        let path = try folder.write(
            "devices: [{ profile: still }]\n"
                + "streams: [{ name: log, pattern: recorded, log: log.jsonl }]\n", to: "s.yaml")
        let result = try await Rouse.run(["simulate", path])
        #expect(result.status == 65, "\(result.all)")
        #expect(result.error.contains("log.jsonl:2: no line of a log"), "\(result.error)")
    }

    @Test("a recorded log is replayed, its devices in turn")
    func recorded() async throws {
        let folder = try TestFolder()
        try folder.write(
            """
            {"at": "2026-11-20T08:00:00Z", "device": "a"}
            {"at": "2026-11-20T08:00:01.5Z", "device": "a", "more": 1}
            {"at": 1795161600, "device": "b"}

            """, to: "log.jsonl")
        let path = try folder.write(
            """
            devices: [{ profile: still, count: 3, model: exact }]
            streams: [{ name: log, pattern: recorded, log: log.jsonl }]
            """, to: "s.yaml")
        let result = try await Rouse.run(["simulate", path, "--json"])
        #expect(result.status == 0, "\(result.error)")
        #expect(try policies(result)["everything"]?["asked"] as? Int == 5)
    }

    // Logs of one day each, two days apart: side by side they would be another story.
    @Test("two recorded logs keep their distance in time")
    func recordedTwice() async throws {
        let folder = try TestFolder()
        for day in [20, 22] {
            try folder.write(#"{"at": "2026-11-\#(day)T08:00:00Z"}"#, to: "\(day).jsonl")
        }
        let path = try folder.write(
            """
            devices: [{ profile: still }]
            streams:
              - { name: later, pattern: recorded, log: 22.jsonl }
              - { name: sooner, pattern: recorded, log: 20.jsonl }
            baselines: []
            """, to: "s.yaml")
        let trace = folder.path + "/trace"
        let result = try await Rouse.run(["simulate", path, "--trace", trace])
        #expect(result.status == 0, "\(result.error)")
        let asked = try String(contentsOfFile: trace, encoding: .utf8)
            .matches(of: #/"stream":"(\w+)","asked":"2027-01-(\d\d)T08:00/#)
            .map { "\($0.1) \($0.2)" }
        #expect(asked == ["sooner 16", "later 18"])
    }

    @Test(
        "--devices is how many there are, unless that leaves a profile without any",
        arguments: ["chat-app", "news-morning-burst", "weather-hourly", "iot-alarm"])
    func scaling(name: String) async throws {
        let path = Self.scenarios.appending(path: "\(name).yaml").path
        for (asked, given) in [(1, 6), (5, 6), (6, 6), (7, 7), (13, 13)] {
            let result = try await Rouse.run(
                ["simulate", path, "--json", "--no-device-model", "--devices", "\(asked)"])
            let devices = try policies(result)["rouse"]?["devices"] as? Int
            #expect(devices == given, "--devices \(asked)")
        }
    }

    @Test("no output takes the place of an input or of another output, whatever its path")
    func clobbering() async throws {
        let folder = try TestFolder()
        try folder.write(#"{"at": 0}"#, to: "log.jsonl")
        let path = try folder.write(
            "devices: [{ profile: still }]\n"
                + "streams: [{ name: log, pattern: recorded, log: log.jsonl }]\n", to: "s.yaml")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/link", withDestinationPath: path)
        let new = folder.path + "/new"
        for outputs in [
            ["--trace", path], ["--svg", folder.path + "/link"],
            ["--html", folder.path + "/log.jsonl"], ["--svg", new, "--html", new],
        ] {
            let before = try String(contentsOfFile: path, encoding: .utf8)
            let result = try await Rouse.run(["simulate", path] + outputs)
            #expect(result.status == 64, "\(outputs): \(result.all)")
            #expect(result.error.contains("already. Name another."), "\(result.error)")
            #expect(result.out.isEmpty)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == before)
        }
        let log = try String(contentsOfFile: folder.path + "/log.jsonl", encoding: .utf8)
        #expect(log == #"{"at": 0}"#)
        // What is no regular file takes any number of outputs.
        let null = try await Rouse.run(
            ["simulate", path, "--svg", "/dev/null", "--html", "/dev/null"])
        #expect(null.status == 0, "\(null.error)")
    }

    @Test("an output that cannot be written ends the command before the run")
    func unwritable() async throws {
        let folder = try TestFolder()
        let path = try folder.write(
            Self.small.replacing("count: 20", with: "count: 4000000"), to: "huge.yaml")
        for option in ["--trace", "--svg", "--html"] {
            let result = try await Rouse.run(["simulate", path, option, "/nonexistent/x"])
            #expect(result.status == 66, "\(result.all)")
            #expect(result.error.contains("\(option) (/nonexistent/x) cannot be written"))
        }
    }

    @Test("control characters in names reach neither a terminal nor XML")
    func controlCharacters() async throws {
        let folder = try TestFolder()
        let path = try folder.write(
            #"name: "a\e[31m\x01""# + "\n" + #"about: "b\ec\x7f""# + "\n"
                + Self.small.replacing("name: small\n", with: "")
                .replacing("profile: commuter", with: #"name: "d\e", profile: commuter"#),
            to: "s.yaml")
        let (svg, html) = (folder.path + "/a.svg", folder.path + "/a.html")
        let result = try await Rouse.run(["simulate", path, "--svg", svg, "--html", html])
        #expect(result.status == 0, "\(result.error)")
        #expect(result.out.contains("a\u{fffd}[31m\u{fffd}"))
        for text in [
            result.out, try String(contentsOfFile: svg, encoding: .utf8),
            try String(contentsOfFile: html, encoding: .utf8),
        ] {
            let isClean = text.unicodeScalars.allSatisfy {
                $0 == "\n" || ($0.value >= 0x20 && !(0x7f...0x9f).contains($0.value))
            }
            #expect(isClean)
        }
    }

    @Test("the verdict names the profile on which the data is oldest")
    func verdict() async throws {
        let folder = try TestFolder()
        let path = try folder.write(Self.small, to: "small.yaml")
        let result = try await Rouse.run(["simulate", path])
        let words = result.out.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let worst = #/times as old \(at worst [0-9.]+ times, on (commuter|night-owl) devices\)/#
        #expect(words.contains(worst), "\(result.out)")
    }

    // In the example of WWDC six of fourteen pushes are wasted in the moment in which a launch is.
    @Test("in the picture no launch hides what was wasted")
    func wasteOnTop() async throws {
        let folder = try TestFolder()
        let path = Self.scenarios.appending(path: "wwdc-14-pushes.yaml").path
        let svg = folder.path + "/a.svg"
        let result = try await Rouse.run(["simulate", path, "--svg", svg])
        #expect(result.status == 0, "\(result.error)")
        let picture = try String(contentsOfFile: svg, encoding: .utf8)
        let timeline = try #require(picture.components(separatedBy: "Timeline:").last)
        let row = try #require(timeline.components(separatedBy: "14 pushes</text>").last)
            .components(separatedBy: " pushes</text>")[0]
        let marks = row.matches(of: #/class="(hold|launched|waste)"/#).map { String($0.1) }
        #expect(
            marks == marks.filter { $0 == "hold" } + marks.filter { $0 == "launched" }
                + marks.filter { $0 == "waste" })
        #expect(marks.count { $0 == "waste" } == 6)
        #expect(marks.count { $0 == "launched" } == 7)
    }

    @Test("pictures are well-formed XML, the page holds one for each scenario")
    func pictures() async throws {
        let folder = try TestFolder()
        let path = try folder.write(Self.small, to: "small.yaml")
        let svg = folder.path + "/a.svg"
        let html = folder.path + "/a.html"
        let one = try await Rouse.run(["simulate", path, "--svg", svg])
        #expect(one.status == 0, "\(one.error)")
        let two = try await Rouse.run(["simulate", path, path, "--html", html])
        #expect(two.status == 0, "\(two.error)")
        let picture = try String(contentsOfFile: svg, encoding: .utf8)
        #expect(Self.isBalanced(picture))
        for words in ["rouse", "everything", "local time", "launched", "pushes", "10 min"] {
            #expect(picture.contains(words), "\(words)")
        }
        let page = try String(contentsOfFile: html, encoding: .utf8)
        #expect(page.components(separatedBy: "<svg").count == 3)
    }

    /// Whether every element is closed, in the order in which they were opened.
    private static func isBalanced(_ xml: String) -> Bool {
        var open: [Substring] = []
        for tag in xml.matches(of: #/<(/?)([a-z]+)[^<>]*?(/?)>/#) {
            if tag.1 == "/" {
                guard open.popLast() == tag.2 else { return false }
            } else if tag.3 != "/" {
                open.append(tag.2)
            }
        }
        return open.isEmpty
    }

    @Test(
        "a scenario that cannot be read ends with 65 and names line, key, problem and fix",
        arguments: [
            ("devicez: []", "s.yaml:1: devicez is no key that Rouse knows. Did you mean devices?"),
            ("devices: [{ profile: comuter }]", "Did you mean commuter?"),
            ("devices: [{ profile: still }]", "streams is missing"),
            (
                "devices: [{ profile: still }]\nstreams: [{ name: a, pattern: poisson }]",
                "s.yaml:2: streams[0].per-hour is missing"
            ),
            (
                "devices: [{ profile: still }]\n"
                    + "streams: [{ name: a, pattern: fixed, every-seconds: 5, size: 2 }]",
                "streams[0].size belongs to the pattern bursts"
            ),
            (
                "devices: [{ profile: still }]\npolicy: { hourly-sends: 99 }\n"
                    + "streams: [{ name: a, pattern: poisson, per-hour: 1 }]",
                "s.yaml:2: policy.hourly-sends is 99"
            ),
            (
                "devices: [{ profile: still }]\n"
                    + "streams: [{ name: a, pattern: poisson, per-hour: 1, hours: [\"7-9\"] }]",
                "Write spans as"
            ),
            (
                "devices: [{ profile: still }]\n"
                    + "streams: [{ name: a, pattern: poisson, per-hour: 1 }]\n"
                    + "days: 1\nminutes: 5", "s.yaml:4: minutes is set together with days"
            ),
            (
                "devices:\n- { profile: still }\n- { profile: still }",
                "s.yaml:3: devices[1].name makes a second still"
            ),
            (
                "devices: [{ profile: still }]\n"
                    + "streams: [{ name: a, pattern: poisson, per-hour: 1 }]\n"
                    + "baselines: [{ kind: spacing, sends: 3 }]", "sends is for windows only"
            ),
            (
                "devices: [{ profile: still }]\n"
                    + "policy: { spacing-seconds: 7200, spacing-maximum-seconds: 3600 }\n"
                    + "streams: [{ name: a, pattern: poisson, per-hour: 1 }]",
                "policy.spacing-maximum-seconds is 3600, less than spacing-seconds (7200)"
            ),
            ("a: [", "not YAML"),
        ])
    func faults(yaml: String, words: String) async throws {
        let folder = try TestFolder()
        let path = try folder.write(yaml, to: "s.yaml")
        let result = try await Rouse.run(["simulate", path])
        #expect(result.status == 65, "\(result.all)")
        #expect(result.error.contains(words), "\(result.error)")
        #expect(result.out.isEmpty)
    }

    @Test("a file that is not there ends with 66, a device that is not there with 64")
    func missing() async throws {
        #expect(try await Rouse.run(["simulate", "/nonexistent/s.yaml"]).status == 66)
        let folder = try TestFolder()
        let path = try folder.write(Self.small, to: "small.yaml")
        #expect(try await Rouse.run(["simulate", path, "--device", "40"]).status == 64)
        let few = try await Rouse.run(
            [
                "simulate", Self.scenarios.appending(path: "wwdc-14-pushes.yaml").path,
                "--device", "1",
            ])
        #expect(few.status == 64)
        #expect(few.error.contains("has only 1 device, counted"), "\(few.error)")
        let noFile = try await Rouse.run(["simulate", folder.path])
        #expect(noFile.status == 66)
        #expect(noFile.error.contains("(\(folder.path)) cannot be read to its end"))
        #expect(try await Rouse.run(["simulate", path, path, "--svg", "x"]).status == 64)
    }
}
