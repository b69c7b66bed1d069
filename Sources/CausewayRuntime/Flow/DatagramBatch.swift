internal import CausewaySystem
internal import DequeModule
public import FoundationEssentials

/// Datagrams of one peer in the order in which they came.
///
/// The kernel may have handed several over in one piece; each element is one datagram, copied out when it is asked for.
public struct DatagramBatch: RandomAccessCollection, Sendable {
    /// A run of datagrams in one block: all of `segment` bytes, the last perhaps shorter.
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
    /// Datagrams before each train.
    private var starts: [Int] = []
    public private(set) var count = 0

    mutating func append(_ train: Train) {
        starts.append(count)
        trains.append(train)
        count += train.count
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { count }

    /// One datagram's payload.
    public subscript(position: Int) -> Data {
        precondition(position >= 0 && position < count, "no such datagram")
        let (train, index) = locate(position)
        return Data(trains[train].bytes[trains[train].range(of: index)])
    }

    /// Bytes of each payload in turn, without copying any payload.
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

    /// Bytes of all payloads.
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

/// Datagrams that have arrived and wait for a receive, bounded in bytes and in number.
struct DatagramInbox: Sendable {
    static let byteLimit = 4 << 20
    static let datagramLimit = 8_192

    enum Room: Comparable {
        /// Something was lost.
        case none
        /// The program falls behind: more is waiting than it takes in a millisecond.
        case scarce
        case ample
    }

    var room: Room { byteCount > Self.byteLimit / 4 || datagramCount > Self.datagramLimit / 4 ? .scarce : .ample }

    private var trains: Deque<DatagramBatch.Train> = []
    /// Datagrams of the first train, and bytes of the datagram after them, that were delivered.
    private var deliveredDatagrams = 0
    private var deliveredBytes = 0
    private(set) var byteCount = 0
    private(set) var datagramCount = 0

    var isEmpty: Bool { trains.isEmpty }

    /// Returns whether there was room. What finds no room is lost, as in a full socket buffer.
    mutating func append(_ train: DatagramBatch.Train) -> Bool {
        guard byteCount + train.bytes.count <= Self.byteLimit, datagramCount + train.count <= Self.datagramLimit else {
            return false
        }
        byteCount += train.bytes.count
        datagramCount += train.count
        trains.append(train)
        return true
    }

    /// Up to `maximum` bytes of the oldest datagram, and whether it ends with them.
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

    /// All that is there. A datagram whose beginning was delivered already is not in it.
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
