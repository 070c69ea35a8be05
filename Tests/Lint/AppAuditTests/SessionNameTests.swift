// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Identifiers of background sessions, and whether a later launch has the same.
@Suite("Identifiers of background sessions")
struct SessionNameTests: SourceFaultSuite {
    private static func session(_ name: String, _ members: String = "") -> String {
        "class D: NSObject {\n\(members)\nlazy var session = URLSession(configuration: "
            + ".background(withIdentifier: \(name)), delegate: self, delegateQueue: nil)\n}"
    }

    @Test(
        "another one in each launch",
        arguments: [
            session("UUID().uuidString"), session("\"a.\" + UUID().uuidString"),
            session("\"a.\\(UUID().uuidString)\""),
            session("Self.name", "static let name = \"a.\" + UUID().uuidString"),
            session("D.name", "static let name = \"a.\\(UUID())\""),
            session("name", "private let name = UUID().uuidString"),
            session(
                "Self.name",
                "static let name = UUID().uuidString\nfunc f(_ i: String) -> Bool "
                    + "{ i == Self.name }"),
            session(
                "D.name",
                "static let name = UUID().uuidString\nfunc f(_ name: String) {\nlet n = name\n}\n"
                    + "func g() { guard let name = session.configuration.identifier else { return"
                    + " }\nend(name)\n}"),
        ])
    func anew(source: String) {
        #expect(Self.faults(source).contains(.sessionOfNewName), "\(source)")
    }

    @Test("another one in each launch, in Objective-C")
    func anewInObjectiveC() {
        func isAnew(_ name: String) -> Bool {
            Self.faults(
                "@implementation D\n- (void)f {\nself.c = [NSURLSessionConfiguration "
                    + "backgroundSessionConfigurationWithIdentifier:\(name)];\n}\n@end", "D.m"
            ).contains(.sessionOfNewName)
        }
        #expect(isAnew("[NSUUID UUID].UUIDString"))
        #expect(isAnew("NSUUID.UUID.UUIDString"))
        #expect(isAnew("[Base stringByAppendingFormat:@\".%@\", NSUUID.UUID.UUIDString]"))
        #expect(isAnew("[@\"a.\" stringByAppendingString:[[NSUUID UUID] UUIDString]]"))
        #expect(!isAnew("[self stored:NSUUID.UUID.UUIDString]"))
        #expect(!isAnew("[Base stringByAppendingString:@\".b\"]"))
    }

    @Test(
        "the same, or one that something keeps",
        arguments: [
            session("\"a.b\""), session("name", "static let name = \"a.b\""),
            session("D.name", "static let name = UUID().uuidString\nfunc f() { store(D.name) }"),
            session(
                "D.name", "static let name = UUID().uuidString\nstatic func f() { store(name) }"),
            session("D.name", "let name = UUID().uuidString\nfunc f() { store(D.name) }"),
            session("stored ?? UUID().uuidString"),
            session("name", "let name = stored ?? UUID().uuidString"),
            session(
                "Self.name",
                "static let name: String = {\nif let s = stored { return s }\nlet s = "
                    + "UUID().uuidString\nstore(s)\nreturn s\n}()"),
            session("name", "let name = Defaults.get(\"id\", orSet: UUID().uuidString)"),
            session("\"a.\\(keychain.id(UUID()))\""),
            session(
                "name",
                "let name = UUID().uuidString\nfunc keep() { defaults.set(name, forKey: \"n\") }"),
            session("name", "let name: String\nlet id = UUID()"),
            session("name(UUID())", "func name(_ i: UUID) -> String { \"a.b\" }")
                .replacing("name(UUID())", with: "name(id)"),
        ])
    func kept(source: String) {
        #expect(!Self.faults(source).contains(.sessionOfNewName), "\(source)")
    }

    @Test("Objective-C")
    func objectiveC() {
        func faults(_ name: String) -> Set<SourceObservation.Fault> {
            Self.faults(
                """
                @implementation D
                - (void)setUp {
                    NSURLSessionConfiguration *c = [NSURLSessionConfiguration
                        backgroundSessionConfigurationWithIdentifier:\(name)];
                    self.session = [NSURLSession sessionWithConfiguration:c delegate:self
                        delegateQueue:nil];
                }
                @end
                """, "D.m")
        }
        #expect(faults("[[NSUUID UUID] UUIDString]").contains(.sessionOfNewName))
        #expect(!faults("@\"a.b\"").contains(.sessionOfNewName))
        #expect(!faults("[self nameFor:[NSUUID UUID]]").contains(.closureInBackgroundSession))
    }
}
