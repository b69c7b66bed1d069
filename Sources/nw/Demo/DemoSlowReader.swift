import Causeway
import CausewaySystem
import FoundationEssentials
import Synchronization

/// A test with a reader that pauses. During the pause, the sender must stop sending, and the memory use of the process
/// must not grow.
struct DemoSlowReader: Sendable {
    private static let byteCount: UInt64 = 256 << 20
    private static let pause = Duration.seconds(2)
    private static let samples = 8
    /// The number of samples at the end of the pause that must all show the same stream position.
    private static let quietSamples = 4
    /// Maximum accepted growth of resident memory during the pause, in bytes.
    private static let tolerance = 8 << 20

    let host: NWEndpoint.Host
    let log: DemoLog

    func run() async throws {
        log.title("Back-pressure: \(Amounts.bytes(Self.byteCount)) to a reader that pauses for \(Self.pause)")
        let outgoing = OutgoingStream(byteCount: Self.byteCount)
        let received = try await DemoPipe.open(host: host, log: log) { reader, writer in
            let before = System.residentMemory.current
            outgoing.sendNext(over: writer)
            try await watchPause(outgoing, memoryBefore: before)
            return try await drain(reader)
        }
        let sent = outgoing.checksum
        guard received.byteCount == sent.byteCount, received.value == sent.value else {
            throw CommandFailure(
                "the reader received \(received.byteCount) bytes that differ from the \(sent.byteCount) sent")
        }
        log.event("reader", "read all \(received.byteCount) bytes, verified")
    }

    private func watchPause(_ outgoing: OutgoingStream, memoryBefore: Int) async throws {
        var positions: [UInt64] = []
        for _ in 0..<Self.samples {
            try await Task.sleep(for: Self.pause / Self.samples)
            positions.append(outgoing.checksum.byteCount)
            let growth = max(0, System.residentMemory.current - memoryBefore)
            let taken = Amounts.bytes(positions[positions.count - 1])
            log.event("sender", "\(taken) accepted by the kernel, memory +\(Amounts.bytes(UInt64(growth)))")
            guard growth < Self.tolerance else {
                throw CommandFailure("memory grew by \(Amounts.bytes(UInt64(growth))) while the reader was paused")
            }
        }
        guard Set(positions.suffix(Self.quietSamples)).count == 1, positions[positions.count - 1] < Self.byteCount
        else {
            throw CommandFailure("the sender continued while the reader was paused")
        }
        log.event("sender", "paused")
    }

    private func drain(_ reader: NWConnection) async throws -> StreamChecksum {
        try await withDeadline(demoPatience, onExpiry: { reader.forceCancel() }) {
            var checksum = StreamChecksum()
            while let content = try await reader.receive(atMost: Int(DemoContent.blockSize)) {
                checksum.update(content)
            }
            return checksum
        }
    }
}

/// A stream that sends its next block only after the kernel has accepted the previous block. Programs for Apple's
/// framework do the same.
private final class OutgoingStream: Sendable {
    private let content = DemoContent()
    private let byteCount: UInt64
    private let progress = Mutex(StreamChecksum())

    init(byteCount: UInt64) {
        self.byteCount = byteCount
    }

    /// The checksum of the bytes that the kernel has accepted.
    var checksum: StreamChecksum { progress.withLock { $0 } }

    func sendNext(over connection: NWConnection) {
        let position = checksum.byteCount
        guard position < byteCount else {
            return connection.send(
                content: nil as Data?, contentContext: .finalMessage, isComplete: true, completion: .idempotent)
        }
        let block = content.block(at: position, of: byteCount)
        connection.send(
            content: block,
            completion: .contentProcessed { [self] error in
                guard error == nil else { return }
                progress.withLock { $0.update(block) }
                sendNext(over: connection)
            })
    }
}
