// SPDX-License-Identifier: Apache-2.0

/// JSON Schemas (draft 2020-12) of payloads, for editors and for validators in other languages.
///
/// They express structure, types and values. Rules about sizes, spelling and meaning require
/// ``WakeValidator``.
public enum PayloadSchema {
    /// The schema of a background push: `aps` with only `content-available` 1, and any custom data.
    public static let background = """
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "title": "Background push",
          "description": "The payload of a push that wakes an app (apns-push-type background).",
          "type": "object",
          "required": ["aps"],
          "properties": {
            "aps": {
              "description": "Apple's instructions (rules G010, BG001 to BG005).",
              "type": "object",
              "required": ["content-available"],
              "properties": {
                "content-available": {
                  "description": "Wakes the app (rules BG001 and BG010 to BG012).",
                  "type": "integer",
                  "const": 1
                }
              },
              "additionalProperties": false
            }
          },
          "not": {
            "anyOf": [
              {"required": ["alert"]},
              {"required": ["badge"]},
              {"required": ["content-available"]},
              {"required": ["mutable-content"]},
              {"required": ["sound"]}
            ]
          }
        }
        """

    /// The schema of a VoIP push with the default keys of a call's identifier: custom keys, and no
    /// keys of a visible or silent push.
    public static let voip = """
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "title": "VoIP push",
          "description": "The payload of an incoming call (apns-push-type voip).",
          "type": "object",
          "properties": {
            "aps": {
              "description": "Not needed; PushKit ignores what it holds (rule VO009).",
              "type": "object",
              "properties": {
                "alert": false,
                "badge": false,
                "content-available": false,
                "mutable-content": false,
                "sound": false
              }
            }
          },
          "anyOf": [
        \(voipCallKeys)
          ]
        }
        """

    private static let voipCallKeys = WakeValidator.Configuration().callIdentifierKeys.map { key in
        """
            {
              "required": ["\(key)"],
              "properties": {
                "\(key)": {
                  "description": "The call (rule VO003).",
                  "type": ["string", "integer"],
                  "minLength": 1
                }
              }
            }
        """
    }.joined(separator: ",\n")
}
