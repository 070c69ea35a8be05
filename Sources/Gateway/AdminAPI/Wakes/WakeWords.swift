// SPDX-License-Identifier: Apache-2.0

import WakeBudget

/// The words for ``WakeBudget/Urgency``.
enum UrgencyWord: String, CaseIterable {
    case deferrable
    case normal
    case urgent

    init(_ urgency: Urgency) {
        switch urgency {
        case .deferrable: self = .deferrable
        case .normal: self = .normal
        case .urgent: self = .urgent
        }
    }

    var urgency: Urgency {
        switch self {
        case .deferrable: .deferrable
        case .normal: .normal
        case .urgent: .urgent
        }
    }
}

/// The words for ``WakeBudget/Coalescing``.
enum CoalescingWord: String, CaseIterable {
    case replace
    case union

    init(_ coalescing: Coalescing) {
        switch coalescing {
        case .replace: self = .replace
        case .union: self = .union
        }
    }

    var coalescing: Coalescing {
        switch self {
        case .replace: .replace
        case .union: .union
        }
    }
}
