// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds when objects are made, by all that names their type.
extension SourceReader {
    /// Types of the system that make none of the objects that inherit them.
    private static let plainBases: Set = [
        "NSObject", "ObservableObject", "Sendable", "Identifiable", "Equatable", "Hashable",
    ]

    /// Whether neither the system nor a storyboard makes an object because of what it inherits.
    static func isPlainBase(_ name: String) -> Bool {
        plainBases.contains(name)
            || name.hasSuffix("Delegate") && !name.hasSuffix("ApplicationDelegate")
                && !name.hasSuffix("SceneDelegate")
    }

    /// What names the type of an initializer in this file, and so may make the first object.
    func makings(of function: CalledFunction) -> [CalledFunction.Use] {
        guard let type = function.type else { return [.unknown] }
        return text.places(of: type).compactMap { making(at: $0, of: type) }
    }

    private func making(at index: Int, of type: String) -> CalledFunction.Use? {
        guard !text.isObjectiveC else { return .unknown }
        let isDeclaration = ["class", "struct", "actor", "enum", "extension"].contains {
            text.sees($0, at: index - 1)
        }
        // The type's own code runs only once something else has named it.
        let around = text.type(around: index)
        if isDeclaration || around?.name == type { return nil }
        // Views for a canvas of Xcode are not in the app.
        let isPreview =
            around?.inherited.contains("PreviewProvider") == true
            || text.scopes(around: index).contains { isPreviewMacro(before: $0.open) }
        if isPreview { return nil }
        if let property = propertyOfView(around: index) {
            // SwiftUI makes the object of a `@StateObject` when it shows the view.
            let attributes = modifiers(before: property)
            if attributes.contains("StateObject") { return .occasion(.view) }
            // This one comes from another view.
            let isTaken =
                attributes.contains("EnvironmentObject") && text.sees(":", at: index - 1)
            return isTaken ? nil : .unknown
        }
        guard text.sees("(", at: index + 1) || text.sees(".", at: index + 1),
            !text.sees(":", at: index - 1)
        else { return .unknown }
        // What a view shows is asked for when it shows it.
        let isShown = text.scopes(around: index).contains { scope in
            text.sees("var", at: scope.open - 5)
                && text.sees(":", "some", "View", at: scope.open - 3)
        }
        if isShown, around?.inherited.contains("View") == true { return .occasion(.view) }
        let occasion = lateOccasion(of: index)
        if occasion != .unknown { return .occasion(occasion) }
        if runsWhenActive(index) { return .occasion(.event) }
        return calledFunction(around: index).map { .inside($0) } ?? .unknown
    }

    /// Whether a closure is that of a preview: `#Preview { … }`, `#Preview("a") { … }`.
    private func isPreviewMacro(before open: Int) -> Bool {
        var word = open - 1
        if text.sees(")", at: word), text.partners[word] > 0 { word = text.partners[word] - 1 }
        return text[word]?.text == "Preview"
    }

    /// The `var` of the stored property of a SwiftUI view whose declaration has a token.
    private func propertyOfView(around index: Int) -> Int? {
        guard let scope = text.scopes(around: index).first(where: { _ in true }),
            case .type(let head) = scope.kind, head.inherited.contains("View")
        else { return nil }
        let before = (max(scope.open + 1, index - 8)..<index).reversed()
        for word in before {
            let token = text.tokens[word]
            if token.isName("var") || token.isName("let") { return word }
            guard token.isName || token.isMark(":") || token.isMark("=") else { return nil }
        }
        return nil
    }
}
