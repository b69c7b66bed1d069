internal import DequeModule

/// Sends what comes in bursts at a pace that receivers' socket buffers survive: thousands of services announce themselves at once, and all
/// of them are asked for at once.
///
/// It reads no clock. What others on the link ask for makes the queue no longer: each record is in it once a second at most. What is for
/// one peer alone goes in turns with what is for others, and little of it waits: who asks for more asks again.
package struct PacketPacer: Sendable {
    /// Messages that go at once after a silence.
    package static let burst = 48
    /// And how many a second after those.
    package static let rate = 1_500
    /// Messages for single peers that wait, but for the first of each; so many peers at most; and messages for one of them.
    package static let replyLimit = 1_024
    package static let replyShare = 256

    /// A message, and for whom; `nil` for all.
    package typealias Outgoing = (bytes: [UInt8], peer: MulticastPeer?)

    private var waiting = Deque<[UInt8]>()
    private var replies: [MulticastPeer: Deque<[UInt8]>] = [:]
    /// Peers that wait, each once.
    private var turns = Deque<MulticastPeer>()
    private var replyCount = 0
    private var isReplyNext = false
    /// Messages that may go now, as of `lastTime`.
    private var credit = Double(Self.burst)
    private var lastTime: Duration = .zero

    package init() {}

    package var isEmpty: Bool { waiting.isEmpty && replyCount == 0 }

    package mutating func add(_ message: [UInt8]) { waiting.append(message) }

    package mutating func add(_ message: [UInt8], to peer: MulticastPeer) {
        if let others = replies[peer] {
            guard others.count < Self.replyShare, replyCount < Self.replyLimit else { return }
        } else {
            guard turns.count < Self.replyLimit else { return }
            turns.append(peer)
        }
        replies[peer, default: []].append(message)
        replyCount += 1
    }

    /// What may go now.
    package mutating func take(at now: Duration) -> [Outgoing] {
        let passed = max(now - lastTime, .zero) / .seconds(1)
        lastTime = now
        credit = min(credit + passed * Double(Self.rate), Double(Self.burst))
        var messages: [Outgoing] = []
        while credit >= 1, let message = next() {
            messages.append(message)
            credit -= 1
        }
        return messages
    }

    /// For all and for one in turns, as long as both wait.
    private mutating func next() -> Outgoing? {
        isReplyNext = waiting.isEmpty || (!isReplyNext && replyCount > 0)
        guard isReplyNext else { return waiting.popFirst().map { ($0, nil) } }
        guard let peer = turns.popFirst(), let message = replies[peer]?.popFirst() else { return nil }
        replyCount -= 1
        if replies[peer]?.isEmpty == true { replies[peer] = nil } else { turns.append(peer) }
        return (message, peer)
    }

    /// When more may go; `nil` where nothing waits. Some at a time: each turn of a clock costs as well.
    package var nextDeadline: Duration? { isEmpty ? nil : lastTime + .milliseconds(10) }
}
