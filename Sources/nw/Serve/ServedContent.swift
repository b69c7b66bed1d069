import Causeway
import FoundationEssentials
import Synchronization

/// What the source server sends, again and again.
enum SourceBlock {
    /// Blocks handed over together, so that they leave in one system call.
    static let sendsInFlight = 4
    static let content = Data(repeating: UInt8(ascii: "c"), count: 65_536)
}

/// Counts the datagrams of all peers.
enum DatagramCounter {
    private static let total = Atomic<UInt64>(0)

    /// Adds a batch to the count, passing `answer` the count so far for each datagram that asks for it.
    ///
    /// A question is a datagram of one byte. It is not counted, so that asking does not change the answer.
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
