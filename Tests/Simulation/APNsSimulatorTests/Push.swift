// SPDX-License-Identifier: Apache-2.0

@testable import APNsSimulator

/// A push that a test sends: right unless the test says otherwise.
struct Push: Sendable {
    /// The header fields that are there, in order, apart from the pseudo-headers.
    var headers: [(String, String)]
    var method = "POST"
    var path: String
    var body: [UInt8]

    static let token = String(repeating: "a5", count: 32)
    static let apnsID = "123e4567-e89b-42d3-a456-426614174000"

    /// A background push with everything in order.
    init(
        token: String = Push.token, authorization: String? = TestToken.current,
        body: [UInt8] = Array(#"{"aps":{"content-available":1}}"#.utf8)
    ) {
        path = "/3/device/" + token
        headers = [
            ("apns-topic", "com.example.app"), ("apns-push-type", "background"),
            ("apns-priority", "5"), ("apns-id", Self.apnsID),
        ]
        if let authorization { headers.insert(("authorization", authorization), at: 0) }
        self.body = body
    }

    /// The same push with a header in place of what was there, or without it for `nil`.
    func with(_ name: String, _ value: String?) -> Push {
        var push = self
        push.headers.removeAll { $0.0 == name }
        if let value { push.headers.append((name, value)) }
        return push
    }

    /// The same push with one more header, whatever was there.
    func adding(_ name: String, _ value: String) -> Push {
        var push = self
        push.headers.append((name, value))
        return push
    }

    func with(path: String) -> Push {
        var push = self
        push.path = path
        return push
    }

    func with(method: String) -> Push {
        var push = self
        push.method = method
        return push
    }

    func with(bodyByteCount: Int) -> Push {
        var push = self
        push.body = Array(repeating: UInt8(ascii: "x"), count: bodyByteCount)
        return push
    }

    /// The whole header block.
    var fields: [(String, String)] {
        [(":method", method), (":scheme", "https"), (":path", path), (":authority", "localhost")]
            + headers
    }

    var head: RequestHead {
        var head = RequestHead()
        for (name, value) in fields { head.add(name: name, value: value) }
        return head
    }
}
