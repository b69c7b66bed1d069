/// Collects the answer to one ``NetlinkRequest`` from several datagrams.
///
/// Performs no I/O: the owner of the socket passes each datagram in and acts on the returned ``Progress``.
package struct NetlinkListing<Value> {
    package enum Progress: Equatable, Sendable {
        /// The answer is not complete: receive the next datagram.
        case more
        /// The answer is complete.
        case complete
        /// The kernel refused the request or stopped the listing with this positive `errno` value.
        case failed(errno: Int32)
        /// A datagram was malformed or parts of the answer were lost. Discard the values.
        case broken
    }

    /// The collected values, in the kernel's order.
    package private(set) var values: [Value] = []
    /// Whether the state changed during the listing, so that the values may be inconsistent: repeat the request.
    package private(set) var isInconsistent = false

    private let sequence: UInt32
    private let vocabulary: NetlinkDecoder.Vocabulary

    /// Creates a collector for the answer to one request.
    ///
    /// - Parameters:
    ///   - sequence: The request's sequence number. Messages with other numbers are ignored.
    ///   - vocabulary: The vocabulary of the socket.
    package init(sequence: UInt32, _ vocabulary: NetlinkDecoder.Vocabulary = .routing) {
        self.sequence = sequence
        self.vocabulary = vocabulary
    }

    /// Processes the messages of one datagram.
    ///
    /// - Parameter pick: Converts a message to the value to store, or returns `nil` to store nothing. This limits the memory for large
    ///   listings.
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
                    .ruleRemoved,
                    .generic, .noOperation, .other:
                    if let value = pick(frame.message) { values.append(value) }
                }
            } catch {
                return .broken
            }
        }
    }
}
