// SPDX-License-Identifier: Apache-2.0

/// An Xcode project with an app, a service extension and tests, in two build configurations.
enum SampleProject {
    /// The `project.pbxproj`. The settings go into the app's target, in both configurations, or
    /// into that for release.
    static func text(app: String = "", release: String = "", extension: String = "") -> String {
        """
        // !$*UTF8*$!
        {
        	archiveVersion = 1;
        	objectVersion = 77;
        	rootObject = P0;
        	objects = {
        		P0 /* Project object */ = {
        			isa = PBXProject; buildConfigurationList = L0; mainGroup = G0;
        			targets = ( TA, TE, TT, );
        			packageReferences = ( PR, );
        		};
        		PR = { isa = XCLocalSwiftPackageReference; relativePath = Kit; };
        		G0 = { isa = PBXGroup; children = ( GA, GE, FC, FX, ); sourceTree = "<group>"; };
        		GA = { isa = PBXGroup; children = ( F1, F2, ); path = App; sourceTree = "<group>"; };
        		F1 /* AppDelegate.swift */ = { isa = PBXFileReference; path = AppDelegate.swift;
        			sourceTree = "<group>"; };
        		F2 = { isa = PBXFileReference; path = Shared/Tasks.swift; sourceTree = SOURCE_ROOT; };
        		FX = { isa = PBXFileReference; path = Unused.swift; sourceTree = "<group>"; };
        		FC = { isa = PBXFileReference; path = App.xcconfig; sourceTree = "<group>"; };
        		GE = { isa = PBXFileSystemSynchronizedRootGroup; path = Service;
        			exceptions = ( EX, ); sourceTree = "<group>"; };
        		EX = { isa = PBXFileSystemSynchronizedBuildFileExceptionSet; target = TE;
        			membershipExceptions = ( Left.swift, ); };
        		TA = { isa = PBXNativeTarget; name = App; buildConfigurationList = LA;
        			buildPhases = ( SA, ); dependencies = ( DE, );
        			productType = "com.apple.product-type.application"; };
        		SA = { isa = PBXSourcesBuildPhase; files = ( B1, B2, ); };
        		B1 = { isa = PBXBuildFile; fileRef = F1; };
        		B2 = { isa = PBXBuildFile; fileRef = F2; };
        		DE = { isa = PBXTargetDependency; target = TE; };
        		TE = { isa = PBXNativeTarget; name = Service; buildConfigurationList = LE;
        			buildPhases = ( ); fileSystemSynchronizedGroups = ( GE, );
        			productType = "com.apple.product-type.app-extension"; };
        		TT = { isa = PBXNativeTarget; name = AppTests; buildConfigurationList = LE;
        			buildPhases = ( ); productType = "com.apple.product-type.bundle.unit-test"; };
        		L0 = { isa = XCConfigurationList; buildConfigurations = ( C01, C02, ); };
        		C01 = { isa = XCBuildConfiguration; name = Debug; buildSettings = {
        			SDKROOT = iphoneos; IPHONEOS_DEPLOYMENT_TARGET = 17.0; }; };
        		C02 = { isa = XCBuildConfiguration; name = Release; buildSettings = {
        			SDKROOT = iphoneos; IPHONEOS_DEPLOYMENT_TARGET = 17.0; }; };
        		LA = { isa = XCConfigurationList; buildConfigurations = ( CA1, CA2, ); };
        		CA1 = { isa = XCBuildConfiguration; name = Debug; baseConfigurationReference = FC;
        			buildSettings = { PRODUCT_BUNDLE_IDENTIFIER = "$(BASE_ID).app"; \(app) }; };
        		CA2 = { isa = XCBuildConfiguration; name = Release; baseConfigurationReference = FC;
        			buildSettings = { PRODUCT_BUNDLE_IDENTIFIER = "$(BASE_ID).app"; \(app) \(release) };
        		};
        		LE = { isa = XCConfigurationList; buildConfigurations = ( CE1, CE2, ); };
        		CE1 = { isa = XCBuildConfiguration; name = Debug; buildSettings = { \(`extension`) }; };
        		CE2 = { isa = XCBuildConfiguration; name = Release; buildSettings = { \(`extension`) };
        		};
        	};
        }

        """
    }

    /// What a push needs: the Info.plist that Xcode generates, with a background mode.
    static let generatedInfo =
        "GENERATE_INFOPLIST_FILE = YES; "
        + "INFOPLIST_KEY_UIBackgroundModes = \"fetch remote-notification\";"
}
