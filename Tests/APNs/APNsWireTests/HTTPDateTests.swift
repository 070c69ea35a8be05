// SPDX-License-Identifier: Apache-2.0

import APNsWire
import Testing
import WakeModel

@Suite("HTTP date")
struct HTTPDateTests {
    @Test(
        "the preferred form is read to the second",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600),
            ("Sat, 21 Nov 2026 09:34:00 GMT", 1_795_253_640),
            ("Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648),
            ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
        ] as [(String, Int64)])
    func known(text: String, seconds: Int64) {
        #expect(HTTPDate.parse(text) == WallInstant(secondsSinceEpoch: seconds))
    }

    @Test(
        "anything else is no date",
        arguments: [
            "", "now", "784111777", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 +0000",
            "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
            "Son, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
            "Sun, 06 Nov 1994 08:x9:37 GMT", "Sun, 06 Nov 1994 08:49:-7 GMT",
            "Sun, 06 Nov 1994 +8:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
            "Thu, 31 Nov 1994 08:49:37 GMT", "Mon, 29 Feb 2100 00:00:00 GMT",
            "Wed, 31 Dec 1969 23:59:59 GMT", "Sun, 06 Nov 1994  08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, 06 Nov 1994 8:049:37 GMT",
            "Sün, 06 Nov 1994 8:49:37 GMT",
        ])
    func refused(text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }
}
