// SPDX-License-Identifier: Apache-2.0

public import WakeModel

extension PayloadSchema {
    /// The schema of payloads in which ``WakeValidator`` finds no error, as far as a schema can
    /// express it: warnings are allowed, and sizes, spelling and the meaning of texts are not
    /// included. ``background`` and ``voip`` are stricter: they describe the recommended payloads.
    public static func accepted(of kind: WakeKind) -> String {
        switch kind {
        case .alert:
            """
            {"type":"object","description":"Rule AL001.","required":["aps"],"properties":{"aps":\
            {"type":"object","anyOf":[{"required":["alert"]},{"required":["badge"]},\
            {"required":["sound"]}],"properties":{\(aps(.alert))}}}}
            """
        case .widgets, .controls:
            """
            {"type":"object","description":"Rule WG001.","required":["aps"],"properties":{"aps":\
            {"type":"object","required":["content-changed"],"properties":\
            {\(aps(PushTypeSet(kind)))}}}}
            """
        case .mdm:
            """
            {"type":"object","description":"Rule MD001.","required":["mdm"],"properties":{"mdm":\
            {"type":"string","minLength":1},"aps":{"type":"object","maxProperties":0}}}
            """
        case .liveactivity:
            liveActivity(
                more: """
                    ,{"properties":{"event":{"const":"start"}},"required":["attributes-type",\
                    "attributes","alert"]}
                    """)
        case .location, .complication, .fileprovider, .pushtotalk:
            """
            {"type":"object","description":"Rule G014.","properties":{"aps":{"properties":\
            {\(aps(PushTypeSet(kind)))}}}}
            """
        case .background:
            """
            {"type":"object","description":"Rules G010, G014, BG001 to BG004, BG010.",\
            "required":["aps"],"properties":{"aps":{"type":"object",\
            "required":["content-available"],"properties":{\(aps(.background))}}}}
            """
        case .voip:
            """
            {"type":"object","description":"Rule G014. The rules VO007 and VO008, about pushes \
            that are not a call, are not in it.","properties":{"aps":{"properties":\
            {\(aps(.voip))}}}}
            """
        }
    }

    /// The schema for the payloads of broadcasts, which cannot start a Live Activity.
    public static let acceptedBroadcast = liveActivity(more: "")

    /// `more` are further events, in addition to the end and an update.
    private static func liveActivity(more: String) -> String {
        """
        {"type":"object","description":"Rules LA001 to LA004.","required":["aps"],\
        "properties":{"aps":{"type":"object","required":["timestamp","event"],"properties":\
        {\(aps(.liveactivity))},"anyOf":[{"properties":{"event":{"const":"end"}}},\
        {"properties":{"event":{"const":"update"}},"required":["content-state"]}\(more)]}}}
        """
    }

    private static func aps(_ kind: PushTypeSet) -> String {
        APSKey.allCases.filter { !$0.isIgnored(in: kind) }.map { key in
            let schema =
                switch key {
                case .contentAvailable where kind == .background:
                    // One type each, because generated clients do not support lists of values of
                    // two types.
                    #"{"anyOf":[{"type":"integer","enum":[1]},{"type":"boolean","enum":[true]}]}"#
                case .alert where kind == .background, .badge where kind == .background,
                    .sound where kind == .background:
                    // Not `false`, which is equivalent but not supported by some tools.
                    #"{"not":{}}"#
                case .contentChanged where kind == .widgets || kind == .controls:
                    #"{"const":true}"#
                case .timestamp where kind == .liveactivity,
                    .staleDate where kind == .liveactivity,
                    .dismissalDate where kind == .liveactivity:
                    #"{"type":["number","null"],"exclusiveMaximum":\#(Int(Rules.latestSecond))}"#
                default: schema(key.shape(in: kind), parts: key.parts(in: kind))
                }
            return #""\#(key.name)":\#(schema)"#
        }.joined(separator: ",")
    }

    /// The schema of values in which rule G014 finds no error: `null` is always a warning only
    /// (rule G015), and so are `true` and `false` where a language bridge may have converted 1 or
    /// 0. There each type has its own schema, because generated clients do not support lists of
    /// values of two types.
    private static func schema(
        _ shape: APSKey.Shape, parts: [(name: StaticString, shape: APSKey.Shape)] = []
    ) -> String {
        let members = parts.map { #""\#($0.name)":\#(schema($0.shape))"# }.joined(separator: ",")
        let properties = parts.isEmpty ? "" : #","properties":{\#(members)}"#
        let literals = #"{"type":"boolean"},{"type":"null"}"#
        return switch shape {
        case .text: #"{"type":["string","null"]}"#
        case .dictionary: #"{"type":["object","null"]}"#
        case .textOrDictionary, .sound: #"{"type":["string","object","null"]\#(properties)}"#
        case .list: #"{"type":["array","null"],"items":{}}"#
        case .number: #"{"type":["number","null"]}"#
        case .numberForTrue: #"{"anyOf":[{"type":"number"},\#(literals)]}"#
        case .boolean: #"{"type":["boolean","null"]}"#
        case .badge: #"{"type":["integer","null"],"minimum":0}"#
        case .unitInterval: #"{"type":["number","null"],"minimum":0,"maximum":1}"#
        case .flag: #"{"anyOf":[{"type":"integer","enum":[0,1]},\#(literals)]}"#
        case .one: #"{"anyOf":[{"type":"integer","enum":[1]},\#(literals)]}"#
        case .oneOf(let words):
            #"{"enum":[\#(words.map { "\"\($0)\"" }.joined(separator: ",")),null]}"#
        }
    }
}
