internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import Synchronization

/// Reads a shared socket on its loop's thread.
///
/// After each arrival report, reads until the socket is empty or a limit is reached. The loop first handles its current
/// events. Then the program's closures get the datagrams.
extension SharedDatagramSocket {
    /// The limits for one series of reads: the number of receive calls, and the number of bytes. When a limit is
    /// reached, the loop handles its other descriptors before the next series.
    private static let budget = (calls: 16, bytes: 512 << 10)

    /// The maximum time for which datagrams stay in the kernel if a program receives too slowly. `alone` applies if the
    /// socket has one peer, `beside` if it has several peers.
    private static let holdTimes = (alone: Duration.milliseconds(20), beside: Duration.microseconds(250))

    func arrived() {
        if hasSent.load(ordering: .relaxed) {
            hasSent.store(false, ordering: .relaxed)
            pace.value.sent()
        }
        // The socket is paused and will be read when the pause ends. Until then, ignore its events, such as an ICMP
        // error for an earlier reply.
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

    /// Sets whether reading is paused. After a pause, the loop also reports datagrams that arrived during the pause.
    private func setPausing(_ isPausing: Bool) {
        let registration = state.withLock { state -> Registration? in
            guard state.isPausing != isPausing else { return nil }
            state.isPausing = isPausing
            return state.isOpen ? state.registration : nil
        }
        if let registration, loop.repeatsReports { updateInterest(registration) }
    }

    /// - Parameter earlier: How many datagrams earlier calls of this method have already read. The count begins with
    ///   the loop's latest report of arrivals.
    private func read(_ earlier: Int) {
        guard state.withLock({ state in state.beginRead() }) != nil else { return }
        var reader = PacketReader(blockCount: PacketReader.packetLimit)
        var count = earlier
        var byteCount = 0
        var isEmpty = false
        var room = DatagramInbox.Room.ample
        var pause: Duration?
        for _ in 0..<Self.budget.calls
        where !isEmpty && byteCount < Self.budget.bytes && room == .ample && pause == nil {
            do throws(SystemError) {
                let packets = try reader.receive(descriptor, wantsPeer: true)
                failures.value.readSucceeded()
                for index in 0..<packets { reader.tally(index, &count, &byteCount) }
                if packets > 0 { room = distribute(packets, &reader) }
                isEmpty = packets < PacketReader.packetLimit
            } catch {
                // This is an ICMP error about an earlier reply, not about the waiting datagrams. So keep reading.
                pause = failures.value.readFailed()
            }
        }
        let registration = state.withLock { state in state.endRead() }
        if let registration { return close(registration) }
        if let time = holdTime(room) { return hold(time) }
        if isEmpty { return take(pace.value.wasRead(count, at: System.now)) }
        if let pause { return wait(pause) }
        // Let the receivers of these datagrams run before the next read.
        loop.execute { [count] in self.read(count) }
    }

    /// Returns how long to leave unread datagrams in the kernel, at most. Returns `nil` to continue reading.
    ///
    /// If a program receives too slowly, reading would only take processor time, because the datagrams would be
    /// dropped.
    ///
    /// Exception: if several peers share the socket and one peer's inbox is full, reading continues. The full inbox
    /// then does not delay the datagrams of the other peers.
    private func holdTime(_ room: DatagramInbox.Room) -> Duration? {
        guard room < .ample else { return nil }
        if peerCount == 1 { return Self.holdTimes.alone }
        return room == .held ? Self.holdTimes.beside : nil
    }

    private func hold(_ time: Duration) {
        setPausing(true)
        holdTimer.value = loop.schedule(after: time) { self.endHold() }
    }

    /// Ends a pause in reading, because the program has received enough of the waiting datagrams. May be called from
    /// any thread.
    func continueReading() { loop.execute { self.endHold() } }

    private func endHold() {
        guard let timer = holdTimer.value.take() else { return }
        loop.cancel(timer)
        read(0)
    }

    /// Passes the packets to the flows of their peers. Packets from the same peer that follow each other are passed
    /// together. Returns the state of the fullest inbox.
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

    /// Passes each packet from a known peer to that peer's flow. Passes all other packets to the socket's multicast
    /// group.
    private func sort(_ packets: Int, _ reader: inout PacketReader, _ unknownPeers: UnknownPeers) {
        var arrivals: [DatagramArrival] = []
        for index in 0..<packets {
            guard let peer = reader.peer(of: index) else { continue }
            let info = reader.info(of: index)
            let train = reader.takeTrain(index, segment: reader.shape(of: index).segmentByteCount)
            if let flow = flow(of: peer) {
                if limits?.accepts(from: info.interfaceIndex) ?? true { flow.arrived([train]) }
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
        return flow.arrived(trains, isSocketDeep: isDeep)
    }
}

extension PacketReader {
    /// Adds the number of datagrams and bytes in a packet to the given counts.
    fileprivate func tally(_ index: Int, _ count: inout Int, _ byteCount: inout Int) {
        let (length, segment) = shape(of: index)
        byteCount += length
        count += segment == 0 ? 1 : (length + segment - 1) / segment
    }
}
