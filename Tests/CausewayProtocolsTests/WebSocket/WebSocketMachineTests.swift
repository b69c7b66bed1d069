import CausewayProtocols
import CausewayTestKit
import CausewayWire
import Testing

@Suite("WebSocket machine")
struct WebSocketMachineTests {
    /// Returns a client and a server that have not yet done their handshake.
    private func pair(
        subprotocols: [String] = [], fields: [HeaderField] = [],
        _ change: (inout WebSocketMachine.Configuration) -> Void = { _ in }
    ) -> (client: WebSocketPeer, server: WebSocketPeer) {
        var configuration = WebSocketMachine.Configuration()
        change(&configuration)
        let request = UpgradeRequest(
            target: "/chat", authority: "h", subprotocols: subprotocols, additionalFields: fields)
        var client = WebSocketPeer(
            WebSocketMachine(.client(request), configuration: configuration, random: SplitMix64(seed: 1)))
        var server = WebSocketPeer(
            WebSocketMachine(.server, configuration: configuration, random: SplitMix64(seed: 2)))
        client.machine.started()
        server.machine.started()
        client.settle()
        server.settle()
        return (client, server)
    }

    /// Passes each side's output to the other side until neither has output.
    private func exchange(_ client: inout WebSocketPeer, _ server: inout WebSocketPeer) {
        client.settle()
        server.settle()
        while !client.sent.isEmpty || !server.sent.isEmpty {
            let (up, down) = (client.sent, server.sent)
            client.sent = []
            server.sent = []
            server.receive(up)
            client.receive(down)
        }
    }

    private func opened() -> (client: WebSocketPeer, server: WebSocketPeer) {
        var (client, server) = pair()
        exchange(&client, &server)
        server.machine.respond(UpgradeResponse())
        exchange(&client, &server)
        client.told = []
        server.told = []
        return (client, server)
    }

    @Test("The opening handshake: request, decision, open")
    func handshake() {
        var (client, server) = pair(subprotocols: ["a", "b"], fields: [HeaderField("X-Token", "t")])
        exchange(&client, &server)
        #expect(server.told == [.requested])
        #expect(client.told == [])
        server.machine.respond(UpgradeResponse(subprotocol: "b"))
        exchange(&client, &server)
        #expect(server.told == [.requested, .opened])
        #expect(client.told == [.opened])
        #expect(client.machine.isOpen && server.machine.isOpen)
    }

    @Test("The handshake works with any fragmentation, with a frame directly after it")
    func handshakeCut() {
        var (client, server) = pair()
        client.machine.send(.text, ByteChain(Array("early".utf8)))
        client.settle()
        // The client sends no frames before the server has answered the upgrade request.
        let head = client.sent
        #expect(String(decoding: head, as: UTF8.self).hasSuffix("\r\n\r\n"))
        for byte in head { server.receive([byte]) }
        server.machine.send(.text, ByteChain(Array("hello".utf8)))
        server.machine.respond(UpgradeResponse())
        server.settle()
        client.sent = []
        for byte in server.sent { client.receive([byte]) }
        server.sent = []
        exchange(&client, &server)
        #expect(client.told == [.opened, .message(.text, Array("hello".utf8))])
        #expect(server.told == [.requested, .opened, .message(.text, Array("early".utf8))])
    }

    @Test("A refusing server ends both")
    func rejected() {
        var (client, server) = pair()
        exchange(&client, &server)
        server.machine.respond(UpgradeResponse(status: 400))
        exchange(&client, &server)
        #expect(server.told == [.requested, .ended(.handshake(.refused(status: 400)))])
        #expect(client.told == [.ended(.handshake(.refused(status: 400)))])
        #expect(server.machine.isFinished && client.machine.isFinished)
    }

    @Test("An invalid decision of the program refuses the client")
    func unwritableAnswer() {
        var (client, server) = pair(subprotocols: ["a"])
        exchange(&client, &server)
        server.machine.respond(UpgradeResponse(subprotocol: "never offered"))
        exchange(&client, &server)
        #expect(server.told.last == .ended(.handshake(.unwritable("subprotocol"))))
        #expect(client.told == [.ended(.handshake(.refused(status: 400)))])
    }

    // RFC 6455 §10.7.
    @Test(
        "An invalid request is refused with the matching status",
        arguments: [
            ("POST / HTTP/1.1\r\n\r\n", "400"), ("GET / HTTP/1.1\r\nHost: h\n", "400"),
            (
                "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Version: 7\r\n\r\n",
                "426"
            ),
            (String(repeating: "x", count: 20000), "431"),
        ])
    func badRequest(request: String, status: String) {
        var server = pair().server
        server.receive(Array(request.utf8))
        #expect(String(decoding: server.sent, as: UTF8.self).hasPrefix("HTTP/1.1 \(status) "))
        #expect(server.told.count == 1)
        #expect(server.machine.isFinished)
    }

    @Test("An invalid request of the program fails before anything is sent")
    func badTarget() {
        let request = UpgradeRequest(target: "/\r\nX: y", authority: "h")
        var client = WebSocketPeer(WebSocketMachine(.client(request), random: SplitMix64(seed: 1)))
        client.machine.started()
        client.settle()
        #expect(client.told == [.ended(.handshake(.unwritable("target")))])
        #expect(client.sent == [])
    }

    @Test("The stream ends during the handshake")
    func handshakeCutOff() {
        var (client, server) = pair()
        server.receive(client.sent.dropLast())
        server.receiveEnd()
        client.receiveEnd()
        #expect(server.told == [.ended(.endedEarly)])
        #expect(client.told == [.ended(.endedEarly)])
    }

    // Masking of client frames: RFC 6455 §10.3.
    @Test("Messages in both directions; a client's frames are masked with changing keys")
    func messages() {
        var (client, server) = opened()
        client.machine.send(.text, ByteChain(Array("one".utf8)))
        client.machine.send(.binary, ByteChain([1, 2, 3]))
        server.machine.send(.binary, ByteChain([]))
        client.settle()
        let sent = frames(in: client.sent)
        #expect(sent.map(\.opcode) == [.text, .binary])
        #expect(sent.allSatisfy { $0.masked })
        #expect(Array(client.sent[2..<6]) != Array(client.sent[11..<15]))
        exchange(&client, &server)
        #expect(server.told == [.message(.text, Array("one".utf8)), .message(.binary, [1, 2, 3])])
        #expect(client.told == [.message(.binary, [])])
    }

    @Test("A message sent in parts becomes fragments, and a ping may be sent between them")
    func pieces() {
        var peer = WebSocketPeer.upgraded(isServer: true)
        peer.machine.send(.text, ByteChain(Array("a".utf8)), endsMessage: false)
        peer.machine.sendPing([7])
        peer.machine.send(.text, ByteChain(Array("b".utf8)), endsMessage: false)
        peer.machine.send(.text, ByteChain([]), endsMessage: true)
        peer.machine.send(.text, ByteChain(Array("c".utf8)))
        peer.settle()
        #expect(frames(in: peer.sent).map(\.opcode) == [.text, .ping, .continuation, .continuation, .text])
        #expect(frames(in: peer.sent).map(\.fin) == [false, true, false, true, true])
    }

    @Test("Long messages are fragmented as configured")
    func fragmentSize() {
        var peer = WebSocketPeer.upgraded(isServer: false) { $0.fragmentSize = 100 }
        let payload = (0..<250).map { UInt8($0) }
        peer.machine.send(.binary, ByteChain(payload))
        peer.settle()
        let sent = frames(in: peer.sent)
        #expect(sent.map(\.payload.count) == [100, 100, 50])
        #expect(sent.map(\.opcode) == [.binary, .continuation, .continuation])
        #expect(sent.map(\.fin) == [false, false, true])
        #expect(sent.flatMap(\.payload) == payload)
    }

    @Test("Pongs are reported in the order of the pings; one answers all before it")
    func pings() {
        var peer = WebSocketPeer.upgraded(isServer: false)
        for token in 1...4 { peer.machine.sendPing([UInt8(token)], token: UInt64(token)) }
        peer.receive(frame(10, [1]))
        peer.receive(frame(10, [3]))
        peer.receive(frame(10, [2]))
        #expect(peer.told == [.pingAnswered(1), .pingAnswered(2), .pingAnswered(3), .pong([2])])
        peer.receiveEnd()
        #expect(peer.told.suffix(2) == [.pingLost(4), .ended(.endedUnclosed)])
    }

    @Test("Unanswered pings are dropped above a limit")
    func pingLimit() {
        var peer = WebSocketPeer.upgraded(isServer: false)
        for token in 0..<1030 { peer.machine.sendPing(token: UInt64(token)) }
        peer.settle()
        #expect(peer.told == (0..<6).map { .pingLost($0) })
    }

    /// Returns the output of a server. The server receives `count` numbered pings while it is sending a long frame.
    private func sent(afterPings count: Int, of length: Int) -> [[UInt8]] {
        var peer = WebSocketPeer.upgraded(isServer: true) { $0.repliesToPings = true }
        peer.machine.send(.binary, ByteChain([UInt8](repeating: 5, count: 5000)))
        var sent = peer.machine.nextOutput(atMost: 1000)?.bytes ?? []
        for number in 0..<count {
            let payload = [UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: 0, count: length - 2)
            peer.machine.received(ByteChain(frame(9, payload, mask: 1)))
            while peer.machine.nextEvent() != nil {}
        }
        while let bytes = peer.machine.nextOutput(atMost: 1000) { sent += bytes.bytes }
        let all = frames(in: sent)
        #expect(all.first?.opcode == .binary && all.dropFirst().allSatisfy { $0.opcode == .pong })
        return all.dropFirst().map { Array($0.payload.prefix(2)) }
    }

    @Test("Each ping of many gets one pong, in order, after a started frame")
    func pingBurst() {
        #expect(sent(afterPings: 1000, of: 2) == (0..<1000).map { [UInt8($0 >> 8), UInt8($0 & 255)] })
    }

    @Test("A flood of pings with blocked output keeps a bounded number of pongs, for the latest pings")
    func pingFlood() {
        let pongs = sent(afterPings: 10_000, of: 125)
        let kept = (64 << 10) / 126
        #expect(pongs == ((10_000 - kept)..<10_000).map { [UInt8($0 >> 8), UInt8($0 & 255)] })
    }

    @Test("A ping before a close frame is answered before the close", arguments: [true, false])
    func pingBeforeClose(isServer: Bool) {
        var peer = WebSocketPeer.upgraded(isServer: isServer) { $0.repliesToPings = true }
        let mask: UInt32? = isServer ? 7 : nil
        peer.receive(frame(9, [1], mask: mask) + frame(9, [2], mask: mask) + frame(8, closing(1000), mask: mask))
        #expect(frames(in: peer.sent).map(\.opcode) == [.pong, .pong, .close])
        #expect(frames(in: peer.sent).prefix(2).map(\.payload) == [[1], [2]])
    }

    @Test("The stream ends between messages, between fragments, and inside a frame header")
    func endings() {
        let rows: [([UInt8], WebSocketMachine.Failure)] = [
            (frame(2, [1]), .endedUnclosed), (frame(2, [1], fin: false), .endedEarly),
            (frame(2, [1], fin: false) + frame(9), .endedEarly), ([0x82], .endedEarly), (frame(9), .endedUnclosed),
        ]
        for (input, failure) in rows {
            var peer = WebSocketPeer.upgraded(isServer: false)
            peer.receive(input)
            peer.receiveEnd()
            #expect(peer.told.last == .ended(failure), "\(input)")
        }
    }

    @Test("Input that is not pulled stays undecoded, and the room decreases")
    func backPressure() {
        var machine = WebSocketPeer.upgraded(isServer: false).machine
        let one = frame(2, [UInt8](repeating: 1, count: 1000))
        while machine.inputRoom > 0 { machine.received(ByteChain(one)) }
        #expect(machine.inputRoom == 0)
        var count = 0
        while case .content = machine.nextEvent() { count += 1 }
        #expect(count == (WebSocketMachine.inputLimit + one.count - 1) / one.count)
        #expect(machine.inputRoom == WebSocketMachine.inputLimit)
    }

    @Test("Content is delivered in parts up to the requested length")
    func limitedPieces() {
        var machine = WebSocketPeer.upgraded(isServer: true).machine
        let payload = (0..<1000).map { UInt8($0 & 255) }
        machine.received(ByteChain(frame(2, payload, mask: 0x0102_0304)))
        #expect(machine.nextEvent(atMost: 0) == nil)
        var all: [UInt8] = []
        var ends = 0
        while case .content(_, let bytes, let endsMessage) = machine.nextEvent(atMost: 33) {
            #expect(bytes.count <= 33)
            all += bytes.bytes
            if endsMessage { ends += 1 }
        }
        #expect(all == payload)
        #expect(ends == 1)
    }

    @Test("Invalid text is refused at its first invalid byte, before its frame is complete")
    func failsFast() {
        var peer = WebSocketPeer.upgraded(isServer: false)
        peer.receive([0x81, 0x7E, 0x10, 0x00, 0x41, 0xFF])
        #expect(peer.told == [.ended(.invalidText)])
        #expect(frames(in: peer.sent).map(\.payload) == [closing(1007)])
    }

    @Test("A mask on a server's frame, and a missing one on a client's")
    func masks() {
        var client = WebSocketPeer.upgraded(isServer: false)
        client.receive(frame(1, [0x41], mask: 5))
        #expect(client.told == [.ended(.protocolError("mask"))])
        var server = WebSocketPeer.upgraded(isServer: true)
        server.receive(frame(1, [0x41]))
        #expect(server.told == [.ended(.protocolError("mask"))])
        #expect(frames(in: server.sent).map(\.payload) == [closing(1002)])
    }

    @Test("The program closes: earlier messages arrive, and both sides end")
    func closesFirst() {
        var (client, server) = opened()
        client.machine.send(.text, ByteChain(Array("last".utf8)))
        client.machine.close(WebSocketClosing(code: .goingAway, reason: "bye"))
        #expect(client.machine.send(.text, ByteChain([])) == false)
        exchange(&client, &server)
        #expect(server.told == [.message(.text, Array("last".utf8)), .closed(1001, "bye"), .ended(nil)])
        #expect(client.told == [.closed(1001, "")])
        client.receiveEnd()
        #expect(client.told == [.closed(1001, ""), .ended(nil)])
    }

    @Test("Both sides close at once")
    func closesTogether() {
        var (client, server) = opened()
        client.machine.close(WebSocketClosing(code: .normalClosure))
        server.machine.close(WebSocketClosing(code: .goingAway))
        exchange(&client, &server)
        #expect(server.told == [.closed(1000, ""), .ended(nil)])
        #expect(client.told == [.closed(1001, "")])
    }

    @Test("While closing, the peer's messages still arrive, and the peer's end completes the close")
    func halfClosed() {
        var peer = WebSocketPeer.upgraded(isServer: false)
        peer.machine.close(WebSocketClosing(code: .normalClosure))
        peer.receive(frame(2, [1]))
        peer.receiveEnd()
        #expect(peer.told == [.message(.binary, [1]), .ended(nil)])
    }

    @Test("The stream ends inside a message, and everything before is delivered")
    func cutOff() {
        var peer = WebSocketPeer.upgraded(isServer: false)
        peer.receive(frame(2, [1]) + frame(2, [2, 3, 4]).dropLast())
        peer.receiveEnd()
        #expect(peer.everything == [.message(.binary, [1]), .ended(.endedEarly), .unfinished(.binary, [2, 3])])
    }

    @Test("A close before the handshake completes aborts the connection")
    func closeEarly() {
        var client = pair().client
        client.machine.close(WebSocketClosing(code: .normalClosure))
        client.settle()
        #expect(client.told == [.ended(.aborted)])
    }

    @Test("16 MiB in one frame pass through 64 KiB of memory")
    func large() {
        var machine = WebSocketPeer.upgraded(isServer: true).machine
        let count = 16 << 20
        var header: [UInt8] = []
        let mask = WebSocketMask(key: 0xA1B2_C3D4)
        WebSocketFrameHeader(opcode: .binary, mask: mask, payloadLength: count).serialize(into: &header)
        machine.received(ByteChain(header))
        var chunk = [UInt8](repeating: 0x5A, count: 65536)
        mask.apply(to: &chunk)
        var delivered = 0
        var ended = false
        var isRight = true
        for _ in 0..<(count / chunk.count) {
            machine.received(ByteChain(chunk))
            while case .content(_, var bytes, let endsMessage) = machine.nextEvent() {
                delivered += bytes.count
                while let piece = bytes.popPiece() { isRight = isRight && piece.first == 0x5A && piece.last == 0x5A }
                ended = ended || endsMessage
            }
            #expect(machine.inputRoom == WebSocketMachine.inputLimit)
        }
        #expect(delivered == count)
        #expect(ended && isRight)
    }
}
