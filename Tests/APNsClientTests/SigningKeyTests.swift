// SPDX-License-Identifier: Apache-2.0

import APNsClient
import Testing

@Suite("Signing key")
struct SigningKeyTests {
    @Test("a signature is 64 bytes, and this key's alone")
    func signatureVerifies() {
        let key = SigningKey.generate()
        let message = Array("header.claims".utf8)
        let signature = key.signature(for: message)
        #expect(signature.count == 64)
        #expect(key.isValid(signature: signature, for: message))
        #expect(!key.isValid(signature: signature, for: message + [0]))
        #expect(!SigningKey.generate().isValid(signature: signature, for: message))
    }
}
