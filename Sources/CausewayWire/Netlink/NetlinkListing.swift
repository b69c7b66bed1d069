/// Collects the reply to one ``NetlinkRequest`` from several datagrams.
///
/// The type does no I/O: the caller receives the datagrams, passes each one to this type, and acts on the returned
/// ``Progress``.
package struct NetlinkListing<Value> {
    package enum Progress: Equatable, Sendable {
        /// More datagrams belong to this reply. Receive the next one.
        case more
        /// The reply is complete.
        case complete
        /// The kernel rejected the request or stopped the listing with this positive `errno` value.
        case failed(errno: Int32)
        /// A datagram was malformed, or parts of the reply were lost. Discard the values.
        case broken
    }

    /// The values of the reply so far, in the kernel's order. The closure `pick` has selected them.
    package private(set) var values: [Value] = []
    /// Whether the kernel's state changed during the listing. The values may then be inconsistent: repeat the request.
    package private(set) var isInconsistent = false

    private let sequence: UInt32
    private let vocabulary: NetlinkDecoder.Vocabulary

    /// Creates a collector for the reply to one request.
    ///
    /// - Parameters:
    ///   - sequence: The request's sequence number. Messages with other sequence numbers are ignored.
    ///   - vocabulary: The kind of messages on the socket: routing or generic netlink.
    package init(sequence: UInt32, _ vocabulary: NetlinkDecoder.Vocabulary = .routing) {
        self.sequence = sequence
        self.vocabulary = vocabulary
    }

    /// Processes the messages in one datagram.
    ///
    /// - Parameter pick: Converts a message to the value to store, or returns `nil` to skip the message. A large
    ///   listing needs little memory if `pick` selects few messages.
    package mutating func adopt(_ datagram: Span<UInt8>, pick: (NetlinkMessage) -> Value?) -> Progress {
        var decoder = NetlinkDecoder(datagram, vocabulary)
        while true {
            do {
                guard let frame = try decoder.next() else { return .more }
                guard frame.header.sequence == sequence else { continue }
                if frame.header.flags.contains(.dumpInterrupted) { isInconsistent = true }
                switch frame.message {
                case .done(let status), .error(let status):
                    return status < 0 ? .failed(errno: 0 &- status) : .complete
                case .overrun:
                    return .broken
                case .translatorPrefix, .link, .linkRemoved, .address, .addressRemoved, .route, .routeRemoved, .rule,
                    .ruleRemoved, .neighbour, .generic, .noOperation, .other:
                    if let value = pick(frame.message) { values.append(value) }
                }
            } catch {
                return .broken
            }
        }
    }
}
