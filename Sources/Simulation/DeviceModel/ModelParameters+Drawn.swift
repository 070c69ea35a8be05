// SPDX-License-Identifier: Apache-2.0

extension ModelParameters {
    /// Parameters drawn uniformly from the ranges of facts §6.3, for a device with unknown
    /// parameters.
    ///
    /// Parameters without a range keep their defaults. ``Service/needsAwakeDevice``,
    /// ``Gates/lowPowerMode`` and whether ``Gates/unusedDays`` applies are drawn with probability
    /// 0.5.
    public static func drawn(using generator: inout SeededGenerator) -> ModelParameters {
        var drawn = ModelParameters()
        drawn.service.draw(using: &generator)
        drawn.rate.draw(using: &generator)
        drawn.budget.draw(using: &generator)
        drawn.gates.draw(using: &generator)
        return drawn
    }
}

extension ModelParameters.Service {
    fileprivate mutating func draw(using generator: inout SeededGenerator) {
        overwriteLatestProbability = generator.fraction(in: 0.9...1)
        reorderProbability = generator.fraction(in: 0...0.05)
        needsAwakeDevice = generator.chance(0.5)
        lowPowerModeBlocksProbability = generator.fraction(in: 0...1)
        lossProbability = generator.fraction(in: 0...0.05)
    }
}

extension ModelParameters.Rate {
    fileprivate mutating func draw(using generator: inout SeededGenerator) {
        minimumSpacingSeconds = generator.integer(in: 600...1260)
        bucketCapacity = generator.integer(in: 1...4)
        bucketRefillSeconds = generator.integer(in: 900...1800)
        deviceLaunchesPerHour = Int(generator.integer(in: 3...20))
        chargingFactor = generator.fraction(in: 0.2...1)
    }
}

extension ModelParameters.Budget {
    fileprivate mutating func draw(using generator: inout SeededGenerator) {
        resetPhaseSeconds = generator.integer(in: 0...86_399)
        runtimeSeconds = generator.integer(in: 200...1800)
        cellularBytes = generator.integer(in: 1_000_000...20_000_000)
    }
}

extension ModelParameters.Gates {
    fileprivate mutating func draw(using generator: inout SeededGenerator) {
        maximumHoldSeconds = generator.integer(in: 3600...86_400)
        lowPowerMode = generator.chance(0.5) ? .blocks : .quadruplesSpacing
        unusedDays = generator.chance(0.5) ? generator.integer(in: 7...30) : nil
    }
}
