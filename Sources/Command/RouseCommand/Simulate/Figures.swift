// SPDX-License-Identifier: Apache-2.0

/// Figures as a person reads them.
enum Figures {
    /// A whole number; in thousands or millions from 100 000 on.
    static func count(_ number: UInt64) -> String {
        switch number {
        case ..<100_000: "\(number)"
        case ..<10_000_000: "\((number + 500) / 1000)k"
        default: "\((number + 500_000) / 1_000_000)M"
        }
    }

    /// How many devices.
    static func devices(_ number: Int) -> String {
        number == 1 ? "1 device" : "\(count(UInt64(number))) devices"
    }

    /// Two decimals.
    static func share(_ share: Double?) -> String {
        guard let share, share.isFinite else { return "–" }
        return decimal(share, digits: 2)
    }

    /// A share as a percentage with one decimal.
    static func percent(_ share: Double?) -> String {
        guard let share, share.isFinite else { return "–" }
        return decimal(share * 100, digits: 1) + " %"
    }

    /// A time in the largest unit that leaves something before the point.
    static func time(_ milliseconds: Int64?) -> String {
        guard let milliseconds else { return "–" }
        let seconds = Double(milliseconds) / 1000
        switch seconds {
        case ..<1: return milliseconds == 0 ? "0 s" : "\(decimal(seconds, digits: 1)) s"
        case ..<120: return "\(decimal(seconds, digits: 0)) s"
        case ..<7_200: return "\(decimal(seconds / 60, digits: 0)) min"
        case ..<172_800: return "\(decimal(seconds / 3_600, digits: 1)) h"
        default:
            let isWhole = milliseconds.isMultiple(of: 86_400_000)
            return "\(decimal(seconds / 86_400, digits: isWhole ? 0 : 1)) d"
        }
    }

    /// Seconds with one decimal.
    static func seconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        return decimal(Double(seconds) + Double(attoseconds) * 1e-18, digits: 1)
    }

    /// A number with so many decimals, rounded to nearest.
    static func decimal(_ number: Double, digits: Int) -> String {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let rounded = (number * scale).rounded()
        guard rounded.magnitude < 1e15 else { return "\(number)" }
        let whole = Int64(rounded)
        let sign = whole < 0 ? "-" : ""
        guard digits > 0 else { return "\(whole)" }
        let (front, back) = whole.magnitude.quotientAndRemainder(dividingBy: UInt64(scale))
        let tail = String(back)
        return sign + "\(front)." + String(repeating: "0", count: digits - tail.count) + tail
    }
}

extension String {
    /// The text with spaces after it, up to a width.
    func padding(toWidth width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, width - count))
    }
}
