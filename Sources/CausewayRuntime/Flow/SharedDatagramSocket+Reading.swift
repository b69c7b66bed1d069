internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import Synchronization

/// How a shared socket is read, on its loop's thread: until it is empty at each wake-up, within a bound, and what came is handed over at
/// the end of the turn.
extension SharedDatagramSocket {
    /// What one turn reads before the loop's other descriptors get theirs.
    private static let budget = (calls: 16, bytes: 512 << 10)

    /// How long a socket is left alone whose reader falls behind: no longer than it needs for what it has.
    private static let holdTime = Duration.microseconds(250)

    func arrived() {
        if hasSent.load(ordering: .relaxed) {
            hasSent.store(false, ordering: .relaxed)
            pace.value.sent()
        }
        // One that is paused reads when the pause is over, even if an event is reported: an error of an earlier answer, for instance.
        guard !state.withLock({ state in state.isPausing }) else { return }
        take(pace.value.arrived(at: System.now))
    }

    private func take(_ step: ArrivalPace.Step) {
        switch step {
        case .read: read(0)
        case .wait(let pause): wait(pause)
        case .listen: listen()
        }
    }

    private func wait(_ pause: Duration) {
        setPausing(true)
        _ = loop.schedule(after: pause) { self.read(0) }
    }

    private func listen() {
        setPausing(false)
        if let registration = state.withLock({ state in state.isOpen ? state.registration : nil }) {
            loop.await(.readable, of: registration)
        }
    }

    /// Tells the loop whether to report arrivals. What has come meanwhile is reported at once.
    private func setPausing(_ isPausing: Bool) {
        let registration = state.withLock { state -> Registration? in
            guard state.isPausing != isPausing else { return nil }
            state.isPausing = isPausing
            return state.isOpen ? state.registration : nil
        }
        if let registration, loop.repeatsReports { updateInterest(registration) }
    }

    /// - Parameter count: Datagrams that were read since the wake-up.
    private func read(_ earlier: Int) {
        guard state.withLock({ state in state.beginRead() }) != nil else { return }
        var reader = PacketReader(blockCount: PacketReader.packetLimit)
        var count = earlier
        var byteCount = 0
        var isEmpty = false
        var room = DatagramInbox.Room.ample
        for _ in 0..<Self.budget.calls where !isEmpty && byteCount < Self.budget.bytes && room == .ample {
            do throws(SystemError) {
                let packets = try reader.receive(descriptor, wantsPeer: true)
                for index in 0..<packets { reader.tally(index, &count, &byteCount) }
                if packets > 0 { room = distribute(packets, &reader) }
                isEmpty = packets < PacketReader.packetLimit
            } catch {
                // An ICMP error about an earlier answer concerns no datagram that is here now: there may be more behind it.
            }
        }
        let registration = state.withLock { state in state.endRead() }
        if let registration { return close(registration) }
        if mustHold(room) { return wait(Self.holdTime) }
        if isEmpty { return take(pace.value.wasRead(count, at: System.now)) }
        // Receivers of these datagrams run before the next ones are read.
        loop.execute { [count] in self.read(count) }
    }

    /// Whether to leave more in the kernel for a moment, because a program does not take it as fast as it comes. Reading it would take the
    /// processor from the program, only to lose it. A program that takes nothing at all holds up no other peers.
    private func mustHold(_ room: DatagramInbox.Room) -> Bool {
        switch room {
        case .ample: false
        case .scarce: true
        case .none: peerCount == 1
        }
    }

    /// Gives runs of packets of one peer to its flow in one piece. Returns the least room that one has left.
    private func distribute(_ packets: Int, _ reader: inout PacketReader) -> DatagramInbox.Room {
        if let unknownPeers = state.withLock({ state in state.unknownPeers }) {
            sort(packets, &reader, unknownPeers)
            return .ample
        }
        var room = DatagramInbox.Room.ample
        var start = 0
        while start < packets {
            var end = start + 1
            while end < packets, reader.haveSamePeer(start, end) { end += 1 }
            if let peer = reader.peer(of: start) {
                let source = tracksSource ? reader.info(of: end - 1).local : nil
                room = min(room, hand(reader.takeTrains(start..<end), to: peer, source))
            }
            start = end
        }
        return room
    }

    /// Gives the packets of peers to their flows, and the others to the group.
    private func sort(_ packets: Int, _ reader: inout PacketReader, _ unknownPeers: UnknownPeers) {
        var arrivals: [DatagramArrival] = []
        for index in 0..<packets {
            guard let peer = reader.peer(of: index) else { continue }
            let info = reader.info(of: index)
            let train = reader.takeTrain(index, segment: reader.shape(of: index).segmentByteCount)
            if let flow = flow(of: peer) {
                flow.arrived([train])
            } else {
                arrivals.append(DatagramArrival(train: train, peer: peer, info: info))
            }
        }
        if !arrivals.isEmpty { unknownPeers(self, arrivals) }
    }

    private func hand(
        _ trains: [DatagramBatch.Train], to peer: SocketAddress, _ source: SocketAddress?
    ) -> DatagramInbox.Room {
        guard let flow = flow(of: peer) ?? admit(peer, source) else { return .ample }
        return flow.arrived(trains)
    }
}

extension PacketReader {
    /// Counts the datagrams and bytes of a packet.
    fileprivate func tally(_ index: Int, _ count: inout Int, _ byteCount: inout Int) {
        let (length, segment) = shape(of: index)
        byteCount += length
        count += segment == 0 ? 1 : (length + segment - 1) / segment
    }
}
