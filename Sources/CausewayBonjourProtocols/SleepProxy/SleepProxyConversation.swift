internal import CausewayWire

/// A pending registration with one sleep proxy: the messages that the proxy has not confirmed, and when to repeat them.
struct SleepProxyConversation: Sendable {
    /// The result of a received message.
    enum Outcome: Equatable {
        /// The message is no reply, or other messages are still unconfirmed.
        case pending
        case refused
        case registered(leaseSeconds: UInt32)
    }

    let registration: SleepProxyClient.Registration
    private let peer: MulticastPeer
    /// Messages that the proxy has not confirmed yet, by message ID.
    private var messages: [UInt16: [UInt8]]
    private var sent = 1
    private(set) var due: Duration
    /// The shortest lease granted so far, in seconds.
    private var lease: UInt32 = .max

    /// - Parameter messages: The updates by message ID; at least one. The caller sends them now.
    init(
        _ registration: SleepProxyClient.Registration, with peer: MulticastPeer, _ messages: [UInt16: [UInt8]],
        at now: Duration
    ) {
        self.registration = registration
        self.peer = peer
        self.messages = messages
        due = now + SleepProxyClient.retryInterval
    }

    /// The unconfirmed messages, in the order of their IDs.
    var transmissions: [SleepProxyClient.Action] {
        messages.sorted(by: { $0.key < $1.key }).map { .send($0.value, to: peer) }
    }

    /// Prepares another transmission of the unconfirmed messages. Returns `false` if the maximum number of
    /// transmissions was reached.
    mutating func retry(at now: Duration) -> Bool {
        guard sent < SleepProxyClient.sendLimit else { return false }
        sent += 1
        due = now + SleepProxyClient.retryInterval
        return true
    }

    /// Processes a message. Malformed messages and messages from other peers are ignored.
    mutating func received(_ bytes: Span<UInt8>, from sender: MulticastPeer) -> Outcome {
        guard sender == peer, let message = try? DNSMessage(parsing: bytes), message.flags.contains(.isResponse),
            message.operation == SleepProxyUpdate.operation, messages[message.id] != nil
        else { return .pending }
        guard message.responseCode == .noError else { return .refused }
        messages[message.id] = nil
        // A reply without a lease option grants the requested lease.
        let granted =
            message.extensions?.options.lazy.compactMap(DNSLease.seconds).first ?? SleepProxyClient.leaseSeconds
        lease = min(lease, granted)
        return messages.isEmpty ? .registered(leaseSeconds: lease) : .pending
    }
}
