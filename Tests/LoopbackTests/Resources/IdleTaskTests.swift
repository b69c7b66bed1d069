import Causeway
import CausewaySystem
import FoundationEssentials
import Testing

/// The memory limit for an idle task in bytes. A build without optimization has a higher limit, because its task frames
/// are larger.
#if DEBUG
    private let idleLimit = 4_096
#else
    private let idleLimit = 3_072
#endif

extension Loopback {
    @Suite("Memory of idle tasks")
    struct IdleTaskTests {
        /// Set the environment variable `CAUSEWAY_IDLE=10000` for the full run. Its value is the number of connections.
        @Test("An idle connection with a waiting receive takes at most 3,072 bytes, 4,096 without optimization")
        func idle() async {
            let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
                Watchdog.arm(seconds: 300)
                let count = Settings.number("CAUSEWAY_IDLE", default: 2_000)
                let waiting = Mailbox<Bool>()
                try await Hall.open(.parameters { TCP() }) { connection in
                    waiting.put(true)
                    while !(try await connection.receive(atMost: 1_024).metadata.endOfStream) {}
                } _: { endpoint in
                    guard case .hostPort(_, let port) = endpoint else { return }
                    let address = SocketAddress.ipv4(bits: 0x7f00_0001, port: port.rawValue)
                    var clients: [RawSocket] = []
                    // Open some connections before the measurement. They allocate the memory that all connections in
                    // the process share.
                    for _ in 0..<100 { clients.append(try await RawSocket.connected(to: address)) }
                    _ = try await waiting.next(100)
                    let before = System.residentMemory.current
                    for _ in 0..<count { clients.append(try await RawSocket.connected(to: address)) }
                    _ = try await waiting.next(count)
                    let each = (System.residentMemory.current - before) / count
                    print("bytes per idle connection: \(each)")
                    #expect(each <= idleLimit)
                    for client in clients { client.close() }
                }
            }
            print(String(decoding: result?.standardOutputContent ?? [], as: UTF8.self))
        }
    }
}
