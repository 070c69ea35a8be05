// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import PayloadLint

@Suite("conditions of scripts")
struct ConditionTests {
    private static let send = """
        curl -H "apns-topic: $TOPIC" -H "apns-push-type: $TYPE" -d "$BODY" \\
          https://api.push.apple.com/3/device/$TOKEN

        """

    private static func findings(_ text: String) async throws -> [String] {
        try await FinishedRun(of: text, named: "push.sh", rules: "G,H,BG,LA").findings()
    }

    @Test(
        "what branches set differently is unknown behind them",
        arguments: [
            "case $1 in\n  a)\n    BODY='{}'\n    ;;\n  b)\n    {body} ;;\nesac\n",
            "case $1 in\nb)\n{body}\n;;\nc)\nBODY='{}'\n;;\n*) exit 1 ;;\nesac\n",
            "if [ $1 = a ]; then\n  BODY='{}'\nelse\n  {body}\nfi\n",
            "if [ $1 = a ]\nthen\n  BODY='{}'\nelif [ $1 = b ]; then\n  {body}\nfi\n",
            "BODY='{}'\nif [ $1 = a ]; then\n  {body}\nfi\n",
            "if [ $1 ]; then\n  if [ $2 ]; then\n    {body}\n  else\n    BODY='{}'\n  fi\nfi\n",
            "if test $1; then\nBODY=$(cat <<E\n{}\nE\n)\nelse\n{body}\nfi\n",
        ])
    func different(condition: String) async throws {
        let body = #"BODY='{"aps":{"badge":"1"}}'"#
        let start = "TOPIC=com.a.b\nTYPE=alert\n"
        let text = start + condition.replacing("{body}", with: body) + Self.send
        #expect(try await Self.findings(text) == [], "\(text)")
    }

    @Test("what only one branch sets, and what is sent in it, is known")
    func same() async throws {
        let body = #"BODY='{"aps":{"badge":"1"}}'"#
        let start = "TOPIC=com.a.b\nTYPE=alert\n"
        for condition in [
            "if [ -z $1 ]; then\n  exit 1\nfi\n{body}\n",
            "if [ -z $1 ]; then\n  {body}\nfi\n",
            "case $1 in\n  a)\n    {body}\n    ;;\n  *)\n    echo usage ;;\nesac\n",
            "if [ $1 = a ]; then\n  {body}\nelse\n  {body}\nfi\n",
            "if [ $1 = a ]; then X=1; else X=2; fi\n{body}\n",
            "if you read this\n{body}\n",
        ] {
            let text = start + condition.replacing("{body}", with: body) + Self.send
            #expect(try await Self.findings(text).count == 1, "\(text)")
        }
        let inside =
            start + "if [ $1 = a ]; then\n\(body)\n\(Self.send)else\nBODY='{}'\nfi\n"
        #expect(try await Self.findings(inside).count == 1)
        let files =
            start + "if [ $1 = a ]; then\necho '{}' > a.json\nelse\n"
            + "echo '{\"aps\":{\"badge\":\"1\"}}' > a.json\nfi\n"
            + Self.send.replacing("$BODY", with: "@a.json")
        #expect(try await Self.findings(files) == [])
    }
}
