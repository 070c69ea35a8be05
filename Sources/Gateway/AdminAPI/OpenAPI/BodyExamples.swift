// SPDX-License-Identifier: Apache-2.0

/// Example bodies by operation id. A gateway with the app `com.example.app` accepts them.
let bodyExamples: [String: String] = [
    "createWake": """
    {"kind":"background","app":"com.example.app","device_token":"\(exampleToken)",\
    "ttl_seconds":3600,"payload":{"aps":{"content-available":1},"version":7}}
    """,
    "createWakes": """
    [{"kind":"background","app":"com.example.app","device_token":"\(exampleToken)",\
    "payload":{"aps":{"content-available":1},"version":7}},\
    {"kind":"voip","app":"com.example.app","device_token":"\(exampleToken)",\
    "payload":{"callUUID":"f4b1b5a2-3d0c-4f29-9d5e-6f0c5a1f8a11","handle":"Ann"}}]
    """,
    "createMulticast": """
    {"kind":"background","app":"com.example.app","device_tokens":["\(exampleToken)"],\
    "payload":{"aps":{"content-available":1},"version":7}}
    """,
    "createChannel": """
    {"app":"com.example.app","storage":"latest"}
    """,
    "sendBroadcast": """
    {"app":"com.example.app","payload":{"aps":{"timestamp":1795253640,"event":"update",\
    "content-state":{"score":1}}}}
    """,
    "validate": """
    {"headers":{"apns-push-type":"background","apns-priority":"5"},\
    "payload":{"aps":{"content-available":1},"version":7}}
    """,
    "lookUpWakes": """
    {"device_token":"\(exampleToken)","states":["pending"]}
    """,
    "lookUpDevice": """
    {"device_token":"\(exampleToken)"}
    """,
    "forgetDeviceByBody": """
    {"device_token":"\(exampleToken)","app":"com.example.app"}
    """,
    "registerDevice": registrationExample, "putRegistration": registrationExample,
    "putDeviceRegistration": """
    {"device_token":"\(exampleToken)","app":"com.example.app","kind":"background"}
    """,
    "reportSignals": """
    {"app":"com.example.app","low_power_mode":false,"battery_percent":80,"charging":true}
    """,
    "reportDeviceSignals": """
    {"device_token":"\(exampleToken)","app":"com.example.app","low_power_mode":true}
    """,
    "confirmLaunches": """
    {"ref":"order-17","device_token":"\(exampleToken)","synced":true}
    """,
]

private let registrationExample = #"{"app":"com.example.app","kind":"background"}"#
private let exampleToken = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"
