// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase
//
// Stubs of CallKit; see UIKit.swift.

public import Dispatch
public import Foundation

open class CXProviderConfiguration: NSObject {
    public var maximumCallGroups: Int {
        get { 0 }
        set {}
    }
    public var supportedHandleTypes: Set<CXHandle.HandleType> {
        get { [] }
        set {}
    }
    public override init() {}
}

open class CXHandle: NSObject {
    public enum HandleType: Int, Sendable {
        case generic = 1
        case phoneNumber
        case emailAddress
    }

    public init(type: HandleType, value: String) {}
}

open class CXCallUpdate: NSObject {
    public var remoteHandle: CXHandle? {
        get { nil }
        set {}
    }
    public var hasVideo: Bool {
        get { false }
        set {}
    }
    public override init() {}
}

public enum CXCallEndedReason: Int, Sendable {
    case failed = 1
    case remoteEnded
    case unanswered
    case answeredElsewhere
    case declinedElsewhere
}

open class CXCallAction: NSObject {
    public var callUUID: UUID { UUID() }
    public func fulfill() {}
}

open class CXAnswerCallAction: CXCallAction {}
open class CXEndCallAction: CXCallAction {}

open class CXProvider: NSObject {
    public init(configuration: CXProviderConfiguration) {}
    public func setDelegate(_ delegate: (any CXProviderDelegate)?, queue: DispatchQueue?) {}
    public func reportNewIncomingCall(
        with UUID: UUID, update: CXCallUpdate,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {}
    public func reportCall(
        with UUID: UUID, endedAt dateEnded: Date?, reason endedReason: CXCallEndedReason
    ) {}
}

/// Its methods but the first are optional in CallKit, and required here.
public protocol CXProviderDelegate: NSObjectProtocol {
    func providerDidReset(_ provider: CXProvider)
    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction)
    func provider(_ provider: CXProvider, perform action: CXEndCallAction)
}
