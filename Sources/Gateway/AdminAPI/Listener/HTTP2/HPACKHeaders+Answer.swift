// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOCore
import NIOHPACK

extension HPACKHeaders {
    /// The fields that are put into the table of the connection (RFC 7541 §2.3.2): those with
    /// few values. The caller chooses the size of that table, and all of it is searched for each
    /// field.
    private static let tabled: Set = [":status", "cache-control", "content-type", "server"]

    /// The head of an answer, with the length of the body.
    init(_ response: BufferedResponse) {
        self.init()
        reserveCapacity(response.headers.count + 2)
        append(":status", String(response.status.code))
        for field in response.headers { append(field.name.canonicalName, field.value) }
        append("content-length", String(response.body.readableBytes))
    }

    /// The same fields, few of them for the table.
    init(tabling headers: HPACKHeaders) {
        self.init()
        reserveCapacity(headers.count)
        for (name, value, _) in headers { append(name, value) }
    }

    private mutating func append(_ name: String, _ value: String) {
        add(
            name: name, value: value,
            indexing: Self.tabled.contains(name) ? .indexable : .nonIndexable)
    }
}
