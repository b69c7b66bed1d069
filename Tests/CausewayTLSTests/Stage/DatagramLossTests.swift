import CausewayProtocols
import CausewayTestKit
import CausewayTLS
import CausewayTypes
import Testing

@Suite("DTLS over a lossy link")
struct DatagramLossTests {
    struct Link: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// The number of lost datagrams per 100 datagrams.
        var lost = 0
        var doubled = 0
        var isReordering = false

        static let all = [
            Link(testDescription: "loss", lost: 25), Link(testDescription: "doubling", doubled: 40),
            Link(testDescription: "reordering", isReordering: true),
            Link(testDescription: "everything", lost: 20, doubled: 20, isReordering: true),
        ]
    }

    private func pair(_ link: Link, seed: UInt64) throws -> StackPair {
        var pair = try StackPair(
            .client {
                $0.usesDatagrams = true
                $0.firstRetransmission = .milliseconds(16)
                // Use small datagrams, so that the certificates need several of them.
                $0.maximumDatagram = 300
            },
            .server {
                $0.usesDatagrams = true
                $0.firstRetransmission = .milliseconds(16)
                $0.maximumDatagram = 300
            })
        pair.random = SplitMix64(seed: seed)
        pair.isReordering = link.isReordering
        pair.copies = { random in
            if random.integer(in: 1...100) <= link.lost { return 0 }
            return random.integer(in: 1...100) <= link.doubled ? 2 : 1
        }
        return pair
    }

    @Test(
        "The handshake completes, and each message that is read was sent once", arguments: Link.all,
        1...4 as ClosedRange<UInt64>)
    func everything(_ link: Link, seed: UInt64) throws {
        var pair = try pair(link, seed: seed)
        pair.start()
        // OpenSSL reads the real clock. So wait until this time has really passed. OpenSSL itself gives up after some
        // retransmissions.
        while !(pair.client.isReady && pair.server.isReady), pair.client.failure == nil, pair.server.failure == nil {
            pair.advance()
            pair.run()
        }
        try #require(pair.client.isReady && pair.server.isReady, "\(pair.client.reason.debugDescription)")
        let messages = (0..<200).map { number in [UInt8(number)] + pair.random.bytes(number) }
        for message in messages {
            let isTaken = pair.client.stack.send(MessageChunk(message), at: .zero)
            try #require(isTaken)
            if pair.random.chance(oneIn: 8) { pair.run() }
        }
        pair.run()
        let received = pair.server.messages
        #expect(Set(received).isSubset(of: messages) && Set(received).count == received.count)
        #expect(received.count >= (link.lost == 0 ? messages.count : messages.count / 2))
        if !link.isReordering { #expect(received == messages.filter(Set(received).contains)) }
        #expect(pair.client.failure == nil && pair.server.failure == nil)
    }
}
