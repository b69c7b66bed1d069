internal import DequeModule

extension MemberTraffic {
    /// Handles a member's frame. Returns frames for the session: rosters and verification.
    ///
    /// - Throws: The reason to end the link with.
    mutating func received(
        _ frame: PeerFrame, at now: Duration, _ actions: inout Deque<PeerAction>
    ) throws(PeerReason) -> PeerFrame? {
        let isNumbered = frame.flags.contains(.numbered)
        guard isNumbered == frame.type.isNumbered || frame.type == .data else { throw .protocolViolation }
        if isNumbered { queue.frameArrived(frame.byteCount, at: now) }
        do {
            switch frame.type {
            case .data: try receivedData(frame, isReliable: isNumbered, &actions)
            case .acknowledgment:
                guard try queue.acknowledged(frame.payload) else { throw PeerReason.protocolViolation }
                reactivate()
            case .streamOpen, .streamData, .streamWindow, .streamEnd, .streamReset:
                if let event = try streams.received(frame) { try handle(event, &actions) }
                if frame.type == .streamWindow { activate(.stream(frame.channel)) }
            case .offer, .get, .done, .cancel, .part:
                for event in try resources.received(frame) { try handle(event, &actions) }
                if frame.type == .get { advanceResource(frame.channel, &actions) }
            case .roster, .introduce, .gone, .sasCommit, .sasNonce, .sasReveal, .sasResult: return frame
            case .hello, .invite, .accept, .decline, .withdraw, .certified, .certificate, .lane, .udp, .ping, .pong,
                .bye:
                throw PeerReason.protocolViolation
            }
        } catch let reason as PeerReason {
            throw reason
        } catch {
            throw .protocolViolation
        }
        return nil
    }

    private mutating func receivedData(
        _ frame: PeerFrame, isReliable: Bool, _ actions: inout Deque<PeerAction>
    ) throws(PeerReason) {
        let isLast = !frame.flags.contains(.more)
        if isReliable, !queue.messageBytesArrived(frame.payload.count) { throw .tooMuch }
        let result =
            isReliable
            ? assembler.append(frame.payload, isLast: isLast)
            : unreliable.assembler.append(frame.payload, isLast: isLast)
        switch result {
        case .incomplete: break
        case .tooLarge: throw .tooMuch
        case .message(let message):
            if isReliable {
                queue.messageDelivered(message.count)
            } else if !unreliable.admit(message.count) {
                return
            }
            actions.append(.message(member, message, isReliable: isReliable))
        }
    }

    private mutating func handle(_ event: StreamTable.Event, _ actions: inout Deque<PeerAction>) throws(PeerReason) {
        switch event {
        case .opened(let number, let name): actions.append(.streamOpened(channel(number), name: name))
        case .bytes(let number, let bytes): actions.append(.streamBytes(channel(number), bytes))
        case .ended(let number): actions.append(.streamEnded(channel(number)))
        case .failed(let number, let reason): actions.append(.streamFailed(channel(number), reason))
        case .space(let number, let count): actions.append(.streamSpace(channel(number), count))
        case .violation(let reason): throw reason
        }
    }

    private mutating func handle(_ event: ResourceTransfer.Event, _ actions: inout Deque<PeerAction>) throws(PeerReason)
    {
        switch event {
        case .offered(let number, let offer): actions.append(.resourceOffered(channel(number), offer))
        case .bytes(let number, let offset, let bytes):
            actions.append(.resourceBytes(channel(number), offset: offset, bytes))
        case .complete(let number, let digest): actions.append(.resourceComplete(channel(number), digest: digest))
        case .delivered(let number): actions.append(.resourceDelivered(channel(number)))
        case .failed(let number, let reason): actions.append(.resourceFailed(channel(number), reason))
        case .reply(let frame): control.append(frame)
        case .violation(let reason): throw reason
        }
    }
}
