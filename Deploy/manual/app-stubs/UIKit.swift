// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase
//
// Stubs of UIKit: the declarations that ../app uses, after Apple's documentation, and nothing
// behind them. It exists so that the app's files can be type-checked where there is no Xcode.

@_exported import Foundation

#if canImport(FoundationNetworking)
@_exported import FoundationNetworking
#endif

@MainActor
open class UIResponder: NSObject {}

public enum UIBackgroundFetchResult: UInt, Sendable {
    case newData
    case noData
    case failed
}

public enum UIBackgroundRefreshStatus: Int, Sendable {
    case restricted
    case denied
    case available
}

@MainActor
open class UIApplication: UIResponder {
    public struct LaunchOptionsKey: Hashable, Sendable {}

    public class var shared: UIApplication { UIApplication() }
    public var backgroundRefreshStatus: UIBackgroundRefreshStatus { .available }
    public func registerForRemoteNotifications() {}

    public nonisolated class var didBecomeActiveNotification: NSNotification.Name { .init("1") }
    public nonisolated class var didEnterBackgroundNotification: NSNotification.Name { .init("2") }
    public nonisolated class var backgroundRefreshStatusDidChangeNotification: NSNotification.Name {
        .init("3")
    }
}

/// Its methods are optional in UIKit, and required here, so that a misspelt one is found.
@MainActor
public protocol UIApplicationDelegate: NSObjectProtocol {
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool
    func application(
        _ application: UIApplication,
        didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data)
    func application(
        _ application: UIApplication,
        didFailToRegisterForRemoteNotificationsWithError error: any Error)
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult
}

@MainActor
open class UIDevice: NSObject {
    public enum BatteryState: Int, Sendable {
        case unknown
        case unplugged
        case charging
        case full
    }

    public class var current: UIDevice { UIDevice() }
    public var isBatteryMonitoringEnabled: Bool {
        get { false }
        set {}
    }
    public var batteryLevel: Float { -1 }
    public var batteryState: BatteryState { .unknown }
}

#if !canImport(Darwin)
extension NSNotification.Name {
    public static let NSProcessInfoPowerStateDidChange = NSNotification.Name("4")
}

extension ProcessInfo {
    public var isLowPowerModeEnabled: Bool { false }
}
#endif
