/// One member's streams, in both directions.
struct StreamTable: Sendable {
    enum Event: Equatable, Sendable {
        case opened(UInt16, name: String)
        case bytes(UInt16, [UInt8])
        case ended(UInt16)
        case failed(UInt16, PeerReason)
        case space(UInt16, Int)
        /// The peer violated the protocol: the link must end with this reason.
        case violation(PeerReason)
    }

    private(set) var outgoing: [UInt16: OutgoingStream] = [:]
    private var incoming: [UInt16: IncomingStream] = [:]
    /// Whether this side opens odd numbers.
    private let isOdd: Bool
    private var next: UInt16

    init(isOdd: Bool) {
        self.isOdd = isOdd
        next = isOdd ? 1 : 2
    }

    private func isOwn(_ number: UInt16) -> Bool { (number % 2 == 1) == isOdd && number != 0 }

    /// Opens a stream. Returns `nil` if 256 streams are open.
    mutating func open() -> UInt16? {
        guard outgoing.count < PeerLimits.streams else { return nil }
        while outgoing[next] != nil || next == 0 { next &+= 2 }
        defer { next &+= 2 }
        outgoing[next] = OutgoingStream()
        return next
    }

    mutating func write(_ number: UInt16, _ bytes: [UInt8]) -> Int { outgoing[number]?.write(bytes) ?? 0 }
    mutating func end(_ number: UInt16) { outgoing[number]?.end() }

    /// Removes and returns a stream's next frame content.
    mutating func next(_ number: UInt16) -> [UInt8]? { outgoing[number]?.next() }

    mutating func spaceToReport(_ number: UInt16) -> Int? { outgoing[number]?.spaceToReport() }

    /// Removes an ended stream whose bytes are all sent. Returns whether `STREAM_END` must be sent.
    mutating func takeEnd(_ number: UInt16) -> Bool {
        guard outgoing[number]?.isDrained == true else { return false }
        outgoing[number] = nil
        return true
    }

    mutating func consumed(_ number: UInt16, _ count: Int) -> UInt64? { incoming[number]?.consumed(count) }

    /// Removes a stream in either direction. Returns whether it was known.
    mutating func remove(_ number: UInt16) -> Bool {
        let wasKnown = outgoing[number] != nil || incoming[number] != nil
        outgoing[number] = nil
        incoming[number] = nil
        return wasKnown
    }

    /// Removes all streams, and returns their numbers.
    mutating func removeAll() -> [UInt16] {
        let numbers = (Array(outgoing.keys) + Array(incoming.keys)).sorted()
        outgoing = [:]
        incoming = [:]
        return numbers
    }

    mutating func received(_ frame: PeerFrame) throws(PeerFields.Malformed) -> Event? {
        switch frame.type {
        case .streamOpen: return try opened(frame)
        case .streamData:
            guard incoming[frame.channel] != nil else { return unknown(frame.channel) }
            guard incoming[frame.channel]?.arrived(frame.payload.count) == true else { return .violation(.tooMuch) }
            return .bytes(frame.channel, frame.payload)
        case .streamEnd:
            guard incoming.removeValue(forKey: frame.channel) != nil else { return unknown(frame.channel) }
            return .ended(frame.channel)
        case .streamWindow:
            let fields = try PeerFields(frame.payload)
            outgoing[frame.channel]?.limitArrived(try fields.require(try fields.integer(1), "limit"))
            return nil
        case .streamReset:
            return remove(frame.channel) ? .failed(frame.channel, PeerBodies.reason(frame.payload)) : nil
        default: return nil
        }
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

    /// Frames for a stream that this side reset may still be in flight, and are ignored. The peer must not send frames
    /// with a number that this side opens.
    private func unknown(_ number: UInt16) -> Event? {
        number == 0 || isOwn(number) ? .violation(.protocolViolation) : nil
    }
}
