// SPDX-License-Identifier: Apache-2.0
//
// The app's side of silent pushes. Copy this file into the app's target, and change what stands
// under "To change". It needs the capabilities Push Notifications and Background Modes (Remote
// notifications), and no other code.
//
// The app talks to your server and never to Rouse: a key of Rouse's API can wake every device, so
// none belongs into an app.

import UIKit

// MARK: To change

extension AppDelegate {
    /// Your server: it keeps tokens, and passes receipts and signals on to Rouse.
    static let server = PushServer(address: "https://backend.example/push") {
        // How the app shows your server whose device this is: a session from the Keychain.
        nil
    }

    /// Fetches what is new. Says whether there was anything. It must end soon after its task is
    /// cancelled; `URLSession`'s async calls do.
    static func sync() async throws -> Bool {
        false
    }
}

// MARK: The app delegate

/// What UIKit calls. In an app with SwiftUI's life cycle it is named by
/// `@UIApplicationDelegateAdaptor(AppDelegate.self)`; in others, put `@main` before it.
///
/// It has to be the app delegate: a scene delegate and views are not there yet when a push launches
/// the app in the background.
final class AppDelegate: UIResponder, UIApplicationDelegate {
    private let wakes = RouseWake(server: AppDelegate.server, sync: AppDelegate.sync)

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]? = nil
    ) -> Bool {
        wakes.start()
        // At every launch: tokens change, and an old one is answered with 410 some day. Silent
        // pushes need nobody's permission, so nothing is asked before.
        application.registerForRemoteNotifications()
        return true
    }

    func application(
        _ application: UIApplication,
        didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {
        wakes.register(deviceToken, as: .background)
    }

    func application(
        _ application: UIApplication,
        didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) {
        // Without the entitlement aps-environment, or without a network. The next launch tries
        // again; until then the app lives by what it fetches in the foreground.
    }

    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult {
        await wakes.handle(userInfo)
    }
}

// MARK: Wakes

/// Fetches when a wake comes, says that it came, and tells the server what the device can take.
@MainActor
final class RouseWake {
    /// iOS gives a silent push 30 seconds, by the clock on the wall, and stops an app that takes
    /// longer. This leaves room for the receipt.
    static let syncSeconds = 20
    /// The member of the payload by which the server finds the wake again. iOS hands the app the
    /// payload, and not the `apns-id`.
    static let reference = "ref"

    private let server: PushServer
    private let receipts: KeptReceipts
    private let sync: @MainActor () async throws -> Bool
    private var tokens: [PushServer.Token] = []
    private var wasInBackground = true

    init(server: PushServer, sync: @escaping @MainActor () async throws -> Bool) {
        self.server = server
        receipts = KeptReceipts(server: server)
        self.sync = sync
    }

    /// Watches what decides whether iOS launches the app for a push.
    func start() {
        UIDevice.current.isBatteryMonitoringEnabled = true
        let observed: [(Notification.Name, @MainActor (RouseWake) -> Void)] = [
            (UIApplication.didBecomeActiveNotification, { $0.cameToForeground() }),
            (UIApplication.didEnterBackgroundNotification, { $0.wasInBackground = true }),
            (UIApplication.backgroundRefreshStatusDidChangeNotification, { $0.reportSignals() }),
            (.NSProcessInfoPowerStateDidChange, { $0.reportSignals() }),
        ]
        for (name, action) in observed {
            _ = NotificationCenter.default.addObserver(forName: name, object: nil, queue: .main) {
                [weak self] _ in
                // The queue is the main one.
                MainActor.assumeIsolated { if let self { action(self) } }
            }
        }
    }

    /// Uploads a token, which iOS gave out just now. It is not kept on disk: the next launch gets
    /// the one that is then right.
    func register(_ token: Data, as kind: PushServer.Kind) {
        // A token is as long as it is; nothing may count on 32 bytes.
        let hex = token.map { String(format: "%02x", $0) }.joined()
        let token = PushServer.Token(token: hex, kind: kind)
        tokens.removeAll { $0.kind == kind }
        tokens.append(token)
        Task {
            await server.post(token, to: "tokens")
            reportSignals()
        }
    }

    /// A silent push: fetch, then confirm.
    func handle(_ userInfo: [AnyHashable: Any]) async -> UIBackgroundFetchResult {
        let reference = userInfo[Self.reference] as? String
        let launchedAt = Date.now
        let work = Task { try await sync() }
        let alarm = Task {
            try await Task.sleep(for: .seconds(Self.syncSeconds))
            work.cancel()
        }
        let result = await work.result
        alarm.cancel()
        if let reference {
            // `synced` lets the gateway drop the wake that waits behind this one, so it may only be
            // said when all there was has been fetched.
            let hasSynced = (try? result.get()) != nil
            await confirm(reference, launchedAt: launchedAt, synced: hasSynced)
        }
        return switch result {
        case .success(true): .newData
        case .success(false): .noData
        case .failure: .failed
        }
    }

    /// Says that a wake reached the app.
    func confirm(_ reference: String, launchedAt: Date, synced: Bool) async {
        await receipts.post(
            PushServer.Receipt(
                ref: reference, launchedAt: launchedAt.ISO8601Format(), synced: synced))
    }

    /// The user opened the app. It syncs by itself, so a wake that waits is not needed any more.
    private func cameToForeground() {
        // The app becomes active after each dialog, too.
        guard wasInBackground else { return }
        wasInBackground = false
        reportSignals(isForeground: true)
        Task {
            await receipts.postKept()
            _ = try? await sync()
        }
    }

    private func reportSignals(isForeground: Bool = false) {
        let signals = PushServer.Signals(
            tokens: tokens, lowPowerMode: ProcessInfo.processInfo.isLowPowerModeEnabled,
            batteryPercent: batteryPercent,
            charging: batteryPercent == nil ? nil : UIDevice.current.batteryState != .unplugged,
            backgroundAppRefresh: UIApplication.shared.backgroundRefreshStatus == .available,
            // Only ever true: that an app was force-quit or sent away, nobody can report.
            foreground: isForeground ? true : nil)
        guard !tokens.isEmpty else { return }
        Task { await server.post(signals, to: "signals") }
    }

    /// `nil` where the device does not know it, as in the Simulator.
    private var batteryPercent: Int? {
        let level = UIDevice.current.batteryLevel
        return level < 0 ? nil : Int((level * 100).rounded())
    }
}

// MARK: Your server

/// The three routes of your server that the app needs.
nonisolated struct PushServer: Sendable {
    /// The longest that a request may take, in seconds: with `RouseWake.syncSeconds` before it, it
    /// stays within the 30 seconds of a silent push.
    static let timeoutSeconds: TimeInterval = 5

    /// Which push a token is for. The two tokens of an app are not the same.
    nonisolated enum Kind: String, Codable, Sendable {
        case background
        case voip
    }

    nonisolated struct Token: Encodable, Sendable {
        let token: String
        let kind: Kind
        /// Builds that Xcode runs have sandbox tokens, TestFlight and the App Store production
        /// ones. With a build configuration of your own, say here what its `aps-environment` says.
        #if DEBUG
        private(set) var environment = "sandbox"
        #else
        private(set) var environment = "production"
        #endif
    }

    nonisolated struct Receipt: Codable, Sendable {
        let ref: String
        let launchedAt: String
        let synced: Bool
    }

    nonisolated struct Signals: Encodable, Sendable {
        let tokens: [Token]
        let lowPowerMode: Bool
        let batteryPercent: Int?
        let charging: Bool?
        let backgroundAppRefresh: Bool
        let foreground: Bool?
    }

    private let address: String
    private let authorization: @Sendable () -> String?

    init(address: String, authorization: @escaping @Sendable () -> String?) {
        self.address = address
        self.authorization = authorization
    }

    /// Posts JSON; whether the server took it. Tokens and signals that it did not take come again
    /// with the next launch; receipts are kept.
    @discardableResult
    func post(_ body: some Encodable & Sendable, to route: String) async -> Bool {
        guard let url = URL(string: address + "/" + route) else {
            assertionFailure("The server's address is no URL.")
            return false
        }
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        var request = URLRequest(url: url, timeoutInterval: Self.timeoutSeconds)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue(authorization(), forHTTPHeaderField: "Authorization")
        request.httpBody = try? encoder.encode(body)
        let answer = try? await URLSession.shared.data(for: request)
        guard let status = (answer?.1 as? HTTPURLResponse)?.statusCode else { return false }
        // What the server refuses as wrong it would refuse again.
        return status < 500 && status != 401 && status != 429
    }
}

// MARK: Receipts

/// The receipts that the server did not take yet. They are kept when the app ends, and posted with
/// the next one, or when the app comes to the foreground: all in one request, the oldest first.
@MainActor
final class KeptReceipts {
    /// The most that are kept: those of some days. The oldest go first.
    static let limit = 64
    private static let key = "RouseKeptReceipts"

    private let server: PushServer
    private var isPosting = false

    init(server: PushServer) { self.server = server }

    /// Keeps a receipt until the server has it.
    func post(_ receipt: PushServer.Receipt) async {
        save((kept + [receipt]).suffix(Self.limit))
        await postKept()
    }

    /// Posts all that are kept.
    func postKept() async {
        let receipts = kept
        // One that comes meanwhile is posted with the next.
        guard !receipts.isEmpty, !isPosting else { return }
        isPosting = true
        defer { isPosting = false }
        guard await server.post(["receipts": receipts], to: "receipts") else { return }
        let taken = Set(receipts.map(\.ref))
        save(kept.filter { !taken.contains($0.ref) })
    }

    private var kept: [PushServer.Receipt] {
        guard let data = UserDefaults.standard.data(forKey: Self.key) else { return [] }
        return (try? JSONDecoder().decode([PushServer.Receipt].self, from: data)) ?? []
    }

    private func save(_ receipts: some Sequence<PushServer.Receipt>) {
        UserDefaults.standard.set(try? JSONEncoder().encode(Array(receipts)), forKey: Self.key)
    }
}
