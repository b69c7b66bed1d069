/// The resources that are sent to one member, and those received from this member.
struct ResourceTransfer: Sendable {
    enum Event: Equatable, Sendable {
        case offered(UInt16, ResourceOffer)
        case bytes(UInt16, UInt64, [UInt8])
        case complete(UInt16, digest: [UInt8]?)
        case delivered(UInt16)
        case failed(UInt16, PeerReason)
        /// A frame to send to the peer.
        case reply(PeerFrame)
        case violation(PeerReason)
    }

    private(set) var sends: [UInt16: ResourceSend] = [:]
    private var receives: [UInt16: ResourceReceive] = [:]
    /// The number of incoming resources that have ended, but whose end event the program has not taken yet.
    private var untaken = 0
    private let isOdd: Bool
    private var next: UInt16

    init(isOdd: Bool) {
        self.isOdd = isOdd
        next = isOdd ? 1 : 2
    }

    private func isOwn(_ number: UInt16) -> Bool { (number % 2 == 1) == isOdd && number != 0 }

    /// Offers a resource to the peer. Returns `nil` if 64 offers are open.
    mutating func offer(_ offer: ResourceOffer) -> (number: UInt16, frame: PeerFrame)? {
        guard sends.count < PeerLimits.offers else { return nil }
        while sends[next] != nil || next == 0 { next &+= 2 }
        defer { next &+= 2 }
        sends[next] = ResourceSend()
        var fields = PeerFields()
        fields.append(1, offer.name)
        if let size = offer.size { fields.append(2, size) }
        return (next, PeerFrame(.offer, channel: next, fields: fields))
    }

    mutating func nextRead(_ number: UInt16) -> (offset: UInt64, count: Int)? { sends[number]?.nextRead() }

    mutating func provide(_ number: UInt16, _ bytes: [UInt8], isLast: Bool, digest: [UInt8]?) {
        sends[number]?.provide(bytes, isLast: isLast, digest: digest)
    }

    /// Removes and returns a resource's next `PART`.
    mutating func nextPart(_ number: UInt16, atMost maximum: Int) -> PeerFrame? {
        guard let part = sends[number]?.next(atMost: maximum) else { return nil }
        return PeerFrame(.part, channel: number, payload: part.offset.bigEndianBytes + part.bytes)
    }

    mutating func takeDone(_ number: UInt16) -> PeerFrame? {
        sends[number]?.takeDone().map { PeerFrame(.done, channel: number, fields: $0) }
    }

    /// Returns a `GET` frame. Returns `nil` if too many resources have ended and the program has not yet taken their
    /// end events. In this case, ``endTaken()`` returns the `GET` frame later.
    mutating func fetch(_ number: UInt16, from offset: UInt64) -> PeerFrame? {
        guard untaken < PeerLimits.offers else {
            receives[number]?.heldOffset = offset
            return nil
        }
        return receives[number]?.fetch(from: offset).asGet(number)
    }

    /// Records that the program has taken one event for the end of a resource.
    ///
    /// While too many such events wait, this side delays its requests for other resources. Returns a `GET` frame for
    /// each request that no longer needs to wait.
    mutating func endTaken() -> [PeerFrame] {
        untaken = max(0, untaken - 1)
        guard untaken < PeerLimits.offers else { return [] }
        return receives.keys.sorted().compactMap { number in
            guard let offset = receives[number]?.heldOffset else { return nil }
            return receives[number]?.fetch(from: offset).asGet(number)
        }
    }

    mutating func consumed(_ number: UInt16, _ count: Int) -> PeerFrame? {
        receives[number]?.consumed(count)?.asGet(number)
    }

    /// Returns a `DONE` frame for the sender, because the program has stored the resource.
    mutating func stored(_ number: UInt16) -> PeerFrame? {
        guard receives[number]?.state == .complete, remove(number) else { return nil }
        return PeerFrame(.done, channel: number)
    }

    /// Returns a `GET` frame for each resource that this side is receiving. The caller sends these frames after the
    /// control link or a connection for resource bytes has broken.
    mutating func refetchAll() -> [PeerFrame] {
        receives.keys.sorted().compactMap { receives[$0]?.refetch()?.asGet($0) }
    }

    /// Removes a resource that this side is receiving or sending. Returns `true` if there was such a resource.
    mutating func remove(_ number: UInt16) -> Bool {
        guard receives.removeValue(forKey: number) != nil else { return sends.removeValue(forKey: number) != nil }
        untaken += 1
        return true
    }

    mutating func removeAll() -> [UInt16] {
        defer { (sends, receives) = ([:], [:]) }
        return (Array(sends.keys) + Array(receives.keys)).sorted()
    }

    mutating func received(_ frame: PeerFrame) throws(PeerFields.Malformed) -> [Event] {
        let number = frame.channel
        switch frame.type {
        case .offer: return [try offered(frame)]
        case .get:
            let fields = try PeerFields(frame.payload)
            sends[number]?.requested(
                from: try fields.integer(1), limit: try fields.require(try fields.integer(2), "limit"))
            return []
        case .part:
            guard frame.payload.count > 8 else {
                throw PeerFields.Malformed(message: "PART of \(frame.payload.count) bytes")
            }
            return part(number, frame.payload.prefix(8).bigEndianInteger, Array(frame.payload.dropFirst(8)))
        case .done: return try done(frame)
        case .cancel: return remove(number) ? [.failed(number, PeerBodies.reason(frame.payload))] : []
        default: return []
        }
    }

    private mutating func offered(_ frame: PeerFrame) throws(PeerFields.Malformed) -> Event {
        let fields = try PeerFields(frame.payload)
        guard frame.channel != 0, !isOwn(frame.channel), receives[frame.channel] == nil else {
            return .violation(.protocolViolation)
        }
        guard receives.count < PeerLimits.offers, untaken < PeerLimits.endedOffers else { return .violation(.tooMuch) }
        let offer = ResourceOffer(
            name: ResourceOffer.safeName(try fields.text(1) ?? ""), size: try fields.integer(2))
        receives[frame.channel] = ResourceReceive(offer)
        return .offered(frame.channel, offer)
    }

    private mutating func part(_ number: UInt16, _ offset: UInt64, _ bytes: [UInt8]) -> [Event] {
        switch receives[number]?.arrived(offset, bytes) {
        case .bytes(let offset, let bytes): return [.bytes(number, offset, bytes)] + completion(number)
        case .gap: return (receives[number]?.refetch()?.asGet(number)).map { [.reply($0)] } ?? []
        case .tooMuch: return [.violation(.tooMuch)]
        case .ignored, nil: return []
        }
    }

    /// Handles a `DONE` frame. From the sender, it means that all bytes were sent. From the receiver, it means that the
    /// file is stored.
    private mutating func done(_ frame: PeerFrame) throws(PeerFields.Malformed) -> [Event] {
        let number = frame.channel
        if isOwn(number) {
            guard let send = sends[number] else { return [] }
            guard send.wasComplete else { return [.violation(.protocolViolation)] }
            sends[number] = nil
            return [.delivered(number)]
        }
        let fields = try PeerFields(frame.payload)
        receives[number]?.doneArrived(
            size: try fields.require(try fields.integer(1), "size"), digest: fields[2])
        return completion(number)
    }

    private mutating func completion(_ number: UInt16) -> [Event] {
        switch receives[number]?.takeCompletion() {
        case .complete(let digest): [.complete(number, digest: digest)]
        case .tooMuch: [.violation(.tooMuch)]
        case .incomplete, nil: []
        }
    }
}

extension PeerFields {
    fileprivate func asGet(_ number: UInt16) -> PeerFrame { PeerFrame(.get, channel: number, fields: self) }
}
