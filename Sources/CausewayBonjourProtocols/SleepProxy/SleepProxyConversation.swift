internal import CausewayWire

/// A registration with one sleep proxy that is not complete. Stores the messages that the proxy has not confirmed, and
/// the time to repeat them.
struct SleepProxyConversation: Sendable {
    /// What a received message means for the registration.
    enum Outcome: Equatable {
        /// The registration is not complete. Either the received message is not a reply to this registration, or the
        /// proxy has not confirmed all messages yet.
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

    /// - Parameter messages: The update messages by message ID, at least one. The caller sends them immediately.
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

    /// Counts another transmission of the unconfirmed messages and sets the time of the next one. Returns `false` if
    /// the maximum number of transmissions was already reached.
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
