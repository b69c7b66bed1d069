/// One member's streams, in both directions.
///
/// A stream that has ended keeps its number and still counts as open, because its last bytes may be unread. It is
/// released when the receiving program releases it. The receiver then sends `STREAM_END`, or resets the stream.
struct StreamTable: Sendable {
    enum Event: Equatable, Sendable {
        case opened(UInt16, name: String)
        case bytes(UInt16, [UInt8])
        case ended(UInt16)
        case failed(UInt16, PeerReason)
        case space(UInt16, Int)
        /// The peer violated the protocol. The link must be ended with this reason.
        case violation(PeerReason)
    }

    private(set) var outgoing: [UInt16: OutgoingStream] = [:]
    /// The numbers of outgoing streams that have ended, but that the peer has not released yet.
    private var unreleased: Set<UInt16> = []
    private var incoming: [UInt16: IncomingStream] = [:]
    /// Whether this side gives odd numbers to the streams that it opens.
    private let isOdd: Bool
    private var next: UInt16

    init(isOdd: Bool) {
        self.isOdd = isOdd
        next = isOdd ? 1 : 2
    }

    private func isOwn(_ number: UInt16) -> Bool { (number % 2 == 1) == isOdd && number != 0 }

    /// Opens a stream. Returns `nil` if 256 streams are open or not released by the peer yet.
    mutating func open() -> UInt16? {
        guard outgoing.count + unreleased.count < PeerLimits.streams else { return nil }
        while outgoing[next] != nil || unreleased.contains(next) || next == 0 { next &+= 2 }
        defer { next &+= 2 }
        outgoing[next] = OutgoingStream()
        return next
    }

    mutating func write(_ number: UInt16, _ bytes: [UInt8]) -> Int { outgoing[number]?.write(bytes) ?? 0 }
    mutating func end(_ number: UInt16) { outgoing[number]?.end() }

    /// Removes and returns the content of an outgoing stream's next frame.
    mutating func next(_ number: UInt16) -> [UInt8]? { outgoing[number]?.next() }

    mutating func spaceToReport(_ number: UInt16) -> Int? { outgoing[number]?.spaceToReport() }

    /// Removes an outgoing stream that has ended and whose bytes are all sent. Returns whether `STREAM_END` must be
    /// sent.
    mutating func takeEnd(_ number: UInt16) -> Bool {
        guard outgoing[number]?.isDrained == true else { return false }
        outgoing[number] = nil
        unreleased.insert(number)
        return true
    }

    mutating func consumed(_ number: UInt16, _ count: Int) -> UInt64? { incoming[number]?.consumed(count) }

    /// Ends a stream in either direction at once, or releases an incoming stream that has ended. Returns the frame for
    /// the peer; `nil` if the stream is not known.
    mutating func release(_ number: UInt16) -> PeerFrame? {
        if isOwn(number) {
            guard outgoing.removeValue(forKey: number) != nil else { return nil }
            unreleased.insert(number)
        } else {
            guard let stream = incoming.removeValue(forKey: number) else { return nil }
            if stream.hasEnded { return PeerFrame(.streamEnd, channel: number) }
        }
        return PeerBodies.reason(.streamReset, .left, channel: number)
    }

    /// Removes all streams. Returns the numbers of those that had not ended.
    mutating func removeAll() -> [UInt16] {
        let open = incoming.filter { !$0.value.hasEnded }
        let numbers = (Array(outgoing.keys) + Array(open.keys)).sorted()
        (outgoing, unreleased, incoming) = ([:], [], [:])
        return numbers
    }

    mutating func received(_ frame: PeerFrame) throws(PeerFields.Malformed) -> Event? {
        switch frame.type {
        case .streamOpen: return try opened(frame)
        case .streamData:
            guard incoming[frame.channel]?.hasEnded == false else { return unknown(frame.channel) }
            guard incoming[frame.channel]?.arrived(frame.payload.count) == true else { return .violation(.tooMuch) }
            // Do not report an empty frame. A peer can send any number of empty frames.
            return frame.payload.isEmpty ? nil : .bytes(frame.channel, frame.payload)
        case .streamEnd: return ended(frame.channel)
        case .streamWindow:
            let fields = try PeerFields(frame.payload)
            outgoing[frame.channel]?.limitArrived(try fields.require(try fields.integer(1), "limit"))
            return nil
        case .streamReset: return reset(frame.channel) ? .failed(frame.channel, PeerBodies.reason(frame.payload)) : nil
        default: return nil
        }
    }

    /// Handles a `STREAM_END` frame. If the sender of the stream sends it, no more bytes follow. If the receiver sends
    /// it, the receiver's program has released the stream.
    private mutating func ended(_ number: UInt16) -> Event? {
        if isOwn(number) { return unreleased.remove(number) == nil ? .violation(.protocolViolation) : nil }
        guard incoming[number]?.hasEnded == false else { return unknown(number) }
        incoming[number]?.hasEnded = true
        return .ended(number)
    }

    /// Handles `STREAM_RESET`. Returns whether the stream was open.
    private mutating func reset(_ number: UInt16) -> Bool {
        if isOwn(number) {
            // A reset of an own stream means that the receiver has released it. The receiver may do this before it
            // knows that the stream has already ended.
            unreleased.remove(number)
            return outgoing.removeValue(forKey: number) != nil
        }
        guard incoming[number]?.hasEnded == false else { return false }
        incoming[number]?.hasEnded = true
        return true
    }

    private mutating func opened(_ frame: PeerFrame) throws(PeerFields.Malformed) -> Event {
        let name = try PeerFields(frame.payload).text(1) ?? ""
        guard frame.channel != 0, !isOwn(frame.channel), incoming[frame.channel] == nil else {
            return .violation(.protocolViolation)
        }
        guard incoming.count < PeerLimits.streams else { return .violation(.tooMuch) }
        incoming[frame.channel] = IncomingStream()
        return .opened(frame.channel, name: name)
    }

    /// Handles content for a stream that does not exist on this side.
    ///
    /// The peer may have opened the stream, and this side may have reset it while frames were in transit. Such frames
    /// are ignored. The peer must not send content for stream number 0, or for a number that only this side may open.
    private func unknown(_ number: UInt16) -> Event? {
        number == 0 || isOwn(number) ? .violation(.protocolViolation) : nil
    }
}
