// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Time and memory of this process or another.
enum ProcessClocks {
    /// User and system time of this process, in seconds.
    static var cpuSeconds: Double { seconds(of: CLOCK_PROCESS_CPUTIME_ID) }

    /// Monotonic time in seconds.
    static var wallSeconds: Double { seconds(of: CLOCK_MONOTONIC) }

    /// Monotonic time in nanoseconds.
    static var nanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// User and system time of a running process, in seconds.
    static func cpuSeconds(of process: pid_t) -> Double {
        var clock = clockid_t()
        guard clock_getcpuclockid(process, &clock) == 0 else { return 0 }
        return seconds(of: clock)
    }

    private static func seconds(of clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    /// What of this process is in memory now, and the most that ever was, in bytes.
    static var residentBytes: (now: Int, peak: Int) { residentBytes(of: getpid()) }

    /// The same of a running process; zero once it has ended.
    static func residentBytes(of process: pid_t) -> (now: Int, peak: Int) {
        guard let file = fopen("/proc/\(process)/status", "r") else { return (0, 0) }
        defer { fclose(file) }
        var now = 0
        var peak = 0
        while let line = readLine(file) {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard words.count > 1, let kibibytes = Int(words[1]) else { continue }
            if words[0] == "VmRSS:" { now = kibibytes * 1024 }
            if words[0] == "VmHWM:" { peak = kibibytes * 1024 }
        }
        return (now, peak)
    }

    private static func readLine(_ file: UnsafeMutablePointer<FILE>) -> String? {
        // SAFETY: fgets writes at most 256 bytes, the last of them a zero.
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { line in
            guard let start = line.baseAddress, fgets(start, 256, file) != nil else { return nil }
            return String(cString: start)
        }
    }
}
