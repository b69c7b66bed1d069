import Causeway
import FoundationEssentials
import Synchronization

/// The content that `nw serve source` sends repeatedly.
enum SourceBlock {
    /// The number of blocks queued together, so that one system call sends them.
    static let sendsInFlight = 4
    static let content = Data(repeating: UInt8(ascii: "c"), count: 65_536)
}

/// Counts all peers' datagrams.
enum DatagramCounter {
    private static let total = Atomic<UInt64>(0)

    /// Adds a batch of received datagrams to the total. Calls `answer` with the new total once for each query in the
    /// batch.
    ///
    /// A query is a one-byte datagram. It is not counted, so that queries do not change the total.
    static func count(_ batch: DatagramBatch, answer: (Data) -> Void) {
        var questions: UInt64 = 0
        for byteCount in batch.byteCounts where byteCount == 1 { questions += 1 }
        let added = UInt64(batch.count) - questions
        let now = total.wrappingAdd(added, ordering: .relaxed).newValue
        for _ in 0..<questions {
            answer(withUnsafeBytes(of: now.littleEndian) { Data($0) })
        }
    }
}
