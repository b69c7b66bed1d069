import CausewaySystem
import Glibc
import Testing

@Suite("Packet sockets")
struct PacketSocketsTests {
    @Test("Frames that were sent before a rejected one are counted, also in an earlier batch")
    func partial() throws {
        var ends: [CInt] = [-1, -1]
        try #require(socketpair(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0, &ends) == 0)
        let sender = Descriptor(adopting: ends[0])
        let receiver = Descriptor(adopting: ends[1])
        var sent = 5
        // The length of the third frame is greater than the socket's send buffer.
        let lengths = [3, 4, 8 << 20, 2]
        var bytes = [UInt8](repeating: 7, count: lengths.reduce(0, +))
        let failure: SystemError? = bytes.withUnsafeMutableBytes { bytes in
            do throws(SystemError) {
                try PacketSockets.sendFrames(sender.rawValue, bytes, lengths, sent: &sent)
                return nil
            } catch { return error }
        }
        #expect(failure == SystemError(errno: EMSGSIZE, call: "sendmmsg") && sent == 7)
        var room = [UInt8](repeating: 0, count: 16)
        let received = (0..<3).map { _ in recv(receiver.rawValue, &room, room.count, CInt(MSG_DONTWAIT)) }
        #expect(received == [3, 4, -1])
    }
}
