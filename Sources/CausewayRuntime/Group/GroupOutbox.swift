internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

/// A message on its way to each of its destinations.
struct GroupTransmission: Sendable {
    /// One datagram to send.
    struct Stop: Sendable {
        var socket: SharedDatagramSocket
        var peer: SocketAddress
        var source: SocketAddress?
        /// 0 for the kernel's choice.
        var interface: UInt32 = 0
        /// Stops of one group have one number: the message has reached the group when it has left by one interface.
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
        /// Everything was tried. `failure` is that of a group that was not reached by any interface.
        case done(Failure?)
        /// Go on when this socket has room.
        case blocked(SharedDatagramSocket)
        /// Go on when the kernel has buffers again, which it does not report.
        case short
    }

    /// Sends as far as the kernel takes it.
    mutating func proceed() -> Outcome {
        // A member that no interface carries at present.
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
