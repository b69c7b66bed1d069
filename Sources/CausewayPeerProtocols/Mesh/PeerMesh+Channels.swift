internal import DequeModule

extension PeerMesh {
    /// Runs `body`, which changes a member's queues. Then notifies the network code if the queues have output to send.
    /// Returns `nil` if the member is not connected.
    private mutating func withTraffic<Result>(
        _ member: MemberID, at now: Duration, _ body: (inout MemberTraffic, inout Deque<PeerAction>) -> Result
    ) -> Result? {
        guard self[member]?.phase.isConnected == true else { return nil }
        // Move `traffic` out of the table, and move it back after the call. Its buffers then have only one reference,
        // so a change does not copy them.
        guard var traffic = sessions[member.session]?.members[member.peer]?.traffic.take() else { return nil }
        let result = body(&traffic, &actions)
        sessions[member.session]?.members[member.peer]?.traffic = traffic
        announce(member, at: now)
        return result
    }

    /// Runs `body` with the send queues of a member. The given stream or resource belongs to this member.
    ///
    /// Returns `nil` if the member is not connected. Also returns `nil` if the member has left and joined again since
    /// the stream or resource began.
    private mutating func withTraffic<Result>(
        _ channel: ChannelID, at now: Duration, _ body: (inout MemberTraffic, inout Deque<PeerAction>) -> Result
    ) -> Result? {
        guard self[channel.member]?.traffic?.membership == channel.membership else { return nil }
        return withTraffic(channel.member, at: now, body)
    }

    // Functions for messages

    /// Queues a message for a member. Reliable messages arrive once and in order, even if the link is replaced.
    ///
    /// - Parameter key: A reliable message replaces a queued message with the same key, unless a part of that message
    ///   was sent.
    package mutating func send(
        _ message: [UInt8], to member: MemberID, reliably: Bool, key: String? = nil, at now: Duration
    ) -> SendResult {
        if !reliably, let result = sendDatagram(message, to: member, at: now) { return result }
        let limit = configuration.queueLimit
        let result = withTraffic(member, at: now) { traffic, _ in
            traffic.send(message, reliably: reliably, key: key, limit: limit)
        }
        return result ?? .notConnected
    }

    /// Queues a message for all members. If one member's queue is full, queues the message for none.
    ///
    /// The program sends a refused message again. If some members had already received it, they would receive it twice.
    ///
    /// - Returns: `queued`, even if an unreliable message is dropped for a member. Otherwise the reason why no member
    ///   gets the message.
    package mutating func send(_ message: [UInt8], toAll members: [MemberID], reliably: Bool, at now: Duration)
        -> SendResult
    {
        guard members.allSatisfy({ isConnected($0) }) else { return .notConnected }
        // First check the message's length, and then check the space in the queues. A message that is too long would
        // not fit into any queue.
        guard message.count <= PeerLimits.message else { return .tooLarge }
        guard members.allSatisfy({ hasRoom(for: message.count, to: $0, reliably: reliably) }) else { return .full }
        var result = SendResult.queued
        for member in members {
            let one = send(message, to: member, reliably: reliably, at: now)
            if one != .dropped, one != .queued { result = one }
        }
        return result
    }

    private func hasRoom(for byteCount: Int, to member: MemberID, reliably: Bool) -> Bool {
        let limit = configuration.queueLimit
        return self[member]?.traffic?.hasRoom(for: byteCount, reliably: reliably, limit: limit) ?? true
    }

    /// Reports that the program has consumed one message. Without this call, the peer can send at most 4 MiB of
    /// reliable messages. Each message counts ``PeerLimits/messageOverhead`` bytes more than its size. Unreliable
    /// messages above ``PeerLimits/unreliableHeld`` are dropped.
    package mutating func consumed(_ byteCount: Int, from member: MemberID, isReliable: Bool = true, at now: Duration) {
        _ = withTraffic(member, at: now) { traffic, _ in
            if isReliable {
                traffic.queue.consumed(byteCount, at: now)
            } else {
                traffic.unreliable.consumed(byteCount)
            }
        }
    }

    /// Returns the message bytes queued for a member.
    package func queuedByteCount(_ member: MemberID) -> Int { self[member]?.traffic?.outbox.byteCount ?? 0 }

    // Handling streams

    /// Opens a stream to a member. Returns `nil` if the member is not connected, the name exceeds 255 bytes, or 256
    /// streams are open or not released by the peer yet.
    package mutating func openStream(_ name: String, to member: MemberID, at now: Duration) -> ChannelID? {
        guard name.utf8.count <= PeerLimits.name else { return nil }
        let channel: ChannelID?? = withTraffic(member, at: now) { traffic, _ in
            guard let number = traffic.streams.open() else { return nil }
            var fields = PeerFields()
            fields.append(1, name)
            traffic.control.append(PeerFrame(.streamOpen, channel: number, fields: fields))
            return traffic.channel(number)
        }
        return channel.flatMap { $0 }
    }

    /// Queues stream bytes. Returns the number of accepted bytes. If not all were accepted,
    /// ``PeerAction/streamSpace(_:_:)`` follows.
    package mutating func write(_ channel: ChannelID, _ bytes: [UInt8], at now: Duration) -> Int {
        withTraffic(channel, at: now) { traffic, _ in
            let count = traffic.streams.write(channel.number, bytes)
            traffic.activate(.stream(channel.number))
            return count
        } ?? 0
    }

    /// Ends a stream after its queued bytes. ``PeerAction/streamEnded(_:)`` follows when they are sent.
    package mutating func endStream(_ channel: ChannelID, at now: Duration) {
        _ = withTraffic(channel, at: now) { traffic, events in
            traffic.streams.end(channel.number)
            traffic.endStreamIfDrained(channel.number, &events)
        }
    }

    /// Ends an incoming or outgoing stream immediately. For an incoming stream that has already ended, releases it. No
    /// event follows on this side.
    ///
    /// Until this call, an ended stream still counts as open, and the peer cannot open another stream in its place.
    package mutating func releaseStream(_ channel: ChannelID, at now: Duration) {
        _ = withTraffic(channel, at: now) { traffic, _ in
            if let frame = traffic.streams.release(channel.number) { traffic.control.append(frame) }
        }
    }

    /// Reports that the program has consumed bytes of a stream. Without these reports, the peer stops sending after 256
    /// KiB.
    package mutating func consumedStream(_ channel: ChannelID, _ byteCount: Int, at now: Duration) {
        _ = withTraffic(channel, at: now) { traffic, _ in
            guard let limit = traffic.streams.consumed(channel.number, byteCount) else { return }
            traffic.control.append(
                PeerFrame(.streamWindow, channel: channel.number, fields: PeerFields().with(1, limit)))
        }
    }

    // Resources

    /// Offers a file to a member. Returns `nil` if the member is not connected or 64 offers are open.
    package mutating func offer(_ offer: ResourceOffer, to member: MemberID, at now: Duration) -> ChannelID? {
        var named = offer
        named.name = ResourceOffer.safeName(offer.name)
        let channel: ChannelID?? = withTraffic(member, at: now) { traffic, _ in
            guard let (number, frame) = traffic.resources.offer(named) else { return nil }
            traffic.control.append(frame)
            return traffic.channel(number)
        }
        return channel.flatMap { $0 }
    }

    /// Passes file bytes, in answer to ``PeerAction/resourceWanted(_:offset:count:)``.
    ///
    /// - Parameters:
    ///   - channel: The resource.
    ///   - bytes: The bytes at the requested offset.
    ///   - isLast: Whether the file ends after these bytes.
    ///   - digest: The whole file's SHA-256 digest, if the caller knows it. Needed only if `isLast` is `true`.
    ///   - now: The current time.
    package mutating func provide(
        _ channel: ChannelID, _ bytes: [UInt8], isLast: Bool, digest: [UInt8]? = nil, at now: Duration
    ) {
        let isKnown: Void? = withTraffic(channel, at: now) { traffic, events in
            traffic.resources.provide(channel.number, bytes, isLast: isLast, digest: digest)
            traffic.advanceResource(channel.number, &events)
        }
        if isKnown != nil { activateParts(of: channel.member, channel.number, at: now) }
    }

    /// Accepts an offer, starting at the first missing byte.
    ///
    /// If too many resources have ended without a ``resourceTaken(_:at:)`` call, the request for the bytes waits.
    package mutating func fetch(_ channel: ChannelID, from offset: UInt64 = 0, at now: Duration) {
        _ = withTraffic(channel, at: now) { traffic, _ in
            if let frame = traffic.resources.fetch(channel.number, from: offset) { traffic.control.append(frame) }
        }
    }

    /// Reports that resource bytes were written to the file. Without this call, a peer sends at most 4 MiB.
    package mutating func consumedResource(_ channel: ChannelID, _ byteCount: Int, at now: Duration) {
        _ = withTraffic(channel, at: now) { traffic, _ in
            if let frame = traffic.resources.consumed(channel.number, byteCount) { traffic.control.append(frame) }
        }
    }

    /// Reports that the complete file is stored. This is the receiver's final call; no event follows on this side.
    package mutating func stored(_ channel: ChannelID, at now: Duration) {
        _ = withTraffic(channel, at: now) { traffic, _ in
            if let frame = traffic.resources.stored(channel.number) { traffic.control.append(frame) }
        }
    }

    /// Cancels a resource on either side. The peer gets ``PeerAction/resourceFailed(_:_:)``. No event follows on this
    /// side.
    package mutating func cancelResource(_ channel: ChannelID, _ reason: PeerReason = .left, at now: Duration) {
        _ = withTraffic(channel, at: now) { traffic, _ in
            guard traffic.resources.remove(channel.number) else { return }
            traffic.control.append(PeerBodies.reason(.cancel, reason, channel: channel.number))
        }
    }

    /// Reports that the program has handled the end of an incoming resource. The end can be a success, a cancellation
    /// or a failure. Without these reports, a peer sends at most 128 resources.
    package mutating func resourceTaken(_ channel: ChannelID, at now: Duration) {
        _ = withTraffic(channel, at: now) { traffic, _ in
            let frames = traffic.resources.endTaken()
            traffic.control.append(contentsOf: frames)
        }
    }
}
