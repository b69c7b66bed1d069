internal import DequeModule
package import CausewayWire

/// A queue for received responses. Queries bypass it and are processed at once, so a flood of responses cannot delay this host's answers.
///
/// The queue holds at most ``byteLimit`` bytes in ``messageLimit`` messages, and at most half of both from one sender.
/// Messages above these limits are dropped. A dropped message is like a packet lost on the link: the next query gets
/// the answer again.
package struct MulticastInbox: Sendable {
    package static let messageLimit = 4_096
    package static let byteLimit = 4 << 20

    package struct Message: Sendable {
        package var bytes: [UInt8]
        package var arrival: MulticastArrival
        /// Whether the sender address belongs to this host.
        package var isSelf: Bool

        package init(_ bytes: [UInt8], _ arrival: MulticastArrival, isSelf: Bool) {
            self.bytes = bytes
            self.arrival = arrival
            self.isSelf = isSelf
        }
    }

    private struct Share: Sendable {
        var messages = 0
        var bytes = 0
    }

    private var waiting = Deque<Message>()
    private var shares: [InternetAddress: Share] = [:]
    private var byteCount = 0

    package init() {}

    package var isEmpty: Bool { waiting.isEmpty }
    package var count: Int { waiting.count }

    /// Whether a message with `size` bytes fits into the queue. Check this before copying the message.
    package func hasRoom(for size: Int, from sender: InternetAddress) -> Bool {
        let share = shares[sender] ?? Share()
        return waiting.count < Self.messageLimit && byteCount + size <= Self.byteLimit
            && share.messages < Self.messageLimit / 2 && share.bytes + size <= Self.byteLimit / 2
    }

    /// Appends a message, or drops it if it does not fit.
    package mutating func add(_ message: Message) {
        let sender = message.arrival.peer.address
        guard hasRoom(for: message.bytes.count, from: sender) else { return }
        waiting.append(message)
        byteCount += message.bytes.count
        shares[sender, default: Share()].messages += 1
        shares[sender]?.bytes += message.bytes.count
    }

    /// Removes and returns the oldest message.
    package mutating func next() -> Message? {
        guard let message = waiting.popFirst() else { return nil }
        let sender = message.arrival.peer.address
        byteCount -= message.bytes.count
        shares[sender]?.messages -= 1
        shares[sender]?.bytes -= message.bytes.count
        if shares[sender]?.messages == 0 { shares[sender] = nil }
        return message
    }
}
