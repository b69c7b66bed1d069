import Causeway
import CausewaySystem
import Dispatch
import FoundationEssentials

/// Content that is different at every position. So the checksum changes if bytes are lost, duplicated or reordered.
struct DemoContent: Sendable {
    static let blockSize: UInt64 = 262_144

    private let pattern: Data = {
        var word: UInt64 = 0x9e37_79b9_7f4a_7c15
        var data = Data(capacity: Int(blockSize))
        while data.count < Int(blockSize) {
            word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9 &+ 1
            withUnsafeBytes(of: word) { data.append(contentsOf: $0) }
        }
        return data
    }()

    /// Returns the block that starts at `position`. The whole stream has `byteCount` bytes, so the final block may be
    /// shorter.
    func block(at position: UInt64, of byteCount: UInt64) -> Data {
        var block = pattern
        block.withUnsafeMutableBytes { $0.storeBytes(of: position, as: UInt64.self) }
        return block.prefix(Int(min(Self.blockSize, byteCount - position)))
    }
}

/// Sends many bytes over TCP and compares the checksums at both ends.
struct DemoBulk: Sendable {
    let host: NWEndpoint.Host
    let byteCount: UInt64
    let log: DemoLog

    func run() async throws {
        log.title("\(Amounts.bytes(byteCount)) in bulk")
        let start = ContinuousClock.now
        let (sent, received) = try await DemoPipe.open(host: host, log: log) { reader, writer in
            async let received = withTaskExecutorPreference(reader.taskExecutor) { try await drain(reader) }
            let sent = try await withTaskExecutorPreference(writer.taskExecutor) { try await fill(writer) }
            return (sent, try await received)
        }
        let time = ContinuousClock.now - start
        guard received.byteCount == sent.byteCount else {
            throw CommandFailure("\(sent.byteCount) bytes were sent and \(received.byteCount) received")
        }
        guard received.value == sent.value else { throw CommandFailure("the received bytes differ from those sent") }
        let checksum = String(sent.value, radix: 16)
        log.event("both", "\(sent.byteCount) bytes, checksum \(checksum) at both ends")
        let peak = Amounts.bytes(UInt64(System.residentMemory.peak))
        log.event("both", "\(Amounts.rate(sent.byteCount, over: time)); peak memory \(peak)")
    }

    private func fill(_ writer: NWConnection) async throws -> StreamChecksum {
        let content = DemoContent()
        var checksum = StreamChecksum()
        while checksum.byteCount < byteCount {
            let block = content.block(at: checksum.byteCount, of: byteCount)
            checksum.update(block)
            try await writer.send(block)
        }
        try await writer.sendEnd()
        return checksum
    }

    private func drain(_ reader: NWConnection) async throws -> StreamChecksum {
        var checksum = StreamChecksum()
        while let content = try await reader.receive(atMost: Int(DemoContent.blockSize)) { checksum.update(content) }
        return checksum
    }
}

/// Opens a TCP connection inside this process and supplies both of its ends.
enum DemoPipe {
    /// Opens the connection, runs `body` with both ends, and closes the connection.
    static func open<Value: Sendable>(
        host: NWEndpoint.Host, log: DemoLog,
        _ body: @escaping @Sendable (_ reader: NWConnection, _ writer: NWConnection) async throws -> Value
    ) async throws -> Value {
        let place = DemoPlace.tcp(host)
        let queue = DispatchQueue(label: "nw.demo.pipe", target: .global())
        let (accepted, feed) = AsyncStream<NWConnection>.makeStream()
        let listener = try DemoListener(at: place, on: queue, log: log) { feed.yield($0) }
        let writer = NWConnection(to: place.endpoint(port: try await listener.ready()), using: place.makeParameters())
        defer { writer.cancel() }
        let states = writer.start(as: "sender", on: queue, log: log)
        let reader = try await withDeadline(demoPatience, onExpiry: { feed.finish() }) {
            try await writer.reach(.ready, in: states)
            for await reader in accepted {
                try await reader.reach(.ready, in: reader.start(as: "reader", on: queue, log: log))
                return reader
            }
            throw TimedOut()
        }
        defer { reader.cancel() }
        await listener.stop()
        return try await body(reader, writer)
    }
}
