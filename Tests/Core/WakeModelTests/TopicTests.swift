// SPDX-License-Identifier: Apache-2.0

import Testing
import WakeModel

@Suite("Bundle id and topic")
struct TopicTests {
    @Test(
        "letters, digits, dots, hyphens and underscores make a bundle id",
        arguments: [
            "com.example.app", "Com.Example.App-2", "a", "com.example.my_app",
            "com.example.voip.app", String(repeating: "a", count: 255),
        ])
    func taken(value: String) throws {
        let id = try BundleID(value)
        #expect(id.value == value)
        #expect(id.description == value)
    }

    @Test(
        "anything else is refused with the problem and the fix",
        arguments: [
            ("", "is empty"), (String(repeating: "a", count: 256), "has 256 bytes"),
            ("com.example app", "character"), ("com.example.app\n", "character"),
            ("com.exämple.app", "character"), ("com/example", "character"),
            ("com.example.*", "character"),
        ])
    func refused(value: String, problem: String) {
        let error = #expect(throws: InvalidField.self) { try BundleID(value) }
        #expect(error?.field == "bundle id")
        #expect(error?.problem.contains(problem) == true)
        #expect(error?.remedy.isEmpty == false)
    }

    @Test(
        "a bundle id that carries a push type's suffix is refused, and the suffix is named",
        arguments: PushType.all.filter { !$0.topicSuffix.isEmpty })
    func suffixed(type: PushType) {
        let error = #expect(throws: InvalidField.self) {
            try BundleID("com.example.app" + type.topicSuffix)
        }
        #expect(error?.problem.contains("already ends in \(type.topicSuffix),") == true)
        #expect(error?.problem.contains(type.rawValue) == true)
    }

    @Test("the topic is the bundle id with the type's suffix", arguments: PushType.all)
    func topic(type: PushType) throws {
        let topic = try BundleID("com.example.app").topic(for: type)
        #expect(topic.value == "com.example.app" + type.topicSuffix)
        #expect(topic.description == topic.value)
    }
}
