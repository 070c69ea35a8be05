// SPDX-License-Identifier: Apache-2.0

// The profiles that Rouse ships.
extension DayProfile {
    /// All profiles, in the order of reports.
    public static let known: [DayProfile] = [
        commuter, nightOwl, rarelyOpened, alwaysCharging, lowPowerModeHeavy, forceQuitter,
    ]

    /// The profile with this name; `nil` if there is none.
    public static func named(_ name: String) -> DayProfile? {
        known.first { $0.name == name }
    }

    /// Commutes to work through tunnels, and charges overnight.
    public static let commuter: DayProfile = {
        var profile = DayProfile(
            name: "commuter",
            summary: "To work and back with tunnels on the way; charged over night, used often.")
        profile.night = Span(from: 22 * 60 + 45, to: 6 * 60 + 30)
        profile.charging = [Span(from: 22 * 60 + 30, to: 6 * 60 + 40)]
        profile.awayFromWiFi = [
            Span(from: 7 * 60 + 30, to: 8 * 60 + 30), Span(from: 17 * 60, to: 18 * 60 + 15),
        ]
        profile.offline = [
            Span(from: 7 * 60 + 45, to: 7 * 60 + 55, jitter: 8),
            Span(from: 17 * 60 + 20, to: 17 * 60 + 32, jitter: 8),
        ]
        return profile
    }()

    /// Awake until 3 a.m., charges during the day, and uses Low Power Mode late at night.
    public static let nightOwl: DayProfile = {
        var profile = DayProfile(
            name: "night-owl",
            summary: "Awake until three; charged in the afternoon, saving power late at night.")
        profile.night = Span(from: 3 * 60, to: 11 * 60, jitter: 60)
        profile.charging = [Span(from: 14 * 60, to: 16 * 60 + 30, jitter: 45)]
        profile.savesPowerWhenLow = true
        profile.drainPermillePerHour = 45
        profile.pickupsPerHour = 7
        profile.appOpensPerWeek = 50
        return profile
    }()

    /// The user opens the app every ten days.
    public static let rarelyOpened: DayProfile = {
        var profile = DayProfile(
            name: "rarely-opened",
            summary: "The app is opened less than once a week; wakes are its only news.")
        profile.charging = [Span(from: 23 * 60, to: 7 * 60)]
        profile.awayFromWiFi = [Span(from: 12 * 60, to: 13 * 60 + 30, probability: 0.6)]
        profile.appOpensPerWeek = 1
        profile.pickupsPerHour = 4
        return profile
    }()

    /// A tablet that is always on the charger.
    public static let alwaysCharging: DayProfile = {
        var profile = DayProfile(
            name: "always-charging",
            summary: "A tablet in its dock: always charged, always on Wi-Fi, seldom touched.")
        profile.charging = [Span(from: 0, to: 24 * 60, jitter: 0)]
        profile.pickupsPerHour = 1
        profile.pickupSeconds = 300
        profile.appOpensPerWeek = 10
        profile.otherPushesPerHour = 2
        profile.otherPushesPerNightHour = 0
        return profile
    }()

    /// Low Power Mode for much of the day.
    public static let lowPowerModeHeavy: DayProfile = {
        var profile = DayProfile(
            name: "low-power-mode-heavy",
            summary:
                "An old battery: Low Power Mode for much of the day, and below 20 % by evening."
        )
        profile.charging = [Span(from: 23 * 60, to: 6 * 60, jitter: 45)]
        profile.lowPowerMode = [Span(from: 10 * 60, to: 18 * 60, jitter: 90, probability: 0.8)]
        profile.savesPowerWhenLow = true
        profile.drainPermillePerHour = 60
        return profile
    }()

    /// The user removes apps from the app switcher after use.
    public static let forceQuitter: DayProfile = {
        var profile = DayProfile(
            name: "force-quitter",
            summary: "Removes the app from the app switcher after two uses in three.")
        profile.charging = [Span(from: 23 * 60 + 30, to: 7 * 60)]
        profile.forceQuitProbability = 0.67
        profile.appOpensPerWeek = 28
        return profile
    }()
}
