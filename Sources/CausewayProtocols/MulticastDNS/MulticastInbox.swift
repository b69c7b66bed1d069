internal import DequeModule
package import CausewayWire

/// Answers that came and wait to be read, while questions go before them: whoever floods a link with answers does not make those
/// wait who ask something of this host.
///
/// Holds at most ``octetLimit`` octets in ``messageLimit`` messages, and half of them from one sender. What finds no room is lost, as on
/// the wire: the next question brings it again.
package struct MulticastInbox: Sendable {
    package static let messageLimit = 4_096
    package static let octetLimit = 4 << 20

    package struct Message: Sendable {
        package var octets: [UInt8]
        package var arrival: MulticastArrival
        package var isSelf: Bool

        package init(_ octets: [UInt8], _ arrival: MulticastArrival, isSelf: Bool) {
            self.octets = octets
            self.arrival = arrival
            self.isSelf = isSelf
        }
    }

    private struct Share: Sendable {
        var messages = 0
        var octets = 0
    }

    private var waiting = Deque<Message>()
    private var shares: [InternetAddress: Share] = [:]
    private var octetCount = 0

    package init() {}

    package var isEmpty: Bool { waiting.isEmpty }
    package var count: Int { waiting.count }

    /// Whether a message of so many octets finds room: to be asked before its octets are copied.
    package func hasRoom(for byteCount: Int, from sender: InternetAddress) -> Bool {
        let share = shares[sender] ?? Share()
        return waiting.count < Self.messageLimit && octetCount + byteCount <= Self.octetLimit
            && share.messages < Self.messageLimit / 2 && share.octets + byteCount <= Self.octetLimit / 2
    }

    package mutating func add(_ message: Message) {
        let sender = message.arrival.peer.address
        guard hasRoom(for: message.octets.count, from: sender) else { return }
        waiting.append(message)
        octetCount += message.octets.count
        shares[sender, default: Share()].messages += 1
        shares[sender]?.octets += message.octets.count
    }

    /// The message that has waited longest.
    package mutating func next() -> Message? {
        guard let message = waiting.popFirst() else { return nil }
        let sender = message.arrival.peer.address
        octetCount -= message.octets.count
        shares[sender]?.messages -= 1
        shares[sender]?.octets -= message.octets.count
        if shares[sender]?.messages == 0 { shares[sender] = nil }
        return message
    }
}
