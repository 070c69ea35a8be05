// SPDX-License-Identifier: Apache-2.0

import OpenSSLCrypto
import ServerTLS
import Testing

@Suite("What a server's TLS is made of")
struct ServerTLSContextTests {
    @Test("a chain, a key or authorities that cannot be used are refused by name")
    func refusals() throws {
        let certificates = try Certificates()
        let (chain, key) = certificates.server
        let other = try Certificates()
        // The right labels around what is no key.
        let noKey = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
        let damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        let cut = certificates.authority.certificatePEM.prefix(200)
        let encrypted = """
            -----BEGIN ENCRYPTED PRIVATE KEY-----
            MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgvZ1vV5QAAAgICCAAw
            -----END ENCRYPTED PRIVATE KEY-----
            """
        for (chain, key, authorities, error) in [
            ("", key, nil, ServerTLSContextError.noCertificate), (key, key, nil, .noCertificate),
            ("text", key, nil, .noCertificate), (chain + damaged, key, nil, .noCertificate),
            (chain + cut, key, nil, .noCertificate), (chain, "", nil, .noKey),
            (chain, chain, nil, .noKey), (chain, noKey, nil, .noKey),
            (chain, encrypted, nil, .noKey), (chain, other.server.key, nil, .mismatch),
            (chain, key, "text", .noAuthority), (chain, key, key, .noAuthority),
            (chain, key, chain + damaged, .noAuthority),
        ] as [(String, String, String?, ServerTLSContextError)] {
            #expect(throws: error) {
                try ServerTLSContext(
                    certificateChain: Array(chain.utf8), key: Array(key.utf8),
                    applicationProtocols: ["h2"],
                    clientAuthorities: authorities.map { Array($0.utf8) })
            }
        }
    }

    @Test("the certificates of issuers follow the server's")
    func chain() throws {
        let certificates = try Certificates()
        let context = try ServerTLSContext(
            certificateChain: Array(
                (certificates.server.chain + certificates.authority.certificatePEM).utf8),
            key: Array(certificates.server.key.utf8), applicationProtocols: ["h2"])
        let pair = try TLSPair(context, trusting: certificates)
        pair.exchange()
        #expect(pair.atClient.handshakes == ["h2"])
    }
}
