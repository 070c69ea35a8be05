// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// The same in Objective-C, and what crosses functions and permissions.
extension BackgroundSourceTests {
    @Test("Objective-C shows the same")
    func objectiveC() {
        let handler = """
            - (void)pushRegistry:(PKPushRegistry *)registry
                didReceiveIncomingPushWithPayload:(PKPushPayload *)payload
                forType:(PKPushType)type withCompletionHandler:(void (^)(void))completion {
                // A quote's mark, and a character: '"'.
                char mark = '"';
                if (type != PKPushTypeVoIP) { completion(); return; }
                if (app.applicationState != UIApplicationStateActive) {
                    return;
                }
                [self.calls reportIncoming:payload.dictionaryPayload completion:completion];
            }
            """
        #expect(
            Self.faults(handler, "a.m") == [.voipPathWithoutReport, .voipPathWithoutCompletion])
        let task = """
            - (void)handle:(BGAppRefreshTask *)task {
                [self scheduleNext];
                task.expirationHandler = ^{ [self.work cancel]; };
                if (!self.ready) return;
                [self.work runWithCompletion:^(BOOL ok) {
                    [task setTaskCompletedWithSuccess:ok];
                }];
            }
            """
        #expect(Self.faults(task, "a.m") == [.taskPathWithoutEnd])
    }

    @Test("a block of Objective-C without a caret is a part of the path")
    func synchronizedBlock() {
        let task = """
            - (void)begin {
                [s registerForTaskWithIdentifier:k usingQueue:nil launchHandler:^(BGTask *task) {
                    @synchronized(self) {
                        if (self.running) {
                            [task setTaskCompletedWithSuccess:YES];
                            return;
                        }
                    }
                    [self handle:task];
                }];
            }
            """
        #expect(Self.faults(task, "a.m") == [])
        let version = """
            - (void)pushRegistry:(PKPushRegistry *)registry
                didReceiveIncomingPushWithPayload:(PKPushPayload *)payload
                forType:(PKPushType)type withCompletionHandler:(void (^)(void))completion {
                [self.calls incomingPushReceived:payload];
                if ([[NSProcessInfo processInfo] operatingSystemVersion].majorVersion >= 13) {
                    completion();
                }
            }
            """
        #expect(Self.faults(version, "a.m") == [])
    }

    @Test("Objective-C: what @finally does happens on every path, and so does a setter")
    func objectiveCPaths() {
        let finally = """
            - (void)pushRegistry:(PKPushRegistry *)registry
                didReceiveIncomingPushWithPayload:(PKPushPayload *)payload
                forType:(PKPushType)type withCompletionHandler:(void (^)(void))completion {
                [self.calls incomingPushReceived:payload];
                @try { [self tell:payload]; }
                @catch (NSException *exception) { [self log:exception]; return; }
                @finally { completion(); }
            }
            """
        #expect(Self.faults(finally, "a.m") == [])
        let caught = finally.replacing("@finally { completion(); }", with: "completion();")
        #expect(Self.faults(caught, "a.m") == [.voipPathWithoutCompletion])
        let task = """
            - (void)handle:(BGAppRefreshTask *)task {
                [self scheduleNext];
                [task setExpirationHandler:^{ [self.queue cancelAllOperations]; }];
                [self.work runWithCompletion:^(BOOL ok) {
                    [task setTaskCompletedWithSuccess:ok];
                }];
            }
            """
        #expect(Self.faults(task, "a.m") == [])
        let idle = task.replacing("[self.queue cancelAllOperations];", with: "NSLog(@\"over\");")
        #expect(Self.faults(idle, "a.m") == [.idleExpiration])
        let none = task.replacing(
            "[task setExpirationHandler:^{ [self.queue cancelAllOperations]; }];", with: "")
        #expect(Self.faults(none, "a.m") == [.taskWithoutExpiration])
    }

    @Test("a handler of Objective-C that waits longer than its time is seen")
    func longHandlerInObjectiveC() {
        let handler = """
            - (void)application:(UIApplication *)application
                didReceiveRemoteNotification:(NSDictionary *)userInfo
                fetchCompletionHandler:(void (^)(UIBackgroundFetchResult))done {
                dispatch_after(
                    dispatch_time(DISPATCH_TIME_NOW, (int64_t)(60 * NSEC_PER_SEC)),
                    dispatch_get_main_queue(), ^{ done(UIBackgroundFetchResultNoData); });
            }
            """
        #expect(Self.faults(handler, "a.m") == [.longHandler])
        #expect(Self.faults(handler.replacing("60 *", with: "20 *"), "a.m") == [])
    }

    @Test("time that another function gives back is not missed where it is asked for")
    func assertionOfAnObject() {
        let start = """
            - (BOOL)start {
                task = [[UIApplication sharedApplication]
                    beginBackgroundTaskWithExpirationHandler:handler];
                [self run];
                return YES;
            }
            """
        #expect(Self.faults(start, "a.m") == [])
        let idle = start.replacing("Handler:handler", with: "Handler:^{ task = 0; }")
        #expect(Self.faults(idle, "a.m") == [.assertionExpirationWithoutEnd])
        let ended = start.replacing("Handler:handler", with: "Handler:^{ [self stop]; }")
        #expect(Self.faults(ended, "a.m") == [])
        let early = """
            - (void)run {
                if (task == UIBackgroundTaskInvalid) {
                    task = [[UIApplication sharedApplication]
                        beginBackgroundTaskWithExpirationHandler:^{
                            [[UIApplication sharedApplication] endBackgroundTask:task];
                        }];
                }
                if (!self.isReady) { return; }
                [[UIApplication sharedApplication] endBackgroundTask:task];
            }
            """
        #expect(Self.faults(early, "a.m") == [.assertionPathWithoutEnd])
        let late = early.replacing(
            "return;", with: "[[UIApplication sharedApplication] endBackgroundTask:task]; return;")
        #expect(Self.faults(late, "a.m") == [])
    }

    @Test("an app that registers only as it was before iOS 8 gets no token")
    func obsoleteRegistration() throws {
        func messages(_ body: String) throws -> [String] {
            try TestFolder.messages(
                of: "CF054",
                [
                    "AppDelegate.m": "@implementation AppDelegate\n"
                        + "- (BOOL)application:(UIApplication *)application "
                        + "didFinishLaunchingWithOptions:(NSDictionary *)options {\n"
                        + "\(body)\nreturn YES;\n}\n@end"
                ])
        }
        let old = "[application registerForRemoteNotificationTypes:UIRemoteNotificationTypeAlert];"
        let new = "[application registerForRemoteNotifications];"
        #expect(
            try messages(old) == ["registerForRemoteNotificationTypes does nothing since iOS 8"])
        #expect(try messages("if (isNew) { \(new) } else { \(old) }") == [])
        let settings = "[application registerUserNotificationSettings:settings];"
        #expect(try messages("if (isNew) { \(settings) } else { \(old) }") == [])
        let selector = "@selector(registerForRemoteNotificationTypes:)"
        #expect(try messages("BOOL isOld = [application respondsToSelector:\(selector)];") == [])
        #expect(try messages(new) == [])
    }

    @Test("what follows the permission, and what those get who refuse")
    func permission() {
        func occasion(_ source: String) -> SourceObservation.Subject? {
            let text = SourceText(Array(source.utf8), path: "a.swift")
            return SourceReader.observations(in: text, SourceConstants()).map(\.subject).first {
                if case .remoteNotificationRegistration = $0 { true } else { false }
            }
        }
        let ask = "func f() { c.requestAuthorization(options: o) { granted, _ in\n"
        let register = "a.registerForRemoteNotifications()"
        #expect(
            occasion(ask + "guard granted else { \(register); return } } }")
                == .remoteNotificationRegistration(.unknown))
        #expect(
            occasion(ask + "if !granted { log() } else { \(register) } } }")
                == .remoteNotificationRegistration(.permission))
        #expect(
            occasion(ask + "if granted { \(register) } } }")
                == .remoteNotificationRegistration(.permission))
        #expect(
            occasion(ask + "if !granted { \(register) } } }")
                == .remoteNotificationRegistration(.unknown))
    }

    @Test(
        "Objective-C describes a device token by a message",
        arguments: [
            ("[c send:[deviceToken description]];", 1),
            ("c.token = [[deviceToken description] stringByTrimming:set];", 1),
            ("c.token = [NSString stringWithFormat:@\"%@\", deviceToken];", 1),
            ("NSLog(@\"%@\", [deviceToken description]);", 0),
            ("t = [deviceToken description];\nd.system = [device systemVersion];", 1),
            (
                "if ([deviceToken isKindOfClass:[NSData class]]) {\nf();\n} else {\n"
                    + "t = [deviceToken description];\n}", 0
            ),
            ("#if OLD\nt = [deviceToken description];\n#endif", 0),
            ("if (@available(iOS 13, *)) { f(); } else { t = [deviceToken description]; }", 0),
            ("[c send:[deviceToken base64EncodedStringWithOptions:0]];", 0),
        ])
    func describedToken(body: String, count: Int) {
        let source =
            "- (void)application:(UIApplication *)a "
            + "didRegisterForRemoteNotificationsWithDeviceToken:(NSData *)deviceToken {\n\(body)\n}"
        let text = SourceText(Array(source.utf8), path: "a.m")
        let seen = SourceReader.observations(in: text, SourceConstants())
            .filter { $0.subject == .describedDeviceToken }
        #expect(seen.count == count)
    }

    @Test(
        "a token of PushKit is described too",
        arguments: [
            ("c.voip = [[credentials.token description] stringByTrimming:set];", 1),
            ("NSString *t = [NSString stringWithFormat:@\"%@\", credentials.token];", 1),
            ("NSLog(@\"%@\", credentials.token);", 0),
            ("c.voip = [other.token description];", 0),
            ("c.voip = [self hexOf:credentials.token];", 0),
        ])
    func describedCredentials(body: String, count: Int) {
        let source =
            "- (void)pushRegistry:(PKPushRegistry *)r "
            + "didUpdatePushCredentials:(PKPushCredentials *)credentials "
            + "forType:(PKPushType)type {\n\(body)\n}"
        let text = SourceText(Array(source.utf8), path: "a.m")
        let seen = SourceReader.observations(in: text, SourceConstants())
            .filter { $0.subject == .describedDeviceToken }
        #expect(seen.count == count)
    }

    @Test(
        "a token in the user defaults is kept",
        arguments: [
            ("setObject:voipToken forKey:@\"t\"", 1), ("setValue:pushTokenText forKey:@\"t\"", 1),
            ("setObject:name forKey:@\"pushToken\"", 0), ("objectForKey:pushTokenText", 0),
            ("setObject:pushTokenKey forKey:@\"t\"", 0), ("removeObjectForKey:pushToken", 0),
            ("setObject:oldPushToken forKey:@\"t\"", 0),
        ])
    func keptToken(message: String, count: Int) {
        let source =
            "@implementation A\n- (void)keep {\noldPushToken = [shared objectForKey:@\"t\"];\n"
            + "[[NSUserDefaults standardUserDefaults] "
            + "\(message)];\n}\n@end"
        let text = SourceText(Array(source.utf8), path: "a.m")
        let seen = SourceReader.observations(in: text, SourceConstants())
            .filter { $0.subject == .storedDeviceToken }
        #expect(seen.count == count)
    }

    @Test("a format for eight words of a device token takes its length for granted")
    func formattedToken() {
        let format = "s = [NSString stringWithFormat:@\"%08x%08x%08x%08x%08x%08x%08x%08x\", a];"
        func count(_ label: String) -> Int {
            let source = "- (void)application:(A *)a \(label):(NSData *)t {\n\(format)\n}"
            let text = SourceText(Array(source.utf8), path: "a.m")
            return SourceReader.observations(in: text, SourceConstants())
                .count { $0.subject == .fixedTokenLength }
        }
        #expect(count("didRegisterForRemoteNotificationsWithDeviceToken") == 1)
        #expect(count("digestOf") == 0)
    }

    @Test("a session that a library reads from an archive is none of the app")
    func decodedSession() {
        func sees(_ name: String) -> Bool {
            let source =
                "- (id)\(name):(NSCoder *)c {\n"
                + "s = [S backgroundSessionConfigurationWithIdentifier:i];\n}"
            let text = SourceText(Array(source.utf8), path: "a.m")
            return SourceReader.observations(in: text, SourceConstants())
                .contains { $0.subject == .backgroundSession }
        }
        #expect(sees("make"))
        #expect(!sees("initWithCoder"))
    }
}
