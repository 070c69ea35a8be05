// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CurlTransport

@Suite("libcurl of this process")
struct CurlLibraryTests {
    @Test("the installed libcurl serves, and says what it is")
    func installedLibrary() throws {
        let library = try CurlLibrary.loaded()
        #expect(library.versionNumber >= CurlLibrary.minimumVersionNumber)
        #expect(library.tlsLibrary.hasPrefix("OpenSSL/"))
        #expect(!library.nghttp2Version.isEmpty)
    }

    @Test(
        "a libcurl that lacks something is refused in a sentence that names it",
        arguments: [
            (0x074a00, "OpenSSL/3.0", true, true, true, "too old"),
            (0x075801, "GnuTLS/3.7.9", true, true, true, "GnuTLS/3.7.9 instead of OpenSSL"),
            (0x075801, "", true, true, true, "no TLS library"),
            (0x075801, "OpenSSL/3.0", false, true, true, "without HTTP/2"),
            (0x075801, "OpenSSL/3.0", true, false, true, "other threads"),
            (0x075801, "OpenSSL/3.0", true, true, false, "resolves names"),
        ] as [(UInt32, String, Bool, Bool, Bool, String)])
    func unsuitable(
        number: UInt32, tls: String, http2: Bool, threads: Bool, resolver: Bool, words: String
    ) {
        let library = CurlLibrary(
            version: "7.x", versionNumber: number, tlsLibrary: tls, hasHTTP2: http2,
            isThreadSafe: threads, hasAsynchronousResolver: resolver)
        #expect(library.complaint?.contains(words) == true)
    }

    @Test(
        "the two releases with the reset fault are known by number",
        arguments: [
            (0x075700, false), (0x075800, true), (0x075801, true), (0x080000, false),
            (0x080e01, false),
        ] as [(UInt32, Bool)])
    func resetFault(number: UInt32, isFaulty: Bool) {
        let library = CurlLibrary(
            version: "", versionNumber: number, tlsLibrary: "OpenSSL/3", hasHTTP2: true,
            isThreadSafe: true, hasAsynchronousResolver: true)
        #expect(library.resetsFinishedStreams == isFaulty)
    }

    @Test(
        "a libcurl that reports every refused stream is known by number",
        arguments: [(0x075801, false), (0x080e01, false), (0x0812ff, false), (0x081300, true)]
            as [(UInt32, Bool)])
    func refusals(number: UInt32, areReported: Bool) {
        let library = CurlLibrary(
            version: "", versionNumber: number, tlsLibrary: "OpenSSL/3", hasHTTP2: true,
            isThreadSafe: true, hasAsynchronousResolver: true)
        #expect(library.reportsRefusedStreams == areReported)
    }

    @Test("this test bundle links the reset guard, and libcurl calls it")
    func guardIsLinked() throws {
        #expect(try CurlLibrary.loaded().hasResetGuard)
    }
}
