// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import OpenSSLCrypto
import WakeModel

extension IdempotencyKey {
    /// The maximum length of an `Idempotency-Key`, in characters.
    static let maximumKeyLength = 255

    private static let name = HTTPField.Name("idempotency-key")

    /// The `Idempotency-Key` of a request; `nil` when there is none. Throws ``Problem`` for an
    /// invalid one.
    static func text(of headers: HTTPFields) throws(Problem) -> String? {
        guard let name, let key = headers[name] else { return nil }
        let isPrintable = key.utf8.allSatisfy { (0x21...0x7e).contains($0) }
        guard !key.isEmpty, key.utf8.count <= maximumKeyLength, isPrintable else {
            throw Problem(
                InvalidField(
                    field: "Idempotency-Key",
                    problem: "is not one field of 1 to \(maximumKeyLength) printable ASCII "
                        + "characters without spaces",
                    remedy: "Use a random UUID for each request."))
        }
        return key
    }

    /// Throws ``Problem`` if the request has an `Idempotency-Key`: for routes that store nothing,
    /// and so cannot recognise a repetition.
    static func refuse(in headers: HTTPFields) throws(Problem) {
        guard let name, headers[name] != nil else { return }
        throw Problem(
            InvalidField(
                field: "Idempotency-Key",
                problem: "has no effect here: nothing is kept of this request, so a repetition is "
                    + "a second one",
                remedy: "Leave it out."))
    }

    /// Creates the key of a request, or of one item of a batch, from the header's `text`. The
    /// digest includes the caller and the item's index: callers cannot collide, and each item has a
    /// key of its own.
    init(_ text: String, caller: String, item: Int? = nil, body: [UInt8], expiresAt: WallInstant) {
        // A zero byte separates the parts, because no header can contain one.
        var owned = Array(caller.utf8) + [0] + Array(text.utf8)
        if let item { owned += [0] + Array("\(item)".utf8) }
        self.init(
            key: SHA256.digest(of: owned), request: SHA256.digest(of: body), expiresAt: expiresAt)
    }
}
