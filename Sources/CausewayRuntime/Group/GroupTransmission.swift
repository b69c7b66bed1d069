internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

/// One message that is being sent, with the list of its remaining datagrams.
struct GroupTransmission: Sendable {
    /// One datagram to send: one copy of the message, for one destination and interface.
    struct Stop: Sendable {
        var socket: SharedDatagramSocket
        var peer: SocketAddress
        var source: SocketAddress?
        /// The outgoing interface's index; 0 for the kernel's choice.
        var interface: UInt32 = 0
        /// The multicast group's index; -1 for a single host. A group counts as reached if its datagram was sent over
        /// at least one interface.
        var group: Int
    }

    var entry: SendQueue<GroupOutbound>.Entry
    private var stops: ArraySlice<Stop>
    private var reached: Set<Int> = []
    private var failures: [(group: Int, failure: Failure)] = []

    init(_ entry: SendQueue<GroupOutbound>.Entry, _ stops: [Stop]) {
        self.entry = entry
        self.stops = stops[...]
    }

    enum Outcome {
        /// The group has tried to send all datagrams of the message.
        ///
        /// The value is `nil` if the message was sent to every destination. Otherwise, it is a failure. If a
        /// destination is a multicast group, one interface that sends the message is enough.
        case done(Failure?)
        /// The socket is not writable now. Continue when it is writable.
        case blocked(SharedDatagramSocket)
        /// The kernel has no buffers left. It does not report when buffers are free again, so continue after a delay.
        case short
    }

    /// Sends the remaining datagrams until the kernel accepts no more.
    mutating func proceed() -> Outcome {
        // If the group is joined on no interface now, there is no datagram to send.
        if stops.isEmpty, reached.isEmpty, failures.isEmpty, entry.payload.data != nil {
            return .done(Failure(errno: Errno.networkUnreachable))
        }
        while let stop = stops.first, let data = entry.payload.data {
            switch send(data, to: stop) {
            case .moved: reached.insert(stop.group)
            case .wouldBlock: return .blocked(stop.socket)
            case .failed(Errno.noBuffers), .failed(Errno.noMemory): return .short
            case .failed(let code): failures.append((stop.group, Failure(errno: code)))
            }
            stops.removeFirst()
        }
        return .done(failures.first { !reached.contains($0.group) }?.failure)
    }

    private func send(_ data: Data, to stop: Stop) -> IOResult {
        withPieces([data], from: 0) { pieces in
            withUnsafeTemporaryAllocation(of: OutgoingPacket.self, capacity: 1) { packets in
                packets.initializeElement(
                    at: 0,
                    to: OutgoingPacket(pieces: pieces, segmentByteCount: 0, trafficClass: entry.payload.trafficClass))
                stop.socket.noteSending()
                return Socket.send(
                    stop.socket.descriptor, UnsafeBufferPointer(packets), to: stop.peer, from: stop.source,
                    over: stop.interface)
            }
        }
    }
}
