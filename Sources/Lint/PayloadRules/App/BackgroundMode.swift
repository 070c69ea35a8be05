// SPDX-License-Identifier: Apache-2.0

/// The values of `UIBackgroundModes` (Apple, UIBackgroundModes; facts §8.1).
public enum BackgroundMode: String, Hashable, Sendable, CaseIterable {
    case audio
    case location
    case voip
    case externalAccessory = "external-accessory"
    case bluetoothCentral = "bluetooth-central"
    case bluetoothPeripheral = "bluetooth-peripheral"
    case fetch
    case remoteNotification = "remote-notification"
    case processing
    case workoutProcessing = "workout-processing"
    case nearbyInteraction = "nearby-interaction"
    case pushToTalk = "push-to-talk"

    /// Names of Apple's frameworks, one of which source text must contain if the app needs the
    /// mode. Empty for modes with their own rules.
    public var featureNames: [String] {
        switch self {
        case .audio:
            [
                "AVAudioSession", "AVPlayer", "AVQueuePlayer", "AVAudioPlayer", "AVAudioEngine",
                "AVPlayerViewController", "AVPictureInPictureController", "MPNowPlayingInfoCenter",
                "MPRemoteCommandCenter", "ApplicationMusicPlayer", "AVAudioRecorder",
                "AVSpeechSynthesizer", "AVCaptureSession", "AVSampleBufferDisplayLayer",
                "AVPlayerLayer", "AVMIDIPlayer", "AudioQueueNewOutput", "AudioQueueNewInput",
                "AudioComponentInstanceNew", "AudioOutputUnitStart", "AUGraphStart",
                "MPMusicPlayerController", "MPMoviePlayerController", "SystemMusicPlayer",
                // Pages play too.
                "WKWebView", "UIWebView", "CAPBridgeViewController",
            ]
        case .location:
            [
                "CLLocationManager", "CLLocationUpdate", "CLBackgroundActivitySession", "CLMonitor",
                "CLServiceSession",
            ]
        case .externalAccessory: ["EAAccessoryManager", "EASession"]
        case .bluetoothCentral: ["CBCentralManager"]
        case .bluetoothPeripheral: ["CBPeripheralManager"]
        case .workoutProcessing: ["HKWorkoutSession"]
        case .nearbyInteraction: ["NISession"]
        case .pushToTalk: ["PTChannelManager"]
        case .voip, .fetch, .remoteNotification, .processing: []
        }
    }

    /// The beginnings of the keys of Info.plist of which iOS demands one before the app may use
    /// what the mode is for, whoever asks for it; empty if there is none.
    var requiredKeys: [String] {
        switch self {
        case .location: ["NSLocation"]
        case .bluetoothCentral, .bluetoothPeripheral: ["NSBluetooth"]
        case .nearbyInteraction: ["NSNearbyInteraction"]
        case .externalAccessory: ["UISupportedExternalAccessoryProtocols"]
        case .workoutProcessing: ["NSHealth"]
        case .audio, .voip, .fetch, .remoteNotification, .processing, .pushToTalk: []
        }
    }

    /// The modes in which an app runs in the background as long as their work lasts.
    static let running: Set<String> = Set(
        [
            audio, location, voip, externalAccessory, bluetoothCentral, bluetoothPeripheral,
            workoutProcessing, nearbyInteraction, pushToTalk,
        ]
        .map(\.rawValue))

    /// The values for features that the system no longer has, that Apple grants to single apps, or
    /// that only its own apps have.
    static let otherValues: Set = [
        "newsstand-content", "network-authentication", "continuous", "unboundedTaskCompletion",
    ]

    /// The mode that a misspelt one probably means: `remote-notifications`, `background-fetch`.
    static func near(_ text: String) -> BackgroundMode? {
        if let near = allCases.first(where: { NearMiss.isNear(text, $0.rawValue) }) { return near }
        let prefix = "background"
        guard text.lowercased().hasPrefix(prefix) else { return nil }
        let rest = text.lowercased().dropFirst(prefix.count).drop { !$0.isLetter }
        return allCases.first {
            rest == $0.rawValue || NearMiss.isNear(String(rest), $0.rawValue)
        }
    }
}

extension NearMiss {
    /// Whether a text differs from the known one, but probably means it.
    static func isNear(_ text: String, _ known: String) -> Bool {
        guard text != known, text.utf8.count <= 2 * known.utf8.count else { return false }
        let limit = known.utf8.count <= 6 ? 1 : 2
        return distance(
            letters(Array(text.utf8)[...]), letters(Array(known.utf8)[...]), limit: limit) != nil
    }
}
