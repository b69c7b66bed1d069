internal import CausewaySystem
internal import DequeModule
internal import FoundationEssentials

/// Received datagrams that wait for delivery on the program's queue. Both their number and their total size are
/// limited.
struct GroupInbox: Sendable {
    static let byteLimit = 4 << 20
    static let datagramLimit = 8_192

    private var arrivals: Deque<(arrival: DatagramArrival, socket: SharedDatagramSocket)> = []
    /// The number of entries in ``arrivals`` for each sender. If a sender is missing here, there is no need to search
    /// ``arrivals``.
    private var senders: [SocketAddress: Int] = [:]
    /// The number of datagrams that were already delivered from the first entry in ``arrivals``. An entry can contain
    /// several datagrams.
    private var takenCount = 0
    private var byteCount = 0
    private var datagramCount = 0
    /// Whether a delivery of the waiting datagrams is already scheduled on the program's queue.
    var isDrainPosted = false

    var isEmpty: Bool { arrivals.isEmpty }

    /// Adds an arrival, which is one or more datagrams that were received together from one sender. If the inbox is
    /// full, this method drops the datagrams and returns `false`.
    mutating func append(_ arrival: DatagramArrival, from socket: SharedDatagramSocket) -> Bool {
        let (bytes, count) = (arrival.train.bytes.count, arrival.train.count)
        guard byteCount + bytes <= Self.byteLimit, datagramCount + count <= Self.datagramLimit else { return false }
        byteCount += bytes
        datagramCount += count
        arrivals.append((arrival, socket))
        senders[arrival.peer, default: 0] += 1
        return true
    }

    /// Removes and returns the oldest datagram.
    ///
    /// - Parameter port: The group's port. The kernel does not report a destination port, so this port is used.
    mutating func next(port: UInt16) -> GroupDatagram? {
        guard let (arrival, socket) = arrivals.first else { return nil }
        let train = arrival.train
        let data =
            train.count == 1 && train.bytes.startIndex == 0
            ? train.bytes : Data(train.bytes[train.range(of: takenCount)])
        takenCount += 1
        if takenCount == train.count {
            byteCount -= train.bytes.count
            datagramCount -= train.count
            takenCount = 0
            arrivals.removeFirst()
            forget(1, of: arrival.peer)
        }
        return GroupDatagram(
            data: data, mark: train.mark, peer: arrival.peer, destination: arrival.info.destination?.with(port: port),
            interfaceIndex: Int(arrival.info.interfaceIndex), socket: socket)
    }

    /// Removes and returns one sender's datagrams on a socket, in order of arrival.
    mutating func take(from peer: SocketAddress, at socket: SharedDatagramSocket) -> [DatagramBatch.Train] {
        guard senders[peer] != nil else { return [] }
        var trains: [DatagramBatch.Train] = []
        var kept: Deque<(arrival: DatagramArrival, socket: SharedDatagramSocket)> = []
        for (position, entry) in arrivals.enumerated() {
            guard entry.socket === socket, entry.arrival.peer == peer else {
                kept.append(entry)
                continue
            }
            let train = entry.arrival.train
            trains.append(position == 0 ? train.suffix(from: takenCount) : train)
            byteCount -= train.bytes.count
            datagramCount -= train.count
            if position == 0 { takenCount = 0 }
        }
        if !trains.isEmpty { arrivals = kept }
        forget(trains.count, of: peer)
        return trains
    }

    /// Reduces a sender's number of queued arrivals by `count`, after these arrivals were removed.
    private mutating func forget(_ count: Int, of peer: SocketAddress) {
        guard let known = senders[peer] else { return }
        senders[peer] = known > count ? known - count : nil
    }

    mutating func removeAll() {
        (arrivals, senders) = ([], [:])
        (takenCount, byteCount, datagramCount) = (0, 0, 0)
    }
}

extension DatagramBatch.Train {
    /// Returns the train (datagrams that were received in one block) without its first `count` datagrams. At least one
    /// datagram must remain.
    fileprivate func suffix(from count: Int) -> Self {
        guard count > 0 else { return self }
        return Self(bytes: Data(bytes[range(of: count).lowerBound...]), segment: segment, mark: mark)
    }
}
