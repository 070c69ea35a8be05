// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AppAudit

@Suite("Letters of names")
struct StringLettersTests {
    @Test("letters are found at each place of a name")
    func letters() {
        #expect("pushToken".hasLetters("Token"))
        #expect("totoken".hasLetters("token"))
        #expect("token".hasLetters("token"))
        #expect(!"toke".hasLetters("token"))
        #expect(!"".hasLetters("t"))
        #expect("".hasLetters(""))
    }
}
