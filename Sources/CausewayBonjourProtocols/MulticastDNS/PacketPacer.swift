internal import CausewayTypes
internal import DequeModule

/// Limits the rate of outgoing messages, so that the socket buffers of receivers do not overflow. Without the limit, a
/// host that announces or queries thousands of services could overflow them.
///
/// This type reads no clock. It sends multicast and unicast messages alternately.
///
/// The multicast queue contains replies to other hosts and this host's own queries. Each record is multicast at most
/// once per second (RFC 6762 §6), so the replies cannot make the queue grow without limit. The host's own queries
/// could, because each query lists all known answers. The queue therefore holds at most ``byteLimit`` bytes.
///
/// The number of waiting unicast messages is also limited. Messages may be dropped at this limit, because a peer that
/// gets no reply asks again.
package struct PacketPacer: Sendable {
    /// Maximum number of messages sent at once after a pause.
    package static let burst = 48
    /// Maximum rate in messages per second, after ``burst`` messages were sent at once.
    package static let rate = 1_500
    /// Maximum number of peers with waiting unicast messages. If this many unicast messages wait in total, a new
    /// message is accepted only for a peer without waiting messages.
    package static let replyLimit = 1_024
    /// Maximum number of waiting messages for one peer.
    package static let replyShare = 256

    /// Maximum number of bytes in waiting multicast messages.
    package static let byteLimit = 32 << 20

    /// A message and the peer to which it is sent. If the peer is `nil`, the message is sent to the multicast group.
    package typealias Outgoing = (bytes: [UInt8], peer: MulticastPeer?)

    /// The pause between two bursts of messages. A shorter pause would cause more timer wake-ups, each of which has a
    /// cost.
    private static let pause: Duration = .milliseconds(10)

    private var waiting = Deque<[UInt8]>()
    /// The bytes in ``waiting``.
    private var byteCount = 0
    private var replies: [MulticastPeer: Deque<[UInt8]>] = [:]
    /// Peers with waiting messages, each once, in round-robin order.
    private var turns = Deque<MulticastPeer>()
    private var replyCount = 0
    private var isReplyNext = false
    /// The number of messages that may be sent at `lastTime` (token bucket).
    private var credit = Double(Self.burst)
    private var lastTime: Duration = .zero

    package init() {}

    package var isEmpty: Bool { waiting.isEmpty && replyCount == 0 }

    /// Queues a multicast message. Drops the message if the waiting multicast messages would exceed ``byteLimit``.
    package mutating func add(_ message: [UInt8]) {
        guard byteCount + message.count <= Self.byteLimit else { return }
        byteCount += message.count
        waiting.append(message)
    }

    /// Queues a unicast message. If ``replyShare`` or ``replyLimit`` is reached, the message is dropped.
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

    /// Removes and returns the messages that may be sent now. Returns none before ``deadline``.
    package mutating func takeActions(dueAt now: Duration) -> [Outgoing] {
        guard let deadline, deadline <= now else { return [] }
        earnCredit(until: now)
        var messages: [Outgoing] = []
        while credit >= 1, let message = next() {
            messages.append(message)
            credit -= 1
        }
        return messages
    }

    /// Removes and returns all messages, without rate limit. The rate limit then permits fewer messages afterwards.
    package mutating func takeAll(at now: Duration) -> [Outgoing] {
        earnCredit(until: now)
        var messages: [Outgoing] = []
        while let message = next() { messages.append(message) }
        credit = max(credit - Double(messages.count), 0)
        return messages
    }

    private mutating func earnCredit(until now: Duration) {
        let passed = max(now - lastTime, .zero) / .seconds(1)
        lastTime = now
        credit = min(credit + passed * Double(Self.rate), Double(Self.burst))
    }

    /// Removes and returns the next message. Alternates between multicast and unicast messages while both are waiting.
    private mutating func next() -> Outgoing? {
        isReplyNext = waiting.isEmpty || (!isReplyNext && replyCount > 0)
        guard isReplyNext else {
            guard let message = waiting.popFirst() else { return nil }
            byteCount -= message.count
            return (message, nil)
        }
        guard let peer = turns.popFirst(), let message = replies[peer]?.popFirst() else { return nil }
        replyCount -= 1
        if replies[peer]?.isEmpty == true { replies[peer] = nil } else { turns.append(peer) }
        return (message, peer)
    }

    /// The time of the next call to ``takeActions(dueAt:)``; `nil` if no message waits.
    package var deadline: Duration? {
        guard !isEmpty else { return nil }
        return credit >= 1 ? lastTime : lastTime + Self.pause
    }
}

extension PacketPacer: StateMachine {
    package typealias Action = Outgoing

    package var hasEnded: Bool { false }
}
