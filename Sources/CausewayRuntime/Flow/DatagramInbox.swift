internal import CausewaySystem
internal import DequeModule
internal import FoundationEssentials

/// Datagrams that have arrived, but that the program has not received yet. Their number and their total size are
/// limited.
///
/// The socket is no longer read when the inbox is almost full. Reading continues when half of that content is left.
/// Meanwhile, datagrams wait in the kernel, which costs no processor time. If a datagram is read while the inbox is
/// full, it is lost.
struct DatagramInbox: Sendable {
    static let byteLimit = 8 << 20
    static let datagramLimit = 16_384

    /// A limit for the content of the inbox. Above this limit, the socket is no longer read.
    struct Mark: Sendable {
        var byteCount: Int
        var datagramCount: Int

        /// The limit for a program that receives on another thread than the one that reads the socket, if the kernel's
        /// buffer is small. At this limit, one more read of up to a megabyte still fits into the inbox.
        static let far = Mark(
            byteCount: byteLimit - PacketReader.packetLimit * PacketReader.blockByteCount,
            datagramCount: datagramLimit - PacketReader.packetLimit * PacketReader.trainDatagramLimit)
        /// The limit for a program that receives on another thread, if the kernel's buffer is large. The pool of memory
        /// blocks for packets has enough blocks to store this many bytes.
        static let close = Mark(byteCount: 768 << 10, datagramCount: 4_096)
        /// The limit for a task that receives on the thread that reads the socket. The limit is low, so that the
        /// datagrams are still in the processor's cache when the task receives them.
        static let near = Mark(byteCount: 256 << 10, datagramCount: 1_024)
    }

    enum Room: Comparable {
        /// The inbox was full and datagrams were dropped.
        case none
        /// The socket's reader must pause. It may continue when ``DatagramInbox/releaseHold()`` returns `true`.
        case held
        case ample
    }

    private var head: DatagramBatch.Train?
    private var rest: Deque<DatagramBatch.Train> = []
    /// The number of datagrams in `head`. `head` is the oldest train (datagrams that were received in one block).
    private var headCount = 0
    /// How much of the oldest train the program already has. A train is a block of datagrams that were received
    /// together. The program has the first `deliveredDatagrams` datagrams, and `deliveredBytes` bytes of the datagram
    /// after them.
    private var deliveredDatagrams = 0
    private var deliveredBytes = 0
    private(set) var byteCount = 0
    private(set) var datagramCount = 0
    /// The limit at which the socket's reader stopped. `nil` if the reader has not stopped.
    private var heldAt: Mark?

    var isEmpty: Bool { head == nil }

    /// Appends a train, which is one or more datagrams in one block. If the train does not fit into the inbox, it is
    /// dropped, and the result is `false`.
    mutating func append(_ train: DatagramBatch.Train) -> Bool {
        let count = train.count
        guard byteCount + train.bytes.count <= Self.byteLimit, datagramCount + count <= Self.datagramLimit else {
            return false
        }
        byteCount += train.bytes.count
        datagramCount += count
        if head == nil { (head, headCount) = (train, count) } else { rest.append(train) }
        return true
    }

    /// Returns whether more datagrams wait than `mark` permits. The socket's reader must then stop.
    func isAbove(_ mark: Mark) -> Bool { byteCount > mark.byteCount || datagramCount > mark.datagramCount }

    /// Pauses the socket's reader if the content exceeds `mark`. The pause ends when the content has fallen to half of
    /// `mark`. Returns `false` if the content does not exceed `mark`.
    mutating func hold(above mark: Mark) -> Bool {
        guard isAbove(mark) else { return false }
        heldAt = mark
        return true
    }

    /// Ends the pause of the socket's reader if the inbox's content has fallen to half of the limit at which the reader
    /// stopped. Returns whether the reader must continue.
    mutating func releaseHold() -> Bool {
        guard let mark = heldAt, byteCount <= mark.byteCount / 2, datagramCount <= mark.datagramCount / 2 else {
            return false
        }
        heldAt = nil
        return true
    }

    /// Removes and returns at most `maximum` bytes of the oldest datagram. `isWhole` is set if these bytes reach the
    /// datagram's end.
    mutating func next(maximum: Int) -> (Data, PacketMark, isWhole: Bool)? {
        guard let mark = head?.mark, let segment = head?.segment, let length = head?.bytes.count else { return nil }
        let start = deliveredDatagrams * segment + deliveredBytes
        let end = min((deliveredDatagrams + 1) * segment, length)
        let count = min(end - start, max(maximum, 1))
        let isWhole = start + count == end
        let data = content(start, count)
        deliveredBytes += count
        if isWhole { finishDatagram() }
        return (data, mark, isWhole)
    }

    /// The minimum size in bytes for content that is not copied out of the memory block into which it was read. Such
    /// content keeps the whole block allocated, so smaller content is copied.
    private static let sharedByteCount = 512

    /// Returns `count` bytes of the oldest train (datagrams received in one block), beginning at offset `start` in the
    /// train.
    private func content(_ start: Int, _ count: Int) -> Data {
        guard let head else { return Data() }
        if count == head.bytes.count, head.bytes.startIndex == 0 { return head.bytes }
        if count >= Self.sharedByteCount, let block = head.block { return block.data(start, count) }
        return head.bytes.withUnsafeBytes { bytes in
            Data(UnsafeRawBufferPointer(rebasing: bytes[start..<(start + count)]))
        }
    }

    private mutating func finishDatagram() {
        datagramCount -= 1
        deliveredDatagrams += 1
        deliveredBytes = 0
        if deliveredDatagrams == headCount { finishTrain() }
    }

    private mutating func finishTrain() {
        byteCount -= head?.bytes.count ?? 0
        deliveredDatagrams = 0
        head = rest.popFirst()
        headCount = head?.count ?? 0
    }

    /// Removes and returns all datagrams. If part of a datagram was already delivered, drops its remaining bytes.
    mutating func takeAll() -> DatagramBatch? {
        if deliveredBytes > 0 { finishDatagram() }
        if deliveredDatagrams > 0, let begun = head {
            let start = begun.range(of: deliveredDatagrams).lowerBound
            head = DatagramBatch.Train(bytes: Data(begun.bytes[start...]), segment: begun.segment, mark: begun.mark)
            deliveredDatagrams = 0
        }
        guard let first = head else { return nil }
        var batch = DatagramBatch()
        batch.append(first)
        for train in rest { batch.append(train) }
        head = nil
        rest.removeAll(keepingCapacity: true)
        (headCount, byteCount, datagramCount) = (0, 0, 0)
        return batch
    }
}
