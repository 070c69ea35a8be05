// SPDX-License-Identifier: Apache-2.0

import SeedKit
import Testing
import WakeModel

@Suite("apns-id")
struct APNsIDTests {
    @Test(
        "the canonical form comes back as it went in",
        arguments: [
            "123e4567-e89b-42d3-a456-426614174000", "00000000-0000-0000-0000-000000000000",
            "ffffffff-ffff-ffff-ffff-ffffffffffff", "01234567-89ab-cdef-0123-456789abcdef",
        ])
    func roundTrip(text: String) throws {
        let id = try APNsID(text)
        #expect(id.description == text)
        #expect(APNsID(high: id.high, low: id.low) == id)
    }

    @Test("upper-case digits are normalised to lower case")
    func upperCase() throws {
        let id = try APNsID("123E4567-E89B-42D3-A456-42661417ABCD")
        #expect(id.description == "123e4567-e89b-42d3-a456-42661417abcd")
    }

    @Test("high and low are the UUID's bytes, big-endian")
    func words() throws {
        let id = try APNsID("01234567-89ab-cdef-fedc-ba9876543210")
        #expect(id.high == 0x0123_4567_89ab_cdef)
        #expect(id.low == 0xfedc_ba98_7654_3210)
    }

    @Test(
        "what is not the 8-4-4-4-12 form is refused, with the field and the fix",
        arguments: [
            "", "123e4567", "123e4567e89b42d3a456426614174000",
            "123e4567-e89b-42d3-a456-42661417400", "123e4567-e89b-42d3-a456-4266141740000",
            "123e4567-e89b-42d3-a456-42661417400g", "123e4567_e89b-42d3-a456-426614174000",
            "123e45678e89b-42d3-a456-42661417400-", "{23e4567-e89b-42d3-a456-42661417400}",
            " 23e4567-e89b-42d3-a456-426614174000", "123e4567-e89b-42d3-a456-4266141740é",
            "------------------------------------",
        ])
    func refused(text: String) {
        let error = #expect(throws: InvalidField.self) { try APNsID(text) }
        #expect(error?.field == "apns-id")
        #expect(error?.problem == "is not a UUID")
        #expect(error?.remedy.isEmpty == false)
    }

    @Test("at each place each byte is taken for what it is: a digit, a hyphen, or nothing")
    func everyByte() throws {
        let text = Array("01234567-89ab-cdef-fedc-ba9876543210".utf8)
        for place in text.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = text
                changed[place] = byte
                let id = changed.withUnsafeBytes { APNsID(utf8: $0) }
                let isHyphen = text[place] == UInt8(ascii: "-")
                let isDigit = Character(UnicodeScalar(byte)).hexDigitValue != nil && byte < 0x80
                guard isHyphen ? byte == text[place] : isDigit else {
                    #expect(id == nil, "byte \(byte) at \(place)")
                    continue
                }
                let expected = String(decoding: changed, as: UTF8.self).lowercased()
                #expect(id?.description == expected, "byte \(byte) at \(place)")
            }
        }
    }

    @Test("entropy of any kind gives a version 4, variant 1 UUID and keeps the other 122 bits")
    func versionAndVariant() throws {
        #expect(APNsID(entropy: 0, 0).description == "00000000-0000-4000-8000-000000000000")
        #expect(APNsID(entropy: .max, .max).description == "ffffffff-ffff-4fff-bfff-ffffffffffff")
        let seed: UInt64 = 0x5eed
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<1000 {
            let (high, low) = (generator.next(), generator.next())
            let id = APNsID(entropy: high, low)
            let text = Array(id.description)
            #expect(text[14] == "4", "seed \(seed)")
            #expect("89ab".contains(text[19]), "seed \(seed)")
            #expect(id.high & ~0xf000 == high & ~0xf000, "seed \(seed)")
            #expect(id.low & 0x3fff_ffff_ffff_ffff == low & 0x3fff_ffff_ffff_ffff, "seed \(seed)")
            #expect(try APNsID(id.description) == id, "seed \(seed)")
        }
    }
}
