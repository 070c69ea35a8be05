// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Widely used libraries whose source text was looked through, so that it counts as read, or as
/// read for the rules about what they do not do.
///
/// Most of them do not handle or ask for pushes or calls, register or request background tasks,
/// fetch in the background, have the app delegate's function for events of background sessions, or
/// exchange methods of the app delegate; nor do the libraries that they bring along. Of others the
/// name alone is known.
enum KnownLibraries {
    /// What a pod of this name may do, or one of its parts: `Firebase/Auth`.
    static func uses(of pod: String) -> ModuleUses {
        uses[pod] ?? uses[String(pod.prefix { $0 != "/" })] ?? presumedUses(of: pod)
    }

    /// What a module may do that source text imports: `GRDB` is of the pod `GRDB.swift`.
    static func uses(ofModule name: String) -> ModuleUses {
        uses[name] ?? uses[name + ".swift"] ?? .all
    }

    /// What a pod of this name may do that is built from the repository at this address.
    static func uses(of pod: String, from address: String) -> ModuleUses {
        guard let repository = repository(address) else { return .all }
        let own = repositories[String(pod.prefix { $0 != "/" })]
        return own == repository ? uses(of: pod) : presumedUses(of: pod)
    }

    /// What a product of a package may do, by the address of its repository; without a product,
    /// what the whole package may.
    static func uses(ofProduct product: String?, of address: String) -> ModuleUses {
        guard let repository = repository(address) else { return .all }
        guard let uses = packages[repository] else {
            let name = address.split { "/:".contains($0) }.last ?? ""
            let own = name.hasSuffix(".git") ? name.dropLast(4) : name
            return presumedUses(of: own + " " + (product ?? ""))
        }
        guard let product else { return uses.reduce(into: []) { $0.formUnion($1.value) } }
        return uses[product] ?? uses[""] ?? .all
    }

    /// The owner and the name in an address such as `https://github.com/owner/name.git`, in lower
    /// case; `nil` for other hosts.
    private static func repository(_ address: String) -> String? {
        let text = address.lowercased().replacing(":", with: "/")
        let parts = text.split(separator: "/")
        guard let host = parts.firstIndex(where: { $0 == "github.com" || $0 == "git@github.com" }),
            host < 2, parts.count == host + 3
        else { return nil }
        let name = parts[host + 2]
        return parts[host + 1] + "/" + (name.hasSuffix(".git") ? name.dropLast(4) : name)
    }

    /// The repositories, in lower case, by the names of their pods.
    private static let repositories: [String: String] = rows.reduce(into: [:]) { found, row in
        for pod in row.names { found[pod] = row.repository }
    }

    /// What pods may do, by their names.
    private static let uses: [String: ModuleUses] = rows.reduce(into: [:]) { found, row in
        for pod in row.names { found[pod] = row.uses }
    }

    /// What the products of packages may do, by their repositories, in lower case, and their names.
    /// A package that does nothing has any product, with an empty name.
    private static let packages: [String: [String: ModuleUses]] = rows.reduce(into: [:]) {
        found, row in
        for name in row.holdsAll ? [""] : row.names {
            found[row.repository, default: [:]][name] = row.uses
        }
    }

    /// A line of one of the tables.
    private struct Row {
        let repository: String
        let names: [String]
        let uses: ModuleUses
        /// Whether the same is true of all that is in the repository.
        let holdsAll: Bool
    }

    private static let rows: [Row] =
        idle.split(separator: "\n").map { line in
            let words = line.split(separator: " ").map(String.init)
            return Row(
                repository: words[0].lowercased(), names: Array(words.dropFirst(2)), uses: [],
                holdsAll: true)
        }
        + others.split(separator: "\n").map { line in
            let words = line.split(separator: " ").map(String.init)
            return Row(
                repository: words[0].lowercased(), names: Array(words.dropFirst(3)),
                uses: uses(marked: words[2]), holdsAll: false)
        }

    /// What the marks of a library stand for.
    private static func uses(marked marks: String) -> ModuleUses {
        marks.reduce(into: []) { uses, mark in
            switch mark {
            case "c": uses.formUnion([.calls, .likelyCalls])
            case "p": uses.formUnion([.pushes, .likelyPushes, .likelyHandlers])
            case "r": uses.formUnion([.pushes, .likelyPushes])
            case "b": uses.formUnion([.tasks, .likelyTasks])
            case "s": uses.formUnion([.transfers, .likelyTransfers])
            case "t": uses.insert(.time)
            case "f": uses.formUnion([.features, .likelyLocations])
            case "-": break
            default: uses.formUnion(.all)
            }
        }
    }

    /// On each line a repository of GitHub, the version that was looked at, and the names of pods.
    ///
    /// The version is that of the copy of the repository that was read: a tag, or a commit where
    /// there is none. Of Flutter's engine it was the base class of app delegates alone.
    private static let idle = """
        1024jp/GzipSwift 6.1.0 GzipSwift
        abseil/abseil-cpp 0.20200225.0 abseil
        AFNetworking/AFNetworking 4.0.1 AFNetworking
        airbnb/lottie-ios 4.6.1 lottie-ios
        Alamofire/Alamofire 5.12.0 Alamofire
        alibaba/HandyJSON 5.0.4-beta HandyJSON
        AliSoftware/OHHTTPStubs 9.1.0 OHHTTPStubs
        AliSoftware/Reusable 4.1.2 Reusable
        apollographql/apollo-ios 2.4.0 Apollo
        apple/swift-algorithms 1.2.0
        apple/swift-argument-parser 1.8.2
        apple/swift-asn1 1.7.0
        apple/swift-async-algorithms 1.1.5
        apple/swift-atomics 1.3.1
        apple/swift-collections 1.6.0
        apple/swift-crypto 4.5.0
        apple/swift-http-types 1.6.0
        apple/swift-log 1.14.0
        apple/swift-nio 2.101.3
        apple/swift-numerics 0.1.0
        apple/swift-protobuf 1.38.1 SwiftProtobuf
        apple/swift-system 1.8.0
        ashleymills/Reachability.swift 5.2.4 ReachabilitySwift
        AssistoLab/DropDown 2.3.13 DropDown
        auth0/JWTDecode.swift 4.0.0 JWTDecode
        Baseflow/flutter-geocoding ddcf74e geocoding geocoding_ios
        Baseflow/flutter-permission-handler adaa811 permission_handler_apple
        bugsnag/bugsnag-cocoa 6.37.0 Bugsnag BugsnagNetworkRequestPlugin
        cbpowell/MarqueeLabel 4.5.3 MarqueeLabel
        ccgus/fmdb 2.7.12 FMDB
        cezheng/Fuzi 3.1.3 Fuzi
        ChartsOrg/Charts 5.1.0 Charts DGCharts
        CocoaLumberjack/CocoaLumberjack 3.9.1 CocoaLumberjack
        CoderMJLee/MJExtension 3.4.2 MJExtension
        CoderMJLee/MJRefresh 3.7.9 MJRefresh
        cph-cachet/flutter-plugins 182a141 health
        daltoniam/Starscream 4.0.8 Starscream
        Daltron/NotificationBanner 4.0.0 NotificationBannerSwift
        danielgindi/Charts 5.1.0
        DaveWoodCom/XCGLogger 7.1.5 ObjcExceptionBridging XCGLogger
        deniza/app_tracking_transparency 2dd7ebd app_tracking_transparency
        devicekit/DeviceKit 5.8.0 DeviceKit
        drmohundro/SWXMLHash 8.1.1 SWXMLHash
        dzenbot/DZNEmptyDataSet 1.8.1 DZNEmptyDataSet
        erikdoe/ocmock 3.9.4 OCMock
        evgenyneu/keychain-swift 24.0.0 KeychainSwift
        facebookincubator/SocketRocket 0.7.1 SocketRocket
        Flipboard/FLAnimatedImage 1.0.17 FLAnimatedImage
        flutter/engine 0024430 Flutter FlutterMacOS
        flutter/packages 6bb3423 path_provider_foundation shared_preferences_foundation
        flutter/packages 6bb3423 url_launcher_ios image_picker_ios webview_flutter_wkwebview
        flutter/packages 6bb3423 file_selector_ios local_auth_darwin quick_actions_ios
        flutter/packages 6bb3423 pointer_interceptor_ios
        fluttercommunity/plus_plugins 13e1704 package_info_plus device_info_plus connectivity_plus
        fluttercommunity/plus_plugins 13e1704 share_plus battery_plus sensors_plus
        fluttercommunity/wakelock_plus 196dc93 wakelock_plus
        getsentry/sentry-cocoa c34c99b Sentry SentryPrivate SentrySwiftUI
        gonzalezreal/NetworkImage 6.0.1
        gonzalezreal/swift-markdown-ui 2.4.1
        google/app-check 3c6d658 AppCheckCore
        google/boringssl 0.0.7 BoringSSL-GRPC
        google/interop-ios-for-google-sdks 101.0.0 RecaptchaInterop
        google/leveldb 78a352f leveldb-library
        google/promises 2.4.1 PromisesObjC PromisesSwift
        groue/GRDB.swift 7.8.0 GRDB.swift
        grpc/grpc 1.28.2 gRPC-C++ gRPC-Core
        hackiftekhar/IQKeyboardCore 1.0.8 IQKeyboardCore
        hackiftekhar/IQKeyboardManager 8.0.2 IQKeyboardManager IQKeyboardManagerSwift
        hackiftekhar/IQKeyboardNotification 1.0.7 IQKeyboardNotification
        hackiftekhar/IQKeyboardReturnManager 1.0.6 IQKeyboardReturnManager
        hackiftekhar/IQKeyboardToolbar 1.1.5 IQKeyboardToolbar
        hackiftekhar/IQKeyboardToolbarManager 1.1.6 IQKeyboardToolbarManager
        hackiftekhar/IQTextInputViewNotification 1.0.9 IQTextInputViewNotification
        hackiftekhar/IQTextView 1.0.5 IQTextView
        huri000/SwiftEntryKit 2.0.0 SwiftEntryKit
        ibireme/YYModel 1.0.4 YYModel
        Instagram/IGListKit e3facbe IGListKit IGListDiffKit IGListSwiftKit
        iwasrobbed/Down 0.11.0 Down
        iziz/libPhoneNumber-iOS 1.3.0 libPhoneNumber-iOS libPhoneNumberGeocoding
        iziz/libPhoneNumber-iOS 1.3.0 libPhoneNumberShortNumber
        jdg/MBProgressHUD 1.1.0 MBProgressHUD
        JonasGessner/JGProgressHUD 2.2.0 JGProgressHUD
        jonbhanson/flutter_native_splash 2.4.7 flutter_native_splash
        jonkykong/SideMenu 6.5.0 SideMenu
        jpsim/Yams 6.2.1 Yams
        jrendel/SwiftKeychainWrapper 4.0.1 SwiftKeychainWrapper
        juliansteenbakker/flutter_secure_storage 10.2.0 flutter_secure_storage
        juliansteenbakker/flutter_secure_storage 10.2.0 flutter_secure_storage_darwin
        kean/Nuke 13.2.0 Nuke
        kirualex/SwiftyGif 5.4.5 SwiftyGif
        kishikawakatsumi/KeychainAccess 4.2.2 KeychainAccess
        krzyzanowskim/CryptoSwift 1.10.0 CryptoSwift
        llfbandit/app_links 7.0.0 app_links
        madebybowtie/FlagKit 2.4.0 FlagKit
        MaikuB/flutter_local_notifications 46133c8 flutter_local_notifications
        malcommac/SwiftDate 7.0.0 SwiftDate
        markiv/SwiftUI-Shimmer 1.4.3 SwiftUI-Shimmer
        marmelroy/PhoneNumberKit 4.2.11 PhoneNumberKit
        marmelroy/Zip 2.1.2 Zip
        MessageKit/MessageKit 5.0.0 MessageKit
        miguelpruivo/flutter_file_picker 12.0.0 file_picker file_picker_darwin
        Moya/Moya 15.0.3 Moya
        mrousavy/react-native-tracking-transparency 8026a7d react-native-tracking-transparency
        mxcl/PromiseKit 8.2.0 PromiseKit
        nanopb/nanopb d21fa50 nanopb
        nathantannar4/InputBarAccessoryView 7.0.6 InputBarAccessoryView
        nicklockwood/FXPageControl 1.6 FXPageControl
        ninjaprox/NVActivityIndicatorView 5.2.0 NVActivityIndicatorView
        onevcat/Kingfisher 8.11.0 Kingfisher
        openid/AppAuth-iOS 2.1.0 AppAuth
        pkluz/PKHUD 5.4.0 PKHUD
        pointfreeco/combine-schedulers 1.2.0
        pointfreeco/composable-core-location d007558
        pointfreeco/swift-case-paths 1.9.1
        pointfreeco/swift-clocks 1.0.6
        pointfreeco/swift-composable-architecture 1.25.5
        pointfreeco/swift-concurrency-extras 1.4.0
        pointfreeco/swift-custom-dump 1.6.0
        pointfreeco/swift-dependencies 1.16.0
        pointfreeco/swift-identified-collections 1.1.1
        pointfreeco/swift-navigation 2.11.0
        pointfreeco/swift-perception 2.0.9
        pointfreeco/xctest-dynamic-overlay 1.2.2
        ponnamkarthik/FlutterToast a7b5fdf fluttertoast
        PureLayout/PureLayout 3.1.9 PureLayout
        Quick/Nimble 14.0.0 Nimble
        Quick/Quick 7.6.2 Quick
        ra1028/DifferenceKit 1.3.0 DifferenceKit
        raspu/Highlightr 2.3.0 Highlightr
        ReactiveCocoa/ReactiveObjC 1af6617 ReactiveObjC
        ReactiveCocoa/ReactiveSwift 7.2.1 ReactiveSwift
        ReactiveX/RxSwift 6.10.2 RxSwift RxCocoa RxRelay RxBlocking RxTest
        realm/realm-swift 10.54.6 Realm RealmSwift
        RNCryptor/RNCryptor 5.1.0 RNCryptor
        robbiehanson/CocoaAsyncSocket 7.6.5 CocoaAsyncSocket
        robbiehanson/KissXML 5.3.3 KissXML
        robbiehanson/XMPPFramework 7d4dd1f XMPPFramework
        RxSwiftCommunity/RxDataSources 5.0.2 Differentiator RxDataSources
        scalessec/Toast-Swift 5.1.1 Toast-Swift
        scenee/FloatingPanel 3.2.2 FloatingPanel
        scinfu/SwiftSoup 2.13.6 SwiftSoup
        SDWebImage/libwebp-Xcode 1.5.0 libwebp
        SDWebImage/SDWebImage 5.21.5 SDWebImage
        SDWebImage/SDWebImageSwiftUI 3.1.3 SDWebImageSwiftUI
        SDWebImage/SDWebImageWebPCoder 0.15.0 SDWebImageWebPCoder
        SFSafeSymbols/SFSafeSymbols 5.2.0 SFSafeSymbols
        sindresorhus/Defaults 9.0.9
        siteline/swiftui-introspect 9c0d0a2
        Skyscanner/SkyFloatingLabelTextField 4.0.0 SkyFloatingLabelTextField
        SnapKit/Masonry 1.1.0 Masonry
        SnapKit/SnapKit 5.7.1 SnapKit
        socketio/socket.io-client-swift 16.1.1 Socket.IO-Client-Swift
        soffes/SAMKeychain 1.5.3 SAMKeychain
        stephencelis/SQLite.swift 0.16.0 SQLite.swift
        supabase/supabase-swift 52eec30
        SVProgressHUD/SVProgressHUD 2.3.1 SVProgressHUD
        SwiftKickMobile/SwiftMessages 10.0.2 SwiftMessages
        SwiftyBeaver/SwiftyBeaver 2.1.1 SwiftyBeaver
        SwiftyJSON/SwiftyJSON 5.0.2 SwiftyJSON
        Swinject/Swinject 2.10.0 Swinject
        SwipeCellKit/SwipeCellKit 2.7.0 SwipeCellKit
        tekartik/sqflite 7d325da sqflite sqflite_darwin
        TimOliver/TOCropViewController 3.2.0 CropViewController TOCropViewController
        tristanhimmelman/ObjectMapper 4.4.3 ObjectMapper
        twostraws/CodeScanner 2.5.2
        vikmeup/SCLAlertView-Swift 0.8.2 SCLAlertView
        weichsel/ZIPFoundation 0.9.19 ZIPFoundation
        WenchaoD/FSCalendar 2.8.4 FSCalendar
        xmartlabs/Eureka 5.5.0 Eureka
        xmartlabs/XLPagerTabStrip 9.1.0 XLPagerTabStrip
        yannickl/QRCodeReader.swift 10.1.1 QRCodeReader.swift
        zhangao0086/DKCamera 1.6.7 DKCamera
        zhangao0086/DKImagePickerController 4.3.6 DKImagePickerController
        zhangao0086/DKPhotoGallery 0.0.16 DKPhotoGallery
        ZipArchive/ZipArchive 2.6.0 SSZipArchive
        """

    /// The same of libraries of which some do one of these things, with marks in front of the pods
    /// and products, for what they bring along too: `p` registers for pushes or handles them, `r`
    /// does so and leaves silent ones to the app delegate (GoogleUtilities adds a handler to none
    /// that has none), `b` has background tasks or fetches, `s` has background sessions or their
    /// events, `t` asks for time, `f` has the features of other modes, `c` is for calls, `-` does
    /// nothing.
    ///
    /// Of the binaries for analytics, the frameworks were looked at that their specifications link:
    /// none is for calls or background tasks.
    private static let others = """
        Agontuk/react-native-geolocation-service 87448a0 f react-native-geolocation-service
        Baseflow/flutter-geolocator 6eb56a65 f geolocator geolocator_apple
        capawesome-team/capacitor-firebase 8d65ad12 r @capacitor-firebase/messaging
        capawesome-team/capacitor-firebase 8d65ad12 r CapacitorFirebaseMessaging
        capawesome-team/capacitor-firebase 8d65ad12 pst @capacitor-firebase/authentication
        capawesome-team/capacitor-firebase 8d65ad12 pst CapacitorFirebaseAuthentication
        capawesome-team/capacitor-firebase 8d65ad12 rst @capacitor-firebase/storage
        capawesome-team/capacitor-firebase 8d65ad12 rst CapacitorFirebaseStorage
        capawesome-team/capacitor-firebase 8d65ad12 rstf @capacitor-firebase/analytics
        capawesome-team/capacitor-firebase 8d65ad12 rstf CapacitorFirebaseAnalytics
        capawesome-team/capacitor-firebase 8d65ad12 t @capacitor-firebase/crashlytics
        capawesome-team/capacitor-firebase 8d65ad12 t CapacitorFirebaseCrashlytics
        capawesome-team/capacitor-firebase 8d65ad12 t @capacitor-firebase/performance
        capawesome-team/capacitor-firebase 8d65ad12 t CapacitorFirebasePerformance
        facebook/facebook-ios-sdk c00e9e0 t FBSDKCoreKit FBSDKLoginKit FBSDKShareKit
        facebook/facebook-ios-sdk c00e9e0 t FacebookCore FacebookLogin FacebookShare
        facebook/facebook-ios-sdk c00e9e0 - FBAEMKit FBSDKCoreKit_Basics FacebookAEM FacebookBasics
        firebase/firebase-ios-sdk 12.19.0 rst Firebase/Auth Firebase/Messaging Firebase/Storage
        firebase/firebase-ios-sdk 12.19.0 rst FirebaseAuth FirebaseMessaging FirebaseStorage
        firebase/firebase-ios-sdk 12.19.0 rs FirebaseAppDistribution FirebaseInstanceID
        firebase/firebase-ios-sdk 12.12.1 rs FirebaseAppDistribution-Beta
        firebase/firebase-ios-sdk 12.12.1 rst FirebaseAuthCombine-Community
        firebase/firebase-ios-sdk 12.12.1 rst FirebaseStorageCombine-Community
        firebase/firebase-ios-sdk 12.12.1 st FirebaseFunctionsCombine-Community
        firebase/firebase-ios-sdk 12.12.1 - FirebaseFirestoreCombine-Community
        firebase/firebase-ios-sdk 12.12.1 - FirebaseInAppMessaging-Beta
        firebase/firebase-ios-sdk 9.6.0 rstf FirebaseAnalyticsOnDeviceConversion
        firebase/firebase-ios-sdk 12.19.0 st Firebase/Functions FirebaseFunctions
        firebase/firebase-ios-sdk 12.19.0 t Firebase/Crashlytics Firebase/Database
        firebase/firebase-ios-sdk 12.19.0 t Firebase/Performance
        firebase/firebase-ios-sdk 12.19.0 t FirebaseCrashlytics FirebaseDatabase FirebasePerformance
        firebase/firebase-ios-sdk 12.19.0 t FirebaseSessions
        firebase/firebase-ios-sdk 10.29.0 t FirebaseDatabaseSwift
        firebase/firebase-ios-sdk 10.29.0 - FirebaseFirestoreSwift FirebaseRemoteConfigSwift
        firebase/firebase-ios-sdk 12.19.0 - Firebase/CoreOnly Firebase/Firestore
        firebase/firebase-ios-sdk 12.19.0 - Firebase/RemoteConfig
        firebase/firebase-ios-sdk 12.19.0 - FirebaseABTesting FirebaseAI FirebaseAILogic
        firebase/firebase-ios-sdk 12.19.0 - FirebaseAppCheck
        firebase/firebase-ios-sdk 12.19.0 - FirebaseAppCheckInterop FirebaseAuthInterop FirebaseCore
        firebase/firebase-ios-sdk 12.19.0 - FirebaseCoreExtension FirebaseCoreInternal
        firebase/firebase-ios-sdk 12.19.0 - FirebaseFirestore FirebaseFirestoreInternal
        firebase/firebase-ios-sdk 12.19.0 - FirebaseInAppMessaging FirebaseInstallations
        firebase/firebase-ios-sdk 12.19.0 - FirebaseMessagingInterop FirebaseMLModelDownloader
        firebase/firebase-ios-sdk 12.19.0 - FirebaseRemoteConfig FirebaseRemoteConfigInterop
        firebase/firebase-ios-sdk 12.19.0 - FirebaseSharedSwift
        firebase/firebase-ios-sdk 11.15.0 - Firebase/DynamicLinks FirebaseDynamicLinks
        firebase/firebase-ios-sdk 13.0.0 rstf Firebase Firebase/Analytics Firebase/Core
        firebase/firebase-ios-sdk 13.0.0 rstf FirebaseAnalytics
        firebase/firebase-ios-sdk 13.0.0 rstf FirebaseAnalyticsCore FirebaseAnalyticsSwift
        firebase/firebase-ios-sdk 13.0.0 rstf FirebaseAnalyticsIdentitySupport
        firebase/firebase-ios-sdk 13.0.0 rstf FirebaseAnalyticsWithoutAdIdSupport
        firebase/firebase-ios-sdk 13.0.0 rstf GoogleAppMeasurement
        FLEXTool/FLEX 63a6f58 p FLEX
        google/GoogleDataTransport 10.1.1 t GoogleDataTransport
        google/GoogleSignIn-iOS 4d94ec7 st GoogleSignIn GoogleSignInSwift GoogleSignInSwiftSupport
        google/GoogleUtilities 8.1.2 rs GoogleUtilities GoogleUtilities/AppDelegateSwizzler
        google/GoogleUtilities 8.1.2 s GoogleUtilities/Network
        google/GoogleUtilities 8.1.2 - GoogleUtilities/Environment GoogleUtilities/Logger
        google/GoogleUtilities 8.1.2 - GoogleUtilities/MethodSwizzler GoogleUtilities/NSData+zlib
        google/GoogleUtilities 8.1.2 - GoogleUtilities/Privacy GoogleUtilities/Reachability
        google/GoogleUtilities 8.1.2 - GoogleUtilities/UserDefaults
        google/gtm-session-fetcher 02c6870 st GTMSessionFetcher
        google/GTMAppAuth 58feec4 st GTMAppAuth
        ibireme/YYKit 4e1bd1c t YYKit
        ionic-team/capacitor-plugins 5b652926 r @capacitor/push-notifications
        ionic-team/capacitor-plugins 5b652926 r CapacitorPushNotifications
        joltup/rn-fetch-blob dcbde6f s rn-fetch-blob
        Lyokone/flutterlocation 31a8aa0 f location
        michalchudziak/react-native-geolocation 17b38b4 f @react-native-community/geolocation
        michalchudziak/react-native-geolocation 17b38b4 f react-native-geolocation
        ocetnik/react-native-background-timer f766219 t react-native-background-timer
        RevenueCat/purchases-ios ff486da t RevenueCat RevenueCatUI
        RonRadtke/react-native-blob-util 8ff7286 s react-native-blob-util
        swisspol/GCDWebServer c6d118f t GCDWebServer GCDWebServers
        Vydia/react-native-background-upload 20dfb9b s react-native-background-upload
        zoontek/react-native-permissions bd5e694 f react-native-permissions RNPermissions
        zoontek/react-native-permissions bd5e694 f Permission-LocationAlways
        zoontek/react-native-permissions bd5e694 f Permission-LocationWhenInUse
        zoontek/react-native-permissions bd5e694 f Permission-LocationAccuracy
        zoontek/react-native-permissions bd5e694 f Permission-AppTrackingTransparency
        """
}
