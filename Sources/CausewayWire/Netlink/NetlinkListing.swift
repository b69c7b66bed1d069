/// Collects the answer to one ``NetlinkRequest`` from the datagrams it comes in.
///
/// Pure bookkeeping: the owner of the socket feeds it and acts on the returned ``Progress``.
package struct NetlinkListing<Value> {
    package enum Progress: Equatable, Sendable {
        /// The end is not here yet: receive on.
        case more
        /// Everything arrived.
        case complete
        /// The kernel refused, or gave up halfway, with this positive `errno` value.
        case failed(errno: Int32)
        /// A datagram made no sense, or parts of the answer were lost: what is here is worthless.
        case broken
    }

    /// What was picked so far, in the kernel's order.
    package private(set) var values: [Value] = []
    /// Whether the listed state changed meanwhile, so that the values may contradict each other: ask again.
    package private(set) var isInconsistent = false

    private let sequence: UInt32
    private let vocabulary: NetlinkDecoder.Vocabulary

    /// - Parameters:
    ///   - sequence: What the request was numbered with. Answers to other requests are passed over.
    ///   - vocabulary: Of the socket.
    package init(sequence: UInt32, _ vocabulary: NetlinkDecoder.Vocabulary = .routing) {
        self.sequence = sequence
        self.vocabulary = vocabulary
    }

    /// Takes over the messages in one datagram.
    ///
    /// - Parameter pick: What to keep of a message; `nil` keeps nothing. Large listings stay small in memory.
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
