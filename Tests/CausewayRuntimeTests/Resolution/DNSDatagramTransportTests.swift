import CausewayProtocols
import CausewaySystem
import CausewayTestKit
import CausewayTypes
import CausewayWire
import Testing

@testable import CausewayRuntime

extension Runtime {
    @Suite("Datagram socket to a DNS server")
    struct DNSDatagramTransportTests {
        @Test("A flood of datagrams queues one call to continue, however often the loop reports it")
        func flood() throws {
            let socket = try Socket.open(.ipv4, .datagram)
            try Socket.bind(socket.rawValue, to: .ipv4(bits: 0x7F00_0001, port: 0))
            let address = try #require(Socket.localAddress(socket.rawValue))
            let server = DNSServer(.ipv4(IPv4Address(bits: 0x7F00_0001)), port: address.port)
            let loop = ManualLoop()
            var opened: DNSDatagramTransport?
            loop.batch {
                opened = try? DNSDatagramTransport(server, ResolutionScope(), loop, { _ in }, { _, _ in })
                try? opened?.send([0], 1, 1)
            }
            let transport = try #require(opened)
            var reader = PacketReader(blockCount: 1)
            _ = try reader.receive(socket.rawValue, wantsPeer: true)
            let peer = reader.peer(of: 0)
            _ = try Socket.connect(socket.rawValue, to: #require(peer))
            for _ in 0..<DNSDatagramTransport.budget * 2 + 2 {
                _ = [0].withUnsafeBytes { Socket.send(socket.rawValue, $0) }
            }
            for _ in 0..<2 { loop.report(.readable, of: Registration(token: 1)) }
            loop.runUntilIdle()
            // In the first turn, the client reads as many datagrams as the first report announced. In the second turn,
            // it reads the rest.
            #expect(loop.turnCount == 2)
            loop.batch { transport.close() }
        }
    }
}
