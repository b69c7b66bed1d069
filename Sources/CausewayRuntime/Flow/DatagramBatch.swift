internal import CausewaySystem
internal import DequeModule
public import FoundationEssentials

/// Datagrams from one peer, in order of arrival.
///
/// The kernel can deliver several datagrams in one block (UDP_GRO). Each element of the collection is one datagram, and
/// the subscript copies this datagram out of the block.
public struct DatagramBatch: RandomAccessCollection, Sendable {
    /// A train: one or more datagrams from one peer, stored one after the other. The kernel can deliver a train in one
    /// packet (UDP_GRO).
    ///
    /// Each datagram has `segment` bytes; only the final datagram can be shorter.
    struct Train: Sendable {
        var bytes: Data
        var segment: Int
        var mark: PacketMark
        /// The memory block that received the datagrams and begins with `bytes`; `nil` if `bytes` is a copy.
        var block: PacketBlock?

        var count: Int { bytes.count == 0 ? 1 : (bytes.count + segment - 1) / segment }

        func range(of index: Int) -> Range<Int> {
            let lower = bytes.startIndex + index * segment
            return lower..<Swift.min(lower + segment, bytes.endIndex)
        }
    }

    private var trains: [Train] = []
    /// For each train, the index of its first datagram. This is the number of datagrams in all trains before it.
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
    /// The index after the batch's final datagram.
    public var endIndex: Int { count }

    /// One datagram's payload.
    public subscript(position: Int) -> Data {
        precondition(position >= 0 && position < count, "no such datagram")
        let (train, index) = locate(position)
        return Data(trains[train].bytes[trains[train].range(of: index)])
    }

    /// Each payload's byte count, in order. Reading this property copies no payload.
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
