// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// Requests that programs for sending or recording them have saved.
extension WrapperRequest {
    /// A request of a collection of Postman or Insomnia, or of an HTTP archive (HAR): the body is a
    /// string, and the headers are a list. The body is a payload, or a request to a service.
    func collected() -> [WrappedPush]? {
        guard let list = member("header") ?? member("headers"),
            document.kind(list.value) == .array,
            let body = member("body") ?? member("postData"), document.kind(body.value) == .object,
            let raw = member("raw", of: body.value) ?? member("text", of: body.value),
            document.kind(raw.value) == .string, member("encoding", of: body.value) == nil
        else { return nil }
        let names = [list, body, raw].map { String(decoding: document.text($0.key), as: UTF8.self) }
        // A script of the collection may put the body in.
        guard !document.isEmptyString(raw.value) else { return [] }
        guard
            var push = payload(
                raw.value, pointer: "\(pointer)/\(names[1])/\(names[2])",
                change: Self.withoutComments),
            let base = push.base
        else { return nil }
        let path = url.flatMap { CurlCommand.path(of: $0.text) }
        let isForAPNs = path.map { reachesAPNs($0, list.value) } ?? false
        guard push.hasAPS || isForAPNs else {
            guard base.document.kind(base.node) == .object else { return nil }
            let body = WrapperRequest(
                document: base.document, text: base.text, node: base.node, pointer: push.pointer)
            if url?.text.contains("fcm.googleapis.com/fcm/send") == true {
                return body.formerMessage()
            }
            let isForFirebase = url?.text.contains("fcm.googleapis.com/v1/") == true
            return body.innerMessage().known(isCertain: !isForFirebase)?.pushes ?? body.nested()
        }
        push.headers = listedHeaders(list.value, named: names[0], isForAPNs: isForAPNs)
        if isForAPNs, let path, let url {
            push.allHeaders = (offset(list.value), pointer + "/" + names[0])
            let filled = Placeholder.filled(path: path)
            push.headers.append((":path", filled, offset(url.node), pointer + "/url"))
            if let method = member("method"), let text = document.scalarText(method.value) {
                push.headers.append((":method", text, offset(method.value), pointer + "/method"))
            }
        }
        return [push]
    }

    /// A body without its comments, which Postman does not send.
    private static func withoutComments(_ body: EmbeddedText) -> EmbeddedText {
        let text = IllustratedJSON(body.bytes)
        guard text.hasComments, (try? JSONScanner.scan(text.bytes)) != nil else { return body }
        return body.replacingBytes { index, _ in text.bytes[index] }
    }

    /// Whether a request is to APNs, by its host or a header, or by a path that other services
    /// hardly have: `/3/device/` and a device token, or a variable for one.
    private func reachesAPNs(_ path: String, _ headers: Int) -> Bool {
        let prefix = "/3/device/"
        guard path.hasPrefix(prefix) else { return false }
        if url?.text.contains("push.apple.com") == true { return true }
        if url.map({ CurlCommand.isForOwnServer($0.text) }) == true { return false }
        let names = document.elements(of: headers).compactMap {
            (member("key", of: $0) ?? member("name", of: $0))
                .flatMap { document.scalarText($0.value)?.lowercased() }
        }
        if names.contains(where: { $0.hasPrefix("apns-") }) { return true }
        let token = String(path.dropFirst(prefix.count))
        let isToken = token.count >= 32 && token.allSatisfy(\.isHexDigit)
        let method = member("method").flatMap { document.scalarText($0.value) }
        return (isToken || Placeholder.isIn(token)) && (method ?? "POST").uppercased() == "POST"
    }

    /// The URL: text, or an object with the text as `raw`, as Postman has it.
    private var url: (text: String, node: Int)? {
        guard let member = member("url") else { return nil }
        let node = self.member("raw", of: member.value)?.value ?? member.value
        return document.scalarText(node).map { ($0, node) }
    }

    /// The headers of a list of objects that are sent; only Apple's if others are for a service.
    private func listedHeaders(
        _ list: Int, named listName: String, isForAPNs: Bool
    ) -> [(name: String, value: String, offset: Int, pointer: String)] {
        let names = document.elements(of: list).compactMap { field in
            (member("key", of: field) ?? member("name", of: field))
                .flatMap { document.scalarText($0.value) }
        }
        let isForAzure = !isForAPNs && Wrapper.isForAzure(names)
        return document.elements(of: list).enumerated().compactMap { index, field in
            guard document.kind(field) == .object,
                let key = member("key", of: field) ?? member("name", of: field),
                // Programs write names in lower case, as HTTP/2 has them.
                let written = document.scalarText(key.value)?.lowercased(),
                case let name = isForAzure ? Wrapper.appleName(ofAzureHeader: written) : written,
                isForAPNs && !name.hasPrefix(":") || name.hasPrefix("apns-"),
                let value = member("value", of: field),
                let text = document.scalarText(value.value),
                member("disabled", of: field).map({ document.kind($0.value) }) != .trueLiteral
            else { return nil }
            return (name, text, offset(value.value), "\(pointer)/\(listName)/\(index)/value")
        }
    }
}
