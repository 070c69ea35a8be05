// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// What is taken for true of libraries of which only the name is known.
extension KnownLibraries {
    /// What a library may do of which only the name is known.
    ///
    /// Few have background tasks or fetch in the background, handle pushes or make calls, and most
    /// of these tell so by their names. A mode that nothing uses would be found in hardly any app
    /// otherwise.
    static func presumedUses(of library: String) -> ModuleUses {
        // The pods of React Native itself: `React-runtimescheduler`.
        let isOwn = library.hasPrefix("React-")
        let name = harmless.reduce(library.lowercased()) {
            $0.hasLetters($1) ? $0.replacing($1, with: "") : $0
        }
        let parts = parts(of: library)
        // The framework of an app in Kotlin, which may do anything.
        let isKotlin =
            ["kmp", "composeapp", "multiplatform"].contains(where: name.hasLetters)
            || name.split(separator: " ").contains("shared")
        func tells(_ words: [String], _ whole: Set<String> = []) -> Bool {
            !isOwn
                && (isKotlin || words.contains(where: name.hasLetters)
                    || !whole.isDisjoint(with: parts))
        }
        var uses = ModuleUses.all
        if !isKotlin { uses.remove(.endsOfTime) }
        if !tells(taskWords) { uses.remove(.likelyTasks) }
        if !tells(pushWords, shortPushWords) {
            uses.subtract([.likelyPushes, .likelyHandlers])
        }
        if !tells(callWords, shortCallWords) { uses.remove(.likelyCalls) }
        if !tells(transferWords, shortTransferWords) { uses.remove(.likelyTransfers) }
        if !tells(taskWords + locationWords, shortLocationWords) { uses.remove(.likelyLocations) }
        return uses
    }

    /// What has a word for something else in it, and tells of none of it.
    private static let harmless = [
        "appmetricaidsync", "appmetricasynchronization", "async", "leak_tracker",
        "matomo_tracker", "matomotracker", "shortcut", "split_view", "splitview", "sync_http",
        "synchronized", "tracking-transparency", "tracking_transparency", "trackingtransparency",
    ]

    /// The words that a name is made of, in lower case: `im` and `kit` of `IMKit`.
    private static func parts(of name: String) -> Set<String> {
        let letters = Array(name)
        var parts: [String] = [""]
        for (index, letter) in letters.enumerated() {
            let isStart =
                index > 0 && letter.isUppercase
                && (letters[index - 1].isLowercase
                    || index + 1 < letters.count && letters[index + 1].isLowercase)
            if isStart || !letter.isLetter { parts.append("") }
            if letter.isLetter { parts[parts.count - 1] += letter.lowercased() }
        }
        return Set(parts)
    }

    /// What is in the names of libraries that have background tasks, or may: for work later, for
    /// locations and sensors, and for contacts of a device with others; and the names of some that
    /// have them and do not tell so.
    private static let taskWords = [
        "airship", "alarm", "aware", "awesome_notifications", "background", "beacon", "bluedot",
        "cron", "downloader", "dp3t", "drivekit", "drivit", "exposure", "fetch", "geofenc",
        "geolocation", "geospark", "geotrigger", "getui", "gimbal", "healthsync", "ifttt",
        "intunemam", "job", "kumulos", "marketingcloud", "mindbox", "mobility", "motiontag",
        "new-relic", "newrelic", "onspot", "optimove", "periodic", "pilgrim", "radar", "raxel",
        "roam", "rook", "schedul", "sensing", "sentiance", "speedchecker", "spike", "split",
        "stream_video", "sync", "task", "telemat", "terra", "traccar", "tracing", "tracker",
        "tracking",
        "hypertrack", "tslocation", "tuskit", "uploader", "validic", "vital", "worker",
        "workmanager", "zendrive",
    ]

    /// The same of libraries that handle pushes: for messages and marketing, and those that keep
    /// data the same on several devices.
    private static let pushWords = [
        "acoustic", "adobe", "airship", "amplify", "apns", "appboy", "appcenter", "appcues",
        "azure", "bloomreach", "blueshift", "braze", "call", "catapush", "chat", "clevertap",
        "cloud", "connectycube", "cordial", "countly", "customer", "emarsys", "engage",
        "ensembles", "exponea", "firebase", "flybits", "freshchat", "getui", "gleap", "gtsdk",
        "harmony", "helpshift", "hypertrack", "icecream", "infobip", "insider", "intercom",
        "intune", "iterable",
        "jcore",
        "karte", "klaviyo", "kumulos", "leanplum", "linesdk", "localytics", "magicbell",
        "marketing", "messag",
        "mindbox", "mixpanel", "mobilisten", "moengage", "mparticle", "netmera", "nimsdk", "notif",
        "ometria", "onesignal", "optimove", "ortto", "pinpoint", "plotproject", "pubnub", "push",
        "pyze",
        "quickblox",
        "radar", "reteno", "rongcloud", "sailthru", "salesforce", "selligent", "sendbird", "sinch",
        "smartech", "sqlite-data", "sqlitedata", "stream", "swrve", "sync", "talk", "taplytics",
        "tealium", "tencent", "tpns",
        "tuikit", "twilio", "umeng", "vibes", "visilabs", "voice", "voip", "zendesk",
    ]

    /// Those of them that others have in their names.
    private static let shortPushWords: Set = [
        "ably", "aep", "batch", "cio", "fcm", "hms", "im", "line", "mdm", "nim", "parse",
        "repro", "rong", "sfmc", "xg",
    ]

    /// The same of libraries that make calls.
    private static let callWords = [
        "acrobits", "agora", "bandyer", "call", "chat", "chime", "cometchat", "communication",
        "conference",
        "connectycube", "dialer", "easemob", "hyphenate", "infobip", "jitsi", "linphone",
        "livekit", "mesibo", "netease", "nexmo", "nimsdk", "opentok", "pjsip", "plivo", "push",
        "quickblox",
        "ringcentral", "rongcloud", "rtc", "sendbird", "signalwire", "sinch", "softphone", "stream",
        "talk", "telnyx", "tencent", "tokbox", "tuikit", "twilio", "videosdk", "vidyo", "voice",
        "voip", "vonage", "voxeet", "voximplant", "webex", "whereby", "zego", "zoomsdk",
    ]

    /// Those of them that others have in their names.
    private static let shortCallWords: Set = [
        "daily", "im", "nim", "phone", "rong", "sip", "vox", "zoom",
    ]

    /// The same of libraries that transfer files in the background, or take the place of the app
    /// delegate.
    private static let transferWords = [
        "amplify", "appdelegate", "application", "aws", "azure", "background", "chat", "cloud",
        "download", "drive", "dropbox", "fetch", "file", "offline", "session", "storage", "sync",
        "transfer", "upload",
    ]

    /// Those of them that others have in their names.
    private static let shortTransferWords: Set = ["box", "hls", "im", "tus"]

    /// The same of libraries that ask for locations, besides those that may have background tasks.
    private static let locationWords = [
        "beacon", "geo", "indoor", "locat", "mapbox", "navigation", "navit", "place", "position",
        "proximity", "travel", "weather",
    ]

    /// Those of them that others have in their names.
    private static let shortLocationWords: Set = ["gps", "here", "map", "maps", "nav", "zone"]
}
