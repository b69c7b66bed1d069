internal import CausewaySystem
internal import DequeModule
public import FoundationEssentials

/// The datagrams of one peer, in order of arrival.
///
/// The kernel can deliver several datagrams in one block (UDP_GRO). Each element is one datagram; the subscript copies it out of the block.
public struct DatagramBatch: RandomAccessCollection, Sendable {
    /// A run of datagrams in one block. Each has `segment` bytes; the last one can be shorter.
    struct Train: Sendable {
        var bytes: Data
        var segment: Int
        var mark: PacketMark

        var count: Int { bytes.count == 0 ? 1 : (bytes.count + segment - 1) / segment }

        func range(of index: Int) -> Range<Int> {
            let lower = bytes.startIndex + index * segment
            return lower..<Swift.min(lower + segment, bytes.endIndex)
        }
    }

    private var trains: [Train] = []
    /// For each train, the number of datagrams before it.
    private var starts: [Int] = []
    /// The number of datagrams.
    public private(set) var count = 0

    mutating func append(_ train: Train) {
        starts.append(count)
        trains.append(train)
        count += train.count
    }

    /// The index of the first datagram: 0.
    public var startIndex: Int { 0 }
    /// The index after the last datagram.
    public var endIndex: Int { count }

    /// The payload of one datagram.
    public subscript(position: Int) -> Data {
        precondition(position >= 0 && position < count, "no such datagram")
        let (train, index) = locate(position)
        return Data(trains[train].bytes[trains[train].range(of: index)])
    }

    /// The byte count of each payload, in order. No payload is copied.
    public var byteCounts: [Int] {
        var counts: [Int] = []
        counts.reserveCapacity(count)
        for train in trains {
            var left = train.bytes.count
            for _ in 0..<train.count {
                counts.append(Swift.min(left, train.segment))
                left -= train.segment
            }
        }
        return counts
    }

    /// The total byte count of all payloads.
    public var byteCount: Int { trains.reduce(0) { $0 + $1.bytes.count } }

    private func locate(_ position: Int) -> (train: Int, index: Int) {
        var low = 0
        var high = starts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= position { low = middle } else { high = middle }
        }
        return (low, position - starts[low])
    }
}

/// Received datagrams that wait for a receive, limited in bytes and in number.
struct DatagramInbox: Sendable {
    static let byteLimit = 4 << 20
    static let datagramLimit = 8_192

    enum Room: Comparable {
        /// The inbox was full and datagrams were dropped.
        case none
        /// The program is too slow: the inbox holds more than the program processes in a millisecond.
        case scarce
        case ample
    }

    var room: Room { byteCount > Self.byteLimit / 4 || datagramCount > Self.datagramLimit / 4 ? .scarce : .ample }

    private var trains: Deque<DatagramBatch.Train> = []
    /// The part of the first train that was already delivered: whole datagrams, then bytes of the next datagram.
    private var deliveredDatagrams = 0
    private var deliveredBytes = 0
    private(set) var byteCount = 0
    private(set) var datagramCount = 0

    var isEmpty: Bool { trains.isEmpty }

    /// Appends a train and returns whether there was room. Without room the train is dropped, as in a full socket buffer.
    mutating func append(_ train: DatagramBatch.Train) -> Bool {
        guard byteCount + train.bytes.count <= Self.byteLimit, datagramCount + train.count <= Self.datagramLimit else {
            return false
        }
        byteCount += train.bytes.count
        datagramCount += train.count
        trains.append(train)
        return true
    }

    /// Removes and returns at most `maximum` bytes of the oldest datagram, and whether the datagram ends with these bytes.
    mutating func next(maximum: Int) -> (Data, PacketMark, isWhole: Bool)? {
        guard !trains.isEmpty else { return nil }
        let train = trains[0]
        let range = train.range(of: deliveredDatagrams)
        let start = range.lowerBound + deliveredBytes
        let count = Swift.min(range.upperBound - start, Swift.max(maximum, 1))
        let isWhole = start + count == range.upperBound
        let isAlone = train.count == 1 && isWhole && deliveredBytes == 0
        let data = isAlone && train.bytes.startIndex == 0 ? train.bytes : Data(train.bytes[start..<(start + count)])
        deliveredBytes += count
        if isWhole { finishDatagram(of: train) }
        return (data, train.mark, isWhole)
    }

    private mutating func finishDatagram(of train: DatagramBatch.Train) {
        datagramCount -= 1
        deliveredDatagrams += 1
        deliveredBytes = 0
        guard deliveredDatagrams == train.count else { return }
        byteCount -= train.bytes.count
        deliveredDatagrams = 0
        trains.removeFirst()
    }

    /// Removes and returns all datagrams. A partly delivered datagram is dropped.
    mutating func takeAll() -> DatagramBatch? {
        while deliveredDatagrams > 0 || deliveredBytes > 0 {
            guard let train = trains.first else { break }
            if deliveredBytes > 0 { finishDatagram(of: train) }
            guard deliveredDatagrams > 0, let rest = trains.first else { continue }
            let start = rest.range(of: deliveredDatagrams).lowerBound
            trains[0] = DatagramBatch.Train(bytes: Data(rest.bytes[start...]), segment: rest.segment, mark: rest.mark)
            deliveredDatagrams = 0
        }
        guard !trains.isEmpty else { return nil }
        var batch = DatagramBatch()
        for train in trains { batch.append(train) }
        trains.removeAll(keepingCapacity: true)
        byteCount = 0
        datagramCount = 0
        return batch
    }
}
