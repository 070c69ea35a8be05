// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Registries for VoIP pushes: when they are made, and whether they have a delegate.
@Suite("Push registries")
struct PushRegistryTests: SourceFaultSuite {
    private static let types = "registry.desiredPushTypes = [.voIP]\n"
    private static let made = "registry = PKPushRegistry(queue: .main)\n"
    private static let service =
        "final class Calls: NSObject, PKPushRegistryDelegate {\nstatic let shared = Calls()\n"
        + "private var registry: PKPushRegistry!\nfunc configure() {\n\(made)"
        + "registry.delegate = self\n\(types)}\n}\n"

    private static func occasion(_ files: [String: String]) throws -> [SourceObservation.Occasion] {
        try OccasionTests.subjects(files).compactMap {
            if case .voipRegistration(let occasion) = $0 { occasion } else { nil }
        }
    }

    @Test(
        "one that is made only once the app is in use",
        arguments: [
            "class A { func applicationDidBecomeActive(_ a: A) { Calls.shared.configure() } }",
            "class A { func applicationDidEnterBackground(_ a: A) { Calls.shared.configure() } }",
            "class V: UIViewController { @IBAction func tap(_ s: Any) { "
                + "Calls.shared.configure() } }",
            "struct V: View { var body: some View { Button(\"a\") { Calls.shared.configure() } } }",
        ])
    func event(caller: String) throws {
        #expect(try Self.occasion(["A.swift": caller, "B.swift": Self.service]) == [.event])
        let launch =
            "class D { func application(_ a: A, didFinishLaunchingWithOptions o: O) -> Bool {\n"
            + "Calls.shared.configure()\nreturn true } }"
        #expect(
            try Self.occasion(["A.swift": caller, "B.swift": Self.service, "C.swift": launch])
                == [.unknown])
    }

    @Test(
        "one that is made at each launch, or may be",
        arguments: [
            // The first view of an app without scenes is loaded at each launch.
            "class V: UIViewController { override func viewDidLoad() { "
                + "Calls.shared.configure() } }",
            "class A { func application(_ a: A, didFinishLaunchingWithOptions o: O) -> Bool {\n"
                + "DispatchQueue.main.async { Calls.shared.configure() }\nreturn true } }",
            // The token for other pushes comes at each launch.
            "class A { func application(_ a: A, didRegisterForRemoteNotificationsWithDeviceToken "
                + "t: Data) { Calls.shared.configure() } }",
            "class A { func signedIn() { Calls.shared.configure() } }",
            "class A { func f() { center.add { Calls.shared.configure() } } }",
            "class V: UIViewController {\n"
                + "override func viewDidLoad() { Calls.shared.configure() }\n"
                + "@IBAction func tap(_ s: Any) { Calls.shared.configure() }\n}",
        ])
    func launch(caller: String) throws {
        let found = try Self.occasion(["A.swift": caller, "B.swift": Self.service])
        #expect(!found.contains { [.event, .view, .scene].contains($0) })
    }

    @Test("views of SwiftUI and scenes appear only in the foreground")
    func views() throws {
        let view =
            "struct V: View { var body: some View { T().onAppear { Calls.shared.configure() } } }"
        #expect(try Self.occasion(["A.swift": view, "B.swift": Self.service]) == [.view])
        let scene =
            "class S: UIResponder, UIWindowSceneDelegate {\nfunc scene(_ s: UIScene, willConnectTo "
            + "n: N, options o: O) { Calls.shared.configure() } }"
        #expect(try Self.occasion(["A.swift": scene, "B.swift": Self.service]) == [.scene])
    }

    private static func lacksDelegate(_ source: String, _ path: String = "a.swift") -> Bool {
        faults(source, path).contains(.pushRegistryWithoutDelegate)
    }

    @Test(
        "one without a delegate",
        arguments: [
            "class A { private var registry: PKPushRegistry?\nfunc f() {\n\(made)\(types)} }",
            "class A { private let registry = PKPushRegistry(queue: nil)\n"
                + "init() { self.registry.desiredPushTypes = [.voIP] } }",
            "class A { private var registry: PKPushRegistry?\nfunc f() {\nlet \(made)\(types)"
                + "self.registry = registry\n} }",
            "func f() {\nlet \(made)\(types)}",
            "class A { private var registry: PKPushRegistry! = PKPushRegistry(queue: .main)\n"
                + "func f() { registry.desiredPushTypes = [.voIP]\ncenter.delegate = self }\n"
                + "func pushRegistry(_ registry: PKPushRegistry, didUpdate c: C) { } }",
        ])
    func withoutDelegate(source: String) {
        #expect(Self.lacksDelegate(source))
        let given = source.replacing(
            "registry.desired", with: "registry.delegate = self\nregistry.desired")
        #expect(!Self.lacksDelegate(given))
    }

    @Test(
        "one that may get a delegate elsewhere",
        arguments: [
            "class A { private var registry: PKPushRegistry!\nfunc f() {\n\(made)\(types)"
                + "setUp(registry)\n} }",
            "func make() -> PKPushRegistry {\nlet \(made)\(types)return registry\n}",
            "class A { private lazy var registry: PKPushRegistry = {\nlet r = "
                + "PKPushRegistry(queue: "
                + ".main)\nr.delegate = self\nreturn r\n}()\nfunc f() { \(types)} }",
            "class A { private var registry: PKPushRegistry!\nfunc f() {\n\(made)\(types)"
                + "let other = registry\nother?.delegate = self\n} }",
            "class A { private var registry: PKPushRegistry!\nfunc f() {\n\(made)\(types)"
                + "registry?.delegate = self\n} }",
            "class A { func f() { PKPushRegistry(queue: .main).delegate = self } }",
            "class A { private var registry: PKPushRegistry!\nfunc f() {\n\(made)\(types)"
                + "registry.setValue(self, forKey: \"delegate\")\nwatch([registry])\n} }",
            "class A { func f() { keep(PKPushRegistry(queue: .main)) } }",
            "extension PKPushRegistry { func f() { delegate = x } }",
            // It ends what another one began.
            "func f() {\nlet \(made)registry.desiredPushTypes = []\n}",
            "func f() {\nlet registry = PKPushRegistry(queue: .main) => { setUp($0) }\n}",
            "class A { private var registry: PKPushRegistry? { willSet { newValue?.delegate = self "
                + "} }\nfunc f() {\nlet r = PKPushRegistry(queue: .main)\nregistry = r\n} }",
            "class A { private var registry: PKPushRegistry! {\nget { kept }\n"
                + "set(new) { new.delegate = self }\n}\nfunc f() {\n\(made)\(types)} }",
            "class A { @Published private var registry: PKPushRegistry?\nfunc f() {\n"
                + "$registry.sink { $0?.delegate = self }\n\(made)} }",
        ])
    func delegateElsewhere(source: String) { #expect(!Self.lacksDelegate(source)) }

    @Test("a property that another file may give a delegate")
    func otherFiles() throws {
        let source =
            "class A { var registry: PKPushRegistry!\ninit() {\n\(Self.made)\(Self.types)} }"
        let fault = SourceObservation.Subject.fault(.pushRegistryWithoutDelegate)
        #expect(try OccasionTests.subjects(["A.swift": source]).contains(fault))
        let other = "func g() { a.registry.delegate = self }"
        #expect(try !OccasionTests.subjects(["A.swift": source, "B.swift": other]).contains(fault))
    }

    @Test("a setter, another name and a global variable in Objective-C")
    func objectiveCNames() throws {
        func source(_ rest: String) -> String {
            "@implementation A\n- (void)start {\n"
                + "PKPushRegistry *r = [[PKPushRegistry alloc] initWithQueue:nil];\n"
                + "self.voip = r;\n}\n\(rest)\n@end\n"
        }
        #expect(
            !Self.lacksDelegate(
                source("- (void)setVoip:(PKPushRegistry *)p { p.delegate = self; }"), "a.m"))
        let given = "- (void)f { voip_.delegate = self; }"
        #expect(!Self.lacksDelegate(source("@synthesize voip = voip_;\n" + given), "a.m"))
        #expect(Self.lacksDelegate(source("@synthesize voip = voip_;"), "a.m"))
        let fault = SourceObservation.Subject.fault(.pushRegistryWithoutDelegate)
        let other = "void g(void) { gRegistry.delegate = d; }"
        for (word, isTold) in [("", false), ("static ", true)] {
            let global =
                "\(word)PKPushRegistry *gRegistry = nil;\n@implementation A\n- (void)start {\n"
                + "gRegistry = [[PKPushRegistry alloc] initWithQueue:nil];\n}\n@end\n"
            let found = try OccasionTests.subjects(["A.m": global, "B.m": other])
            #expect(found.contains(fault) == isTold)
        }
    }

    @Test("registries in Objective-C")
    func objectiveC() {
        func source(_ delegate: String, _ property: String = "") -> String {
            "@interface A ()\n@property (nonatomic, strong) PKPushRegistry *registry;\n@end\n"
                + "@implementation A\n- (void)start {\n"
                + "self.registry = [[PKPushRegistry alloc] initWithQueue:nil];\n\(delegate)"
                + "self.registry.desiredPushTypes = [NSSet setWithObject:PKPushTypeVoIP];\n}\n"
                + "- (void)pushRegistry:(PKPushRegistry *)registry didUpdatePushCredentials:(C *)c "
                + "forType:(PKPushType)t { }\n@end\n"
        }
        #expect(Self.lacksDelegate(source(""), "a.m"))
        for delegate in [
            "self.registry.delegate = self;\n", "[self.registry setDelegate:self];\n",
            "[_registry setDelegate:self];\n", "_registry.delegate = self;\n",
            "[self prepare:self.registry];\n", "PKPushRegistry *other = self.registry;\n",
        ] {
            #expect(!Self.lacksDelegate(source(delegate), "a.m"))
        }
        let text = SourceText(
            Array(
                "@implementation A\n- (void)s { [r setDesiredPushTypes:[NSSet setWithObject:"
                    .utf8) + Array("PKPushTypeVoIP]]; }\n@end".utf8), path: "a.m")
        #expect(
            SourceReader.observations(in: text, SourceConstants()).contains {
                $0.subject.isVoIPRegistration
            })
    }

    private static func lacksTypes(_ source: String, _ path: String = "a.swift") -> Bool {
        faults(source, path).contains(.pushRegistryWithoutTypes)
    }

    @Test(
        "one whose types stay empty",
        arguments: [
            "class A { private var registry: PKPushRegistry?\nfunc f() {\n\(made)"
                + "registry?.delegate = self\n} }",
            "class A { func f() {\nlet \(made)registry.delegate = self\n"
                + "self.other = registry\n}\nprivate var other: PKPushRegistry? }",
            "class A { private let registry = PKPushRegistry(queue: .main)\n"
                + "init() { registry.delegate = self }\n"
                + "func f() { registry.desiredPushTypes = [] }\n"
                + "func g() -> Data? { registry.pushToken(for: .voIP) } }",
            "func f() {\nlet \(made)registry.delegate = delegate\n}",
        ])
    func withoutTypes(source: String) {
        #expect(Self.lacksTypes(source))
        let given = source.replacing(
            "registry.delegate", with: "registry.desiredPushTypes = types\nregistry.delegate")
        let other = source.replacing(
            "registry?.delegate", with: "registry?.desiredPushTypes.insert(a)\nregistry.delegate")
        #expect(!Self.lacksTypes(given == source ? other : given))
    }

    @Test(
        "one that gets its types elsewhere, or is there for something else",
        arguments: [
            "class A { private var registry: PKPushRegistry?\nfunc f() {\n\(made)"
                + "registry?.delegate = self\nstart(registry)\n} }",
            // It ends what another one began.
            "func f() {\nlet \(made)registry.delegate = self\nregistry.desiredPushTypes = []\n}",
            "func f() -> Data? {\nlet \(made)return registry.pushToken(for: .voIP)\n}",
            "func f() {\nlet \(made)registry.delegate = self\nregistry.setUp()\n}",
            "func f() {\nlet registry = PKPushRegistry(queue: .main, types: [.voIP])\n"
                + "registry.delegate = self\n}",
            "class A { private var registry: PKPushRegistry!\nfunc f() {\n\(made)"
                + "registry.delegate = self\nholder.other = registry\n} }",
            "class A { private var registry: PKPushRegistry!\nprivate var other: PKPushRegistry!\n"
                + "func f() {\n\(made)registry.delegate = self\nother = registry\n"
                + "other.desiredPushTypes = [.voIP]\n} }",
            "class A { private var registry: PKPushRegistry!\nfunc f() {\n\(made)"
                + "registry.delegate = self\n"
                + "set(\\.desiredPushTypes, [.voIP], of: \\A.registry)\n} }",
            "let registry = PKPushRegistry(queue: .main)\nfunc f() { registry.delegate = self }",
            "class A { private(set) var registry: PKPushRegistry!\nfunc f() {\n\(made)"
                + "registry.delegate = self\n} }",
            "extension A { func f() {\n\(made)guard let registry else { return }\n"
                + "registry.delegate = self\n} }",
        ])
    func typesElsewhere(source: String) throws {
        #expect(
            !Self.lacksTypes(source) || source.contains("set) var")
                || source.hasPrefix("let") || source.hasPrefix("extension"))
        let fault = SourceObservation.Subject.fault(.pushRegistryWithoutTypes)
        let other = "extension A { func g() { registry.desiredPushTypes = [.voIP] } }"
        #expect(try !OccasionTests.subjects(["A.swift": source, "B.swift": other]).contains(fault))
    }

    @Test("a property that other files only read, or name the same as others")
    func plainUses() throws {
        let source =
            "class A { var registry: PKPushRegistry!\ninit() {\n\(Self.made)"
            + "registry.delegate = self\n} }"
        let fault = SourceObservation.Subject.fault(.pushRegistryWithoutTypes)
        for other in [
            "extension A { func g() -> Data? { registry.pushToken(for: .voIP) } }",
            "func pushRegistry(_ registry: PKPushRegistry, didUpdate c: C, for t: T) { }",
            "extension A { func g() { if registry == nil { f() } } }",
            "func g() { registry.delegate = x }",
        ] {
            let found = try OccasionTests.subjects(["A.swift": source, "B.swift": other])
            #expect(found.contains(fault), "\(other)")
        }
        for other in [
            "extension A { func g() { registry.desiredPushTypes = [.voIP] } }",
            "func g() { setUp(a.registry) }", "func g() { let r = a.registry\nr.f() }",
        ] {
            #expect(
                try !OccasionTests.subjects(["A.swift": source, "B.swift": other]).contains(fault))
        }
    }

    @Test("a getter of Objective-C that makes the object")
    func getter() throws {
        func source(_ use: String) -> String {
            "@interface A ()\n@property (nonatomic, strong) PKPushRegistry *registry;\n@end\n"
                + "@implementation A\n- (PKPushRegistry *)registry {\nif (!_registry) {\n"
                + "_registry = [[PKPushRegistry alloc] initWithQueue:nil];\n\(use)}\n"
                + "return _registry;\n}\n- (void)f { [shared registry]; }\n@end\n"
        }
        let types = "_registry.desiredPushTypes = [NSSet setWithObject:PKPushTypeVoIP];\n"
        let delegate = "_registry.delegate = self;\n"
        #expect(Self.lacksDelegate(source(types), "a.m"))
        #expect(Self.lacksTypes(source(delegate), "a.m"))
        #expect(Self.faults(source(delegate + types), "a.m") == [])
        let used = source(delegate)
            .replacing("[shared registry];", with: "[shared registry].x = y;")
        #expect(!Self.lacksTypes(used, "a.m"))
    }
}
