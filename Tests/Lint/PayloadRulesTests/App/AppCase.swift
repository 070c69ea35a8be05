// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

/// Apps that break a rule, and apps that come close and keep it.
struct AppCase: Sendable, CustomTestStringConvertible {
    let rule: RuleID
    let words: String
    let facts: AppFacts
    /// How much the finding weighs; `nil` where there must be none.
    let severity: Severity?

    var testDescription: String { "\(rule) \(severity?.rawValue ?? "clean"): \(words)" }

    init(_ rule: RuleID, _ words: String, _ facts: AppFacts, _ severity: Severity?) {
        self.rule = rule
        self.words = words
        self.facts = facts
        self.severity = severity
    }

    /// One app that this source text was seen in.
    static func source(
        _ rule: RuleID, _ words: String, _ seen: [SourceObservation.Subject],
        info: [String: AppProperty.Value] = [:], sends: Set<ServerPush> = [], _ severity: Severity?
    ) -> AppCase {
        AppCase(rule, words, .app(sends, info: info, seen: seen), severity)
    }

    static let all: [AppCase] =
        waking + registration + entitlements + voip + extensions + scheduling + modes + background
}

extension AppFacts {
    /// The same, where what is sent is only assumed.
    static func assumed(_ facts: AppFacts) -> AppFacts {
        var facts = facts
        for index in facts.bundles.indices { facts.bundles[index].isOnlyAssumed = true }
        return facts
    }

    /// The same, where all source text is part of other targets too.
    static func shared(_ facts: AppFacts) -> AppFacts {
        var facts = facts
        for bundle in facts.bundles.indices {
            guard let sources = facts.bundles[bundle].sources else { continue }
            for index in sources.observations.indices {
                facts.bundles[bundle].sources?.observations[index].isShared = true
            }
        }
        return facts
    }

    /// The same, where all source text stands in `#if`, and the condition is one for iOS.
    static func conditional(_ facts: AppFacts, isBuiltForIOS: Bool = false) -> AppFacts {
        var facts = facts
        for bundle in facts.bundles.indices {
            guard let sources = facts.bundles[bundle].sources else { continue }
            for index in sources.observations.indices {
                facts.bundles[bundle].sources?.observations[index].isConditional = true
                facts.bundles[bundle].sources?.observations[index].isBuiltForIOS = isBuiltForIOS
            }
        }
        return facts
    }

    /// The same, where packages were not read, and all text of the apps themselves was.
    static func ownText(_ facts: AppFacts) -> AppFacts {
        var facts = facts
        for index in facts.bundles.indices {
            facts.bundles[index].sources?.unread = .all
        }
        return facts
    }

    /// One app. What is `nil` is not known.
    static func app(
        _ sends: Set<ServerPush> = [], info: [String: AppProperty.Value]? = nil,
        entitlements: [String: AppProperty.Value]? = nil,
        seen: [SourceObservation.Subject]? = nil, isComplete: Bool = true,
        platform: AppPlatform? = .iOS, deploymentTarget: String? = nil, isExported: Bool = false,
        storefronts: Set<String> = [], extensions: [Bundle] = []
    ) -> AppFacts {
        let app = Bundle.sample(
            "App", .app, platform: platform, identifier: "com.example.app",
            deploymentTarget: deploymentTarget, info: info, entitlements: entitlements, seen: seen,
            isComplete: isComplete, isExported: isExported)
        return AppFacts(sends: sends, storefronts: storefronts, bundles: [app] + extensions)
    }
}

extension AppFacts.Bundle {
    static func sample(
        _ name: String, _ role: Role = .appExtension, platform: AppPlatform? = .iOS,
        identifier: String? = nil, deploymentTarget: String? = nil,
        info: [String: AppProperty.Value]? = nil, entitlements: [String: AppProperty.Value]? = nil,
        seen: [SourceObservation.Subject]? = nil, isComplete: Bool = true, isExported: Bool = false
    ) -> AppFacts.Bundle {
        let infoPlace = AppPlace(file: name + "/Info.plist")
        return AppFacts.Bundle(
            name: name, role: role, platform: platform,
            identifier: identifier.map { Located($0, at: infoPlace) },
            deploymentTarget: deploymentTarget.flatMap { SystemVersion($0) }.map {
                Located($0, at: infoPlace)
            },
            info: info.map { AppProperties(properties($0, infoPlace), at: infoPlace) },
            entitlements: entitlements.map {
                let place = AppPlace(file: name + ".entitlements")
                return .known(AppProperties(properties($0, place), at: place))
            } ?? .unknown,
            host: role == .app ? nil : "App", isExported: isExported,
            sources: seen.map { subjects in
                let observations = subjects.enumerated().map { index, subject in
                    SourceObservation(
                        subject,
                        at: AppPlace(file: name + ".swift", line: index + 1, offset: index))
                }
                return AppFacts.Sources(observations, isOwnComplete: isComplete)
            })
    }

    private static func properties(
        _ values: [String: AppProperty.Value], _ file: AppPlace
    ) -> [String: AppProperty] {
        var place = file
        var properties: [String: AppProperty] = [:]
        for (key, value) in values {
            place.pointer = "/" + key
            properties[key] = AppProperty(value, at: place)
        }
        return properties
    }
}

extension AppProperty.Value {
    /// An array of texts.
    static func list(_ texts: String...) -> AppProperty.Value {
        .array(texts.map { AppProperty(.string($0), at: AppPlace(file: "Info.plist")) })
    }

    /// A dictionary of texts.
    static func members(_ texts: [String: String]) -> AppProperty.Value {
        .dictionary(
            texts.mapValues { AppProperty(.string($0), at: AppPlace(file: "Info.plist")) })
    }

    /// `UIApplicationSceneManifest` with a scene of this role.
    static func sceneManifest(_ role: String) -> [String: AppProperty.Value] {
        let place = AppPlace(file: "Info.plist")
        let roles = AppProperty.Value.dictionary([role: AppProperty(.list("x"), at: place)])
        return [
            "UIApplicationSceneManifest": .dictionary([
                "UISceneConfigurations": AppProperty(roles, at: place)
            ])
        ]
    }

    /// `UIBackgroundModes` with these modes.
    static func modes(_ modes: String...) -> [String: AppProperty.Value] {
        [
            "UIBackgroundModes": .array(
                modes.map { AppProperty(.string($0), at: AppPlace(file: "App/Info.plist")) })
        ]
    }
}

typealias Plist = AppProperty.Value
