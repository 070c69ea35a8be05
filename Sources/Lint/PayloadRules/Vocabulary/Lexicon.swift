// SPDX-License-Identifier: Apache-2.0

/// The possible meanings of a name in a payload. They are conventions, so that the rules that
/// depend on them are warnings and notes, or errors only if Apple's rule is clear and the word
/// unmistakable.
struct NameRole: OptionSet, Hashable, Sendable {
    let rawValue: UInt16

    /// A key by which the app can detect missed updates: version, cursor, event id.
    static let version = NameRole(rawValue: 1 << 0)
    /// A key for the caller.
    static let caller = NameRole(rawValue: 1 << 1)
    /// A key for the time at which the push was created.
    static let creationTime = NameRole(rawValue: 1 << 2)
    /// A key whose value is the subject of the push: type, event, action.
    static let discriminator = NameRole(rawValue: 1 << 3)
    /// A key with changes to apply, none of which may be lost.
    static let change = NameRole(rawValue: 1 << 4)
    /// A key with a one-time code.
    static let oneTimeCode = NameRole(rawValue: 1 << 5)
    /// A key that may contain text written by a person.
    static let prose = NameRole(rawValue: 1 << 6)
    /// A word for an event after the first push of a call: cancel, end, update.
    static let laterCallEvent = NameRole(rawValue: 1 << 7)
    /// A word for something other than a call: chat, sync, location.
    static let notCall = NameRole(rawValue: 1 << 8)
    /// A word for a call.
    static let call = NameRole(rawValue: 1 << 9)
    /// A word for something that a person should see or hear immediately.
    static let urgent = NameRole(rawValue: 1 << 10)
    /// A word that may be an event after the first push of a call, or something else: update.
    static let maybeLaterCallEvent = NameRole(rawValue: 1 << 11)
    /// The last word of a key whose value may be an event of a call: `message_type`.
    static let callEventKey = NameRole(rawValue: 1 << 12)
    /// A word for an update of the app's state only: read, deleted, sync.
    static let upkeep = NameRole(rawValue: 1 << 13)
    /// A word for what is worth nothing later: a call that rings, a one-time code.
    static let ringing = NameRole(rawValue: 1 << 14)
}

/// Names and their roles, in a hash table with open addressing.
struct Lexicon: Sendable {
    /// The slots, a power of two, more than half of them empty: `bits` 0, which no name has.
    private let slots: [(bits: UInt128, roles: NameRole)]
    private let mask: Int

    /// Creates a lexicon from lists of names, separated by spaces. A name may be in several lists.
    init(_ lists: [(NameRole, String)]) {
        var roles: [UInt128: NameRole] = [:]
        for (role, names) in lists {
            for name in names.split(separator: " ") {
                let packed = PackedName(String(name))
                precondition(packed.bits != 0, "\(name) is too long for a lexicon")
                roles[packed.bits, default: []].formUnion(role)
            }
        }
        var capacity = 16
        while capacity < 4 * roles.count { capacity *= 2 }
        var slots = [(bits: UInt128, roles: NameRole)](repeating: (0, []), count: capacity)
        for (bits, role) in roles {
            var slot = Self.hash(bits) & (capacity - 1)
            while slots[slot].bits != 0 { slot = (slot + 1) & (capacity - 1) }
            slots[slot] = (bits, role)
        }
        self.slots = slots
        mask = capacity - 1
    }

    /// The roles of a name; empty if it is unknown.
    @inline(__always)
    func roles(of name: PackedName) -> NameRole {
        let bits = name.bits
        guard bits != 0 else { return [] }
        var slot = Self.hash(bits) & mask
        while slots[slot].bits != bits {
            guard slots[slot].bits != 0 else { return [] }
            slot = (slot + 1) & mask
        }
        return slots[slot].roles
    }

    /// Multiplicative hashing (Knuth, The Art of Computer Programming, volume 3, 6.4).
    @inline(__always)
    private static func hash(_ bits: UInt128) -> Int {
        let low = UInt64(truncatingIfNeeded: bits)
        let high = UInt64(truncatingIfNeeded: bits >> 64)
        return Int(truncatingIfNeeded: ((low ^ (high &* 31)) &* 0x9e37_79b9_7f4a_7c15) >> 40)
    }
}

extension Lexicon {
    /// Keys by their complete name.
    static let keys = Lexicon([
        (
            .version,
            """
            v ver version rev revision cursor seq seqno sequence sequenceid etag id eventid \
            changeid syncid updateid messageid notificationid pushid wakeid since checkpoint \
            modseq historyid generation hash digest timestamp ts updatedat modifiedat lastmodified
            """
        ),
        (
            .caller,
            """
            handle caller callername callerid callerhandle callernumber from fromname fromuser \
            fromnumber name displayname username phonenumber phone number contact sender \
            sendername initiator originator peer remoteuser nickname
            """
        ),
        (
            .creationTime,
            """
            timestamp ts time createdat created creationtime sentat senttime sent date iat \
            issuedat starttime startedat startedon calltime epoch
            """
        ),
        (
            .discriminator,
            """
            type kind event action category method command cmd op operation signal state status \
            eventtype eventname actiontype messagetype msgtype notificationtype pushtype \
            payloadtype callstate callstatus callevent calltype callaction
            """
        ),
        (.change, "delta deltas diff diffs patch patches mutation mutations operations ops"),
        (
            .oneTimeCode,
            "otp otpcode onetimecode onetimepassword onetimepasscode verificationcode passcode"
        ),
        (.prose, "message messages messagebody messagetext body text content chat"),
        (
            .notCall,
            """
            message messages chat text sync refresh unread unreadcount badge badgecount config \
            location logout ping wake heartbeat news
            """
        ),
    ])

    /// Keys by the last of several words.
    static let keyEndings = Lexicon([
        (.version, "version revision cursor seq sequence etag checkpoint since"),
        (.caller, "name handle caller from uri"),
        (.creationTime, "timestamp time"),
        (.callEventKey, "type event action status state reason"),
    ])

    /// Words in the value of a discriminator, and complete values.
    static let values = Lexicon([
        (
            .laterCallEvent,
            """
            cancel cancelled canceled end ended hang hangup hungup bye missed elsewhere reject \
            rejected decline declined stopring terminate terminated unanswered noanswer
            """
        ),
        (
            .maybeLaterCallEvent,
            "update updated answered stop stopped finish finished dismiss state status busy timeout"
        ),
        (
            .notCall,
            """
            message messages msg chat text sync refresh unread badge config configuration settings \
            location logout signout ping keepalive wake wakeup heartbeat news sms im email
            """
        ),
        (.call, "call calls calling caller voip voice video ring ringing dial incoming offer"),
        (.urgent, "message msg chat call voip ring otp alert alarm mention sms"),
        (.ringing, "call voip ring otp"),
        (
            .upkeep,
            """
            read unread seen delete deleted remove removed revoke revoked retract retracted \
            unsend unsent edit edited clear cleared dismiss dismissed handled update updated sync \
            synced refresh badge typing reaction receipt settings config status state
            """
        ),
    ])
}
