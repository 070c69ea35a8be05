// SPDX-License-Identifier: Apache-2.0

import SeedKit
import Testing
import TransportTestKit

@testable import CurlTransport

@Suite("How many streams a connection carries")
struct StreamWindowTests {
    /// A window after its first valid answer.
    private func validated(maximum: Int = 250) -> StreamWindow {
        var window = StreamWindow(maximum: maximum)
        window.didReceiveAnswer(isValid: true, inFlight: 1, now: 0)
        return window
    }

    @Test("one stream until a valid answer, however many refusals come")
    func oneStream() {
        var window = StreamWindow(maximum: 250)
        #expect(window.limit == 1)
        for _ in 0..<100 { window.didReceiveAnswer(isValid: false, inFlight: 1, now: 0) }
        #expect(window.limit == 1 && !window.isValidated)
        window.didReceiveAnswer(isValid: true, inFlight: 1, now: 0)
        #expect(window.limit == 100 && window.isValidated)
        window.didReceiveAnswer(isValid: false, inFlight: 1, now: 0)
        #expect(window.limit == 100)
    }

    @Test("never above the configured maximum, never below one", arguments: [-5, 0, 1, 2, 99, 250])
    func maximum(maximum: Int) {
        var window = validated(maximum: maximum)
        for _ in 0..<10_000 {
            window.didReceiveAnswer(isValid: true, inFlight: window.limit, now: 0)
        }
        #expect(window.limit == max(1, maximum))
    }

    @Test("it grows only when it is full")
    func growth() {
        var window = validated(maximum: 1000)
        for _ in 0..<1000 { window.didReceiveAnswer(isValid: true, inFlight: 50, now: 0) }
        #expect(window.limit == 100)
        window.didReceiveAnswer(isValid: true, inFlight: 100, now: 0)
        #expect(window.limit == 200)
    }

    @Test("requests held back for long shrink it to what is open; for a moment they do not")
    func shrink() {
        var window = validated()
        #expect(window.observe(held: 40, inFlight: 100, now: 1000) == .fine)
        #expect(window.observe(held: 40, inFlight: 100, now: 1049) == .fine)
        #expect(window.observe(held: 40, inFlight: 100, now: 1050) == .takeBack)
        #expect(window.limit == 60)
        #expect(window.observe(held: 40, inFlight: 60, now: 1060) == .fine)
        #expect(window.observe(held: 0, inFlight: 60, now: 1100) == .fine)
        #expect(window.observe(held: 1, inFlight: 60, now: 1120) == .fine)
        #expect(window.observe(held: 1, inFlight: 60, now: 1169) == .fine)
    }

    @Test("after a shrinking it feels its way up, an eighth a second")
    func probe() {
        var window = validated()
        _ = window.observe(held: 20, inFlight: 100, now: 0)
        _ = window.observe(held: 20, inFlight: 100, now: 50)
        #expect(window.limit == 80)
        for _ in 0..<500 { window.didReceiveAnswer(isValid: true, inFlight: 80, now: 900) }
        #expect(window.limit == 80)
        window.didReceiveAnswer(isValid: true, inFlight: 80, now: 1050)
        #expect(window.limit == 90)
        for _ in 0..<500 { window.didReceiveAnswer(isValid: true, inFlight: 90, now: 1100) }
        #expect(window.limit == 90)
    }

    @Test("a connection that gives nobody a stream is going away")
    func goingAway() {
        var window = validated()
        #expect(window.observe(held: 5, inFlight: 5, now: 0) == .fine)
        #expect(window.observe(held: 5, inFlight: 5, now: 50) == .goingAway)
    }

    @Test("one look between two streams is no sign of that")
    func betweenStreams() {
        var window = validated()
        #expect(window.observe(held: 4, inFlight: 5, now: 0) == .fine)
        #expect(window.observe(held: 5, inFlight: 5, now: 50) == .takeBack)
        #expect(window.limit == 1)
        // And what was seen then is forgotten afterwards.
        #expect(window.observe(held: 5, inFlight: 5, now: 60) == .fine)
        #expect(window.observe(held: 5, inFlight: 5, now: 110) == .goingAway)
    }

    @Test("before the first answer, waiting is for the connection")
    func connecting() {
        var window = StreamWindow(maximum: 250)
        for now in stride(from: 0, to: 10_000, by: 10) {
            #expect(window.observe(held: 1, inFlight: 1, now: Int64(now)) == .fine)
        }
    }

    @Test("against a server with a limit it settles within that limit", arguments: 1...10)
    func settles(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var serverLimit = Int(random.next() % 200) + 1
        var window = validated()
        var inFlight = 0
        var now: Int64 = 0
        for step in 0..<20_000 {
            if step == 10_000 { serverLimit = Int(random.next() % 200) + 1 }
            now += Int64(random.next() % 5)
            inFlight = max(inFlight, window.limit)
            let held = max(0, inFlight - serverLimit)
            if window.observe(held: held, inFlight: inFlight, now: now) == .takeBack {
                inFlight -= held
            }
            if inFlight - held > 0 {
                window.didReceiveAnswer(isValid: true, inFlight: inFlight, now: now)
                inFlight -= 1
            }
            #expect((1...250).contains(window.limit), "seed \(seed)")
        }
        // Feeling its way up, it is over the limit by an eighth at most.
        #expect(window.limit <= serverLimit + max(1, serverLimit / 8), "seed \(seed)")
        #expect(window.limit * 2 >= min(250, serverLimit), "seed \(seed)")
    }
}
