// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase
//
// Stubs of PushKit; see UIKit.swift.

public import Dispatch
public import Foundation

open class PKPushRegistry: NSObject {
    public init(queue: DispatchQueue?) {}
    public weak var delegate: (any PKPushRegistryDelegate)? {
        get { nil }
        set {}
    }
    public var desiredPushTypes: Set<PKPushType>? {
        get { nil }
        set {}
    }
}

public struct PKPushType: Hashable, Sendable {
    public static let voIP = PKPushType()
}

open class PKPushCredentials: NSObject {
    public var token: Data { Data() }
}

open class PKPushPayload: NSObject {
    public var dictionaryPayload: [AnyHashable: Any] { [:] }
}

public final class PKVoIPPushMetadata: NSObject, Sendable {
    public var mustReport: Bool { true }
}

/// Its methods but the first are optional in PushKit, and required here.
public protocol PKPushRegistryDelegate: NSObjectProtocol {
    func pushRegistry(
        _ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials,
        for type: PKPushType)
    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload,
        for type: PKPushType, completion: @escaping @Sendable () -> Void)
    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingVoIPPushWith payload: PKPushPayload,
        metadata: PKVoIPPushMetadata,
        withCompletionHandler completion: @escaping @Sendable () -> Void)
}
