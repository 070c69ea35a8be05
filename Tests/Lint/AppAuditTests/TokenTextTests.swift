// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// The ways in which the bytes of a device token become text.
@Suite("Texts of device tokens")
struct TokenTextTests {
    private typealias Subject = SourceObservation.Subject

    private static func subjects(_ source: String, _ path: String = "a.swift") -> Set<Subject> {
        let text = SourceText(Array(source.utf8), path: path)
        let found = Set(SourceReader.observations(in: text, SourceConstants()).map(\.subject))
        return found.intersection([
            .decodedDeviceToken, .shortenedDeviceToken, .describedDeviceToken,
        ])
    }

    private static func app(_ body: String) -> Set<Subject> {
        subjects(
            "class A { func application(_ a: UIApplication, "
                + "didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data) "
                + "{\n\(body)\n} }"
        )
    }

    private static func calls(_ body: String) -> Set<Subject> {
        subjects(
            "class A { func pushRegistry(_ r: PKPushRegistry, didUpdate pushCredentials: "
                + "PKPushCredentials, for type: PKPushType) {\n\(body)\n} }")
    }

    private static func objectiveC(_ body: String) -> Set<Subject> {
        subjects(
            "@implementation A\n- (void)application:(UIApplication *)a "
                + "didRegisterForRemoteNotificationsWithDeviceToken:(NSData *)deviceToken {\n"
                + body + "\n}\n@end", "a.m")
    }

    @Test("a token that is decoded as text")
    func decoded() {
        let found: Set<Subject> = [.decodedDeviceToken]
        #expect(Self.app("let t = String(data: deviceToken, encoding: .utf8)") == found)
        #expect(Self.app("send(String(decoding: deviceToken, as: UTF8.self))") == found)
        #expect(
            Self.calls("let t = String(data: pushCredentials.token, encoding: .ascii) ?? \"\"")
                == found)
        #expect(
            Self.objectiveC(
                "NSString *t = [[NSString alloc] initWithData:deviceToken "
                    + "encoding:NSUTF8StringEncoding];") == found)
    }

    @Test("a description that an app's own function logs, by its name")
    func logged() {
        #expect(Self.app("DebugLog(\"%@\", deviceToken.description)") == [])
        let found: Set<Subject> = [.describedDeviceToken]
        #expect(Self.app("sendLog(\"%@\", deviceToken.description)") == found)
        #expect(Self.app("logDebug(deviceToken.description)") == [])
        #expect(Self.app("logIn(deviceToken.description)") == found)
        #expect(Self.app("self.debugLog(deviceToken.description)") == [])
    }

    @Test("a token whose bytes lose a zero")
    func shortened() {
        let found: Set<Subject> = [.shortenedDeviceToken]
        #expect(Self.app("let t = deviceToken.map { String($0, radix: 16) }.joined()") == found)
        #expect(
            Self.app("let t = deviceToken.map({ String(format: \"%x\", $0) }).joined()") == found)
        #expect(
            Self.app("let t = deviceToken.reduce(\"\", { $0 + String(format: \"%hhx\", $1) })")
                == found)
        #expect(
            Self.calls("send(pushCredentials.token.map { String(format: \"%X\", $0) }.joined())")
                == found)
        #expect(
            Self.app("for byte in deviceToken { t += String(format: \"%x\", byte) }") == found)
        let bytes = "const unsigned char *b = [deviceToken bytes];\n"
        #expect(
            Self.objectiveC(
                bytes + "for (int i = 0; i < 32; i++) { [hex appendFormat:@\"%x\", b[i]]; }")
                == found)
    }

    @Test(
        "a token that keeps its bytes",
        arguments: [
            "let t = deviceToken.map { String(format: \"%02x\", $0) }.joined()",
            "let t = deviceToken.map { String(format: \"%02.2hhx\", $0) }.joined()",
            "let t = deviceToken.reduce(\"\") { $0 + String(format: \"%02X\", $1) }",
            "let t = deviceToken.base64EncodedString()",
            "let t = deviceToken.map { pad(String($0, radix: 16)) }.joined()",
            "let t = deviceToken.map { b in\nlet s = String(b, radix: 16)\n"
                + "return s.count == 1 ? \"0\" + s : s\n}.joined()",
            "let t = deviceToken.map { String($0, radix: 16).leftPadded(2) }.joined()",
            "let t = String(data: other, encoding: .utf8)",
            "print(String(data: deviceToken, encoding: .utf8) ?? \"none\")",
            "Log.info(\"\\(String(describing: String(data: deviceToken, encoding: .utf8)))\")",
            "for byte in deviceToken { t += String(format: \"%02x\", byte) }",
            "let m = \"token: \\(String(data: deviceToken, encoding: .utf8) ?? \"\")\"",
            "let n = deviceToken.map { Int($0) }", "let t = deviceToken.hexString",
        ])
    func kept(body: String) { #expect(Self.app(body) == []) }

    @Test("other data, and texts of the token in Objective-C that keep its bytes")
    func others() {
        #expect(
            Self.subjects(
                "func didRegister(deviceToken: Data) { send(String(data: deviceToken, "
                    + "encoding: .utf8)) }") == [.decodedDeviceToken])
        #expect(
            Self.subjects(
                "func keepPushToken(_ token: Data) { let t = String(data: token, encoding: .utf8) }"
            )
                == [])
        let bytes = "const unsigned *b = [deviceToken bytes];\n"
        #expect(
            Self.objectiveC(
                bytes + "[hex appendFormat:@\"%08x\", ntohl(b[0])];\n[log appendFormat:@\"%d\", 1];"
            )
                == [])
        #expect(Self.objectiveC("[s appendFormat:@\"%x\", flags];") == [])
        #expect(
            Self.objectiveC(bytes + "for (;;) { [hex appendFormat:@\"%02x\", b[i]]; }") == [])
    }

    private static func describes(_ source: String, _ path: String = "a.swift") -> Bool {
        let text = SourceText(Array(source.utf8), path: path)
        return SourceReader.observations(in: text, SourceConstants())
            .contains { $0.subject == .describedDeviceToken }
    }

    @Test(
        "a description whose signs are taken off",
        arguments: [
            "func text(_ token: Data) -> String {\nreturn (token as NSData).description\n"
                + ".trimmingCharacters(in: CharacterSet(charactersIn: \"<>\"))\n"
                + ".replacingOccurrences(of: \" \", with: \"\")\n}",
            "init() { tokens.map { data in\nvar t = (data as NSData).description\n"
                + "t = t.replacingOccurrences(of: \"<\", with: \"\")\n"
                + "t = t.replacingOccurrences(of: \">\", with: \"\")\n"
                + "return t.replacingOccurrences(of: \" \", with: \"\") } }",
        ])
    func cutDescriptions(source: String) { #expect(Self.describes(source)) }

    @Test("a description whose signs are taken off, in Objective-C")
    func cutInObjectiveC() {
        let source =
            "@implementation T\n- (NSString *)textOf:(NSData *)token {\n"
            + "NSString *t = [token description];\nt = [t stringByTrimmingCharactersInSet:"
            + "[NSCharacterSet characterSetWithCharactersInString:@\"<>\"]];\n"
            + "return [t stringByReplacingOccurrencesOfString:@\" \" withString:@\"\"];\n}\n@end"
        #expect(Self.describes(source, "T.m"))
        #expect(!Self.describes(source.replacing("token", with: "digest"), "T.m"))
    }

    @Test(
        "other descriptions",
        arguments: [
            "func text(_ digest: Data) -> String {\nreturn (digest as NSData).description\n"
                + ".trimmingCharacters(in: CharacterSet(charactersIn: \"<>\"))\n"
                + ".replacingOccurrences(of: \" \", with: \"\")\n}",
            "func name(_ node: Node) -> String {\nlet token = node.description\n"
                + ".trimmingCharacters(in: CharacterSet(charactersIn: \"<>\"))\n"
                + "return token.replacingOccurrences(of: \" \", with: \"\")\n}",
            "func name(_ token: Kind) -> String {\ntoken.description.replacingOccurrences("
                + "of: \" \", with: \"\")\n}",
            "func name(_ token: Kind) -> String {\ntoken.description.trimmingCharacters("
                + "in: CharacterSet(charactersIn: \"<>\"))\n}",
            "func text(_ token: Data) -> String {\nif #available(iOS 13, *) { return hex(token) }\n"
                + "return (token as NSData).description\n"
                + ".trimmingCharacters(in: CharacterSet(charactersIn: \"<>\"))\n"
                + ".replacingOccurrences(of: \" \", with: \"\")\n}",
        ])
    func otherDescriptions(source: String) { #expect(!Self.describes(source)) }

    @Test(
        "a token that the app delegate hands to Firebase",
        arguments: [
            ("Messaging.messaging().apnsToken = t", "a.swift", true),
            ("Session.shared.apnsToken = t", "a.swift", false),
            ("log(Messaging.messaging().apnsToken)", "a.swift", false),
            ("[FIRMessaging messaging].APNSToken = t;", "a.m", true),
            ("[[FIRMessaging messaging] setAPNSToken:t type:kind];", "a.m", true),
            ("self.APNSToken = t;", "a.m", false),
        ])
    func firebase(body: String, path: String, isTaken: Bool) {
        let head =
            path.hasSuffix(".m")
            ? "- (void)application:(UIApplication *)a "
                + "didRegisterForRemoteNotificationsWithDeviceToken:(NSData *)t"
            : "func application(_ a: A, didRegisterForRemoteNotificationsWithDeviceToken t: Data)"
        for (head, isDelegate) in [(head, true), ("func f(_ t: Data)", false)] {
            let text = SourceText(Array("\(head) {\n\(body)\n}".utf8), path: path)
            let found = SourceReader.observations(in: text, SourceConstants()).map(\.subject)
            #expect(found.contains(.tokenForFirebase) == (isTaken && isDelegate), "\(body)")
        }
    }
}
