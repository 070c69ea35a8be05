// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// Joins the parts of pushes that stand in several blocks of a page.
extension DocumentReader {
    /// Joins blocks of headers with the payloads in the blocks beside them, if only prose of one
    /// section is between them, and each has its partner: where headers and payloads take turns.
    func join(
        _ readings: inout [Reading], of blocks: [PageBlock], in sections: PageSections
    ) {
        var start = 0
        while start < readings.count {
            var end = start + 1
            while end < readings.count, readings[end - 1].isPart(assuming: assumptions),
                readings[end].isPart(assuming: assumptions)
            {
                let first = blocks[end - 1].whole.upperBound
                let second = blocks[end].whole.lowerBound
                guard
                    sections.areTogether(first, second)
                        || sections.areHeadersAndPayload(first, second)
                        || readings[end - 1].isHeaders != readings[end].isHeaders
                            && sections.areTogether(
                                first, second,
                                butFor: readings[end].isHeaders ? .headers : .payload)
                else { break }
                end += 1
            }
            let takeTurns = (start + 1..<end).allSatisfy {
                readings[$0 - 1].isHeaders != readings[$0].isHeaders
            }
            if takeTurns, (end - start).isMultiple(of: 2) {
                for index in stride(from: start, to: end, by: 2) { join(&readings, index) }
            }
            start = end
        }
    }

    /// Joins a block with the next one: headers and a payload, in either order.
    private func join(_ readings: inout [Reading], _ index: Int) {
        let order = readings[index].isHeaders ? (index, index + 1) : (index + 1, index)
        guard case .headers(let headers) = readings[order.0],
            case .pushes(var document) = readings[order.1],
            let payload = document.barePayload(assuming: assumptions)
        else { return }
        document.items = [headers.joined(with: payload)]
        document.items[0].isJoined = true
        readings[order.1] = .pushes(document)
        readings[order.0] = .other
    }

    /// Joins the headers of a VoIP push with the object in the block behind them, which has the
    /// data of a call and no `aps`: such a push needs none.
    func joinCalls(
        _ readings: inout [Reading], of blocks: [PageBlock], in sections: PageSections,
        _ bytes: [UInt8]
    ) {
        for index in readings.indices.dropLast() {
            guard case .headers(let headers) = readings[index], case .other = readings[index + 1],
                headers.draft.headers.contains(where: {
                    $0.name == "apns-push-type" && $0.value == "voip"
                }),
                ["", "json"].contains(blocks[index + 1].language),
                sections.areTogether(
                    blocks[index].whole.upperBound, blocks[index + 1].whole.lowerBound)
            else { continue }
            let block = blocks[index + 1].text(in: bytes)
            guard PageSections.speaksOfCall(block), let document = try? JSONScanner.scan(block),
                document.kind(0) == .object, !Self.isForAnother(document)
            else { continue }
            guard
                case .pushes(var push) = moved(
                    .pushes(bare(block, .payload)), of: blocks[index + 1])
            else { continue }
            push.items[0] = headers.joined(with: push.items[0])
            push.items[0].isJoined = true
            readings[index] = .other
            readings[index + 1] = .pushes(push)
        }
    }
}
