import CausewaySystem
import CausewayTestKit
import Testing

@testable import CausewayRuntime

extension Runtime {
    @Suite("Socket for a registration with a sleep proxy")
    struct SleepProxySocketTests {
        @Test("A flood of replies queues one call to continue, however often the loop reports it")
        func flood() throws {
            let proxy = try Socket.open(.ipv4, .datagram)
            try Socket.bind(proxy.rawValue, to: .ipv4(bits: 0x7F00_0001, port: 0))
            let address = try #require(Socket.localAddress(proxy.rawValue))
            let loop = ManualLoop()
            let replies = Recorder<Int>()
            var opened: SleepProxySocket?
            loop.batch {
                // Use interface 1, which is the loopback interface in every network namespace.
                opened = try? SleepProxySocket(.ipv4, over: 1, loop) { bytes, _ in replies.note(bytes.count) }
                opened?.send([0], to: address)
            }
            let socket = try #require(opened)
            var reader = PacketReader(blockCount: 1)
            _ = try reader.receive(proxy.rawValue, wantsPeer: true)
            let peer = reader.peer(of: 0)
            _ = try Socket.connect(proxy.rawValue, to: #require(peer))
            let count = SleepProxySocket.batch * 2 + 2
            for _ in 0..<count { _ = [0].withUnsafeBytes { Socket.send(proxy.rawValue, $0) } }
            for _ in 0..<2 { loop.report(.readable, of: Registration(token: 1)) }
            #expect(replies.count == SleepProxySocket.batch)
            loop.runUntilIdle()
            #expect(replies.count == count)
            loop.batch { socket.close() }
        }
    }
}
