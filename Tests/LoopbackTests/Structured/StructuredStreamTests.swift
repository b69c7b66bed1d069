import Causeway
import CausewaySystem
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("Streams of the structured interface")
    struct StructuredStreamTests {
        @Test("The first operation starts the connection; bytes and the end arrive in both directions")
        func echoes() async throws {
            try await Hall.open(.parameters { TCP() }, serving: Hall.echo) { endpoint in
                let states = Mailbox<NetworkChannel<TCP>.State>()
                try await withNetworkConnection(to: endpoint) {
                    TCP()
                } _: { connection in
                    connection.onStateUpdate { _, state in states.put(state) }
                    #expect(connection.state == .setup && connection.localEndpoint == nil)
                    try await connection.send(Data("hello"))
                    let (content, metadata) = try await connection.receive(exactly: 5)
                    #expect(content == Data("hello") && !metadata.endOfStream)
                    #expect(connection.state == .ready && connection.remoteEndpoint == endpoint)
                    #expect(connection.localEndpoint != nil && connection.currentPath != nil)
                    #expect(connection.metadata(definition: NWProtocolTCP.definition) != nil)
                    try await connection.send([UInt8]("bye".utf8), endOfStream: true)
                    #expect(try await connection.receive(exactly: 3).content == Data("bye"))
                    let end = try await connection.receive(atMost: 9)
                    #expect(end.content.isEmpty && end.metadata.endOfStream)
                    await #expect(throws: NWError.posix(.ENODATA)) { try await connection.receive(atMost: 9) }
                    await #expect(throws: NWError.posix(.EPIPE)) { try await connection.send(Data("late")) }
                }
                #expect(states.history == [.preparing, .ready, .cancelled])
            }
        }

        @Test("Integers are sent in network byte order, and receive limits are obeyed")
        func integers() async throws {
            try await Hall.open(.parameters { TCP() }) { connection in
                try await connection.send(UInt32(0x0102_0304))
                try await connection.send(Int16(-2), endOfStream: true)
            } _: { endpoint in
                let connection = NetworkConnection(to: endpoint) { TCP() }
                #expect(try await connection.receive(exactly: 1).content == Data([1]))
                #expect(try await connection.receive(atLeast: 2, atMost: 2).content == Data([2, 3]))
                #expect(try await connection.receive(as: UInt8.self).content == 4)
                let negative = try await connection.receive(as: Int16.self).content
                #expect(negative == -2)
                await #expect(throws: NWError.posix(.ENODATA)) { try await connection.receive(as: UInt64.self) }
            }
        }

        @Test("An exact receive never returns less: an early end is an error")
        func cutOff() async throws {
            try await Hall.open(.parameters { TCP() }) { connection in
                try await connection.send(Data("abc"), endOfStream: true)
            } _: { endpoint in
                let connection = NetworkConnection(to: endpoint) { TCP() }
                await #expect(throws: NWError.posix(.ENODATA)) { try await connection.receive(exactly: 4) }
            }
        }

        @Test("A send suspends while the peer does not read, and after its cancellation the connection is usable")
        func backPressure() async throws {
            let gate = Mailbox<Bool>()
            try await Hall.open(.parameters { TCP() }) { connection in
                _ = try await gate.next()
                var count = 0
                while true {
                    let (content, metadata) = try await connection.receive(atMost: 1 << 20)
                    count += content.count
                    if metadata.endOfStream { break }
                }
                try await connection.send(UInt64(count), endOfStream: true)
            } _: { endpoint in
                try await withNetworkConnection(to: endpoint) {
                    TCP()
                } _: { connection in
                    let block = Data(count: 1 << 20)
                    let whole = LockedValue(0)
                    let sender = Task {
                        while true {
                            try await connection.send(block)
                            whole.withLock { $0 += 1 }
                        }
                    }
                    // The kernel buffers a few blocks, so some send calls succeed. Wait until the buffers on both sides
                    // are full.
                    var before = -1
                    while before != whole.withLock({ $0 }) {
                        before = whole.withLock { $0 }
                        try await Task.sleep(for: Patience.silence)
                    }
                    sender.cancel()
                    await #expect(throws: NWError.posix(.ECANCELED)) { try await sender.value }
                    gate.put(true)
                    try await connection.send(UInt8(7), endOfStream: true)
                    let count = Int(try await connection.receive(as: UInt64.self).content)
                    // Only the sends that had started were completed. The other sends were cancelled and sent nothing.
                    let sent = whole.withLock { $0 } << 20 + 1
                    #expect([sent, sent + block.count].contains(count))
                }
            }
        }

        @Test("Reports cover the connection from its start")
        func reports() async throws {
            try await Hall.open(.parameters { TCP() }, serving: Hall.echo) { endpoint in
                try await withNetworkConnection(to: endpoint) {
                    TCP()
                } _: { connection in
                    let report = try await connection.establishmentReport()
                    #expect(connection.state == .ready && report.previousAttemptCount == 0)
                    try await connection.send(Data("hello"))
                    _ = try await connection.receive(exactly: 5)
                    let transfer = try await connection.dataTransferReport()
                    #expect(transfer.aggregatePathReport.sentApplicationByteCount == 5)
                    #expect(transfer.aggregatePathReport.receivedApplicationByteCount == 5)
                }
            }
        }

        @Test("Path and viability are reported once the connection is ready")
        func paths() async throws {
            try await Hall.open(.parameters { TCP() }, serving: Hall.echo) { endpoint in
                let updates = Mailbox<String>()
                let connection = NetworkConnection(to: endpoint) { TCP() }
                    .onPathUpdate { _, path in updates.put("\(path.status)") }
                    .onViabilityUpdate { _, isViable in updates.put("\(isViable)") }
                try await connection.send(Data("x"))
                try await updates.expect("satisfied", "true")
                withExtendedLifetime(connection) {}
            }
        }

        @Test("Releasing the last reference ends a connection")
        func lastReference() async throws {
            let ends = Mailbox<Bool>()
            try await Hall.open(.parameters { TCP() }) { connection in
                _ = try await connection.receive(exactly: 1)
                ends.put(try await connection.receive(atMost: 1).metadata.endOfStream)
            } _: { endpoint in
                func visit() async throws { try await NetworkConnection(to: endpoint) { TCP() }.send(UInt8(1)) }
                try await visit()
                try await ends.expect(true)
            }
        }

        @Test("A refused connection waits, and a deadline ends only the wait")
        func deadline() async throws {
            Backend.choose()
            let socket = try RawSocket.refusing(.tcp4)
            let states = Mailbox<NetworkChannel<TCP>.State>()
            let connection = NetworkConnection(to: Medium.tcp4.endpoint(of: socket)) { TCP() }
                .onStateUpdate { _, state in states.put(state) }
            let receive = Task { try await connection.receive(exactly: 1) }
            try await states.expect(.preparing, .waiting(.posix(.ECONNREFUSED)))
            receive.cancel()
            await #expect(throws: NWError.posix(.ECANCELED)) { try await receive.value }
            await #expect(throws: DeadlineExceeded.self) {
                try await within(.milliseconds(10)) { try await connection.send(Data("x")) }
            }
            #expect(connection.state == .waiting(.posix(.ECONNREFUSED)))
            withExtendedLifetime(socket) {}
        }
    }
}
