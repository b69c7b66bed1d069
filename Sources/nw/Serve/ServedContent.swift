import Causeway
import FoundationEssentials
import Synchronization

/// The content that the command `nw serve source` sends again and again.
enum SourceBlock {
    /// The number of blocks to queue together. One system call then sends all of them.
    static let sendsInFlight = 4
    static let content = Data(repeating: UInt8(ascii: "c"), count: 65_536)
}

/// Counts the datagrams from all peers together.
enum DatagramCounter {
    private static let total = Atomic<UInt64>(0)

    /// Adds a batch of received datagrams to the total. For each query in the batch, calls `answer` once with the new
    /// total.
    ///
    /// A query is a one-byte datagram. Queries do not count toward the total.
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
