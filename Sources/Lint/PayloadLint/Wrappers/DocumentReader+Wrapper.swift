// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// Reads requests to services that forward to APNs, and checks what reaches APNs.
extension DocumentReader {
    /// Reads a text as such a request. Returns `nil` if it is not one.
    func wrapped(
        _ text: EmbeddedText, sentTo destination: WrapperRequest.Destination? = nil
    ) -> PushDocument? {
        guard let document = try? JSONScanner.scan(text.bytes) else { return nil }
        return wrapped(document, text, sentTo: destination)
    }

    /// Reads a document as such a request. Returns `nil` if it is not one.
    func wrapped(
        _ document: JSONDocument, _ text: EmbeddedText,
        sentTo destination: WrapperRequest.Destination? = nil
    ) -> PushDocument? {
        guard forcedKind == nil || forcedKind == .request, document.kind(0) == .object else {
            return nil
        }
        var request = WrapperRequest(document: document, text: text, node: 0, pointer: "")
        request.destination = destination
        if request.member("aps") != nil {
            guard assumptions.pushType == nil, request.isFormerFirebaseBesideAPS else { return nil }
            return request.formerFirebase().map { self.document(of: $0) }
        }
        request = request.innerMessage()
        guard request.member("aps") == nil else { return nil }
        // If the push type is given, only unmistakable requests are unwrapped, and those that name
        // a recipient, which no payload does but the data of a call.
        let namesRecipient =
            ["alert", "background"].contains(assumptions.pushType)
            && Self.isAddressed(0, in: document)
        let isCertain = assumptions.pushType != nil && !namesRecipient
        if let (pushes, isUnmistakable) = request.known(isCertain: isCertain) {
            var result = self.document(of: pushes)
            result.isForeign = !isUnmistakable && !pushes.contains(where: \.isUnmistakable)
            return result
        }
        guard assumptions.pushType == nil, let pushes = request.nested() else { return nil }
        var result = self.document(of: pushes)
        result.isForeign = !pushes.contains(where: \.isUnmistakable)
        return result
    }
}

extension DocumentReader {
    /// Reads headers and a payload as the configuration of one of Firebase's libraries. Returns
    /// `nil` if they are a request to APNs.
    func libraryConfiguration(_ document: JSONDocument) -> PushDocument? {
        guard assumptions.pushType == nil else { return nil }
        let request = WrapperRequest(
            document: document, text: EmbeddedText(file: document.bytes), node: 0, pointer: "")
        guard let pushes = request.libraryConfiguration() else { return nil }
        return self.document(of: pushes)
    }

    /// Reads a list of payloads or requests. Returns `nil` if it contains none.
    func listed(_ document: JSONDocument) -> PushDocument? {
        guard forcedKind == nil, assumptions.pushType == nil, document.kind(0) == .array else {
            return nil
        }
        let list = WrapperRequest(
            document: document, text: EmbeddedText(file: document.bytes), node: 0, pointer: "")
        let pushes = list.elements.flatMap { $0.nested() ?? [] }
        // Requests of a service that creates the payloads itself.
        let isAddressed = list.elements.contains { Self.isAddressed($0.node, in: document) }
        guard !pushes.isEmpty || isAddressed else { return nil }
        var result = self.document(of: pushes)
        result.isForeign = !pushes.contains(where: \.isUnmistakable)
        return result
    }

    func document(of pushes: [WrappedPush]) -> PushDocument {
        var result = PushDocument(kind: .request)
        result.items = pushes.filter(\.isSent).map { $0.item(assumptions) }
        result.faults = pushes.flatMap(\.faults)
        return result
    }
}
