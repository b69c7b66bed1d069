import CausewayProtocols
import CausewayTestKit
import CausewayWire

/// Tests state machines for byte stream protocols with a peer that sends arbitrary bytes.
enum ByteMachineTrials {
    static var all: [any MachineTesting] { [client, server, webSocket] }

    private static let responses = [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "3\r\nabc\r\n", "0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nConnection: close\r\n", "\r\n",
    ]

    private static var client: any MachineTesting {
        MachineTrial("HTTP1Client", model: ()) { _ in
            HTTP1Client()
        } event: { client, _, now, random in
            switch random.integer(in: 0...9) {
            case 0, 1, 2:
                var fields = FieldSection()
                fields.append("Host", "h")
                if random.chance(oneIn: 2) { fields.append("Expect", "100-continue") }
                if random.chance(oneIn: 4) { fields.append("Upgrade", "x") }
                let length = [HTTP1BodyLength.none, .length(5), .chunked][random.integer(in: 0...2)]
                let head = HTTPRequestHead(method: length == .none ? "GET" : "POST", target: "/", fields: fields)
                try? client.send(head, body: length, at: now)
            case 3: try? client.sendContent([1, 2, 3])
            case 4: try? client.sendEnd()
            case 5: if random.chance(oneIn: 4) { client.inputEnded(isClean: random.chance(oneIn: 2)) }
            case 6: if random.chance(oneIn: 8) { client.abort() }
            case 7: if random.chance(oneIn: 4) { client.received(random.bytes(random.integer(in: 0...20))[...]) }
            default: client.received(Array(responses[random.integer(in: 0...responses.count - 1)].utf8)[...])
            }
            _ = client.takeOutput()
            return []
        }.ending {
            switch $0 {
            case .ended, .upgraded: true
            case .informational, .responded, .content, .finished: false
            }
        }
    }

    private static let requests = [
        "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n", "3\r\nabc\r\n", "0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        "CONNECT h:1 HTTP/1.1\r\nHost: h:1\r\n\r\n",
        "GET / HTTP/1.0\r\n", "\r\n",
    ]

    private static var server: any MachineTesting {
        MachineTrial("HTTP1Server", model: ()) { _ in
            HTTP1Server()
        } event: { server, _, _, random in
            switch random.integer(in: 0...11) {
            case 0, 1, 2:
                let length = [HTTP1BodyLength.none, .length(3), .chunked, .untilEnd][random.integer(in: 0...3)]
                try? server.respond(
                    HTTPResponseHead(status: [200, 204, 101, 404][random.integer(in: 0...3)]), body: length)
            case 3: try? server.sendContent([1, 2, 3])
            case 4, 5: try? server.sendEnd()
            case 6: try? server.inform(HTTPResponseHead(status: 100))
            case 7:
                switch random.integer(in: 0...9) {
                case 0: server.inputEnded()
                case 1: server.abort()
                case 2: server.timedOut()
                case 3: server.finish()
                default: server.received(random.bytes(random.integer(in: 0...20))[...])
                }
            default: server.received(Array(requests[random.integer(in: 0...requests.count - 1)].utf8)[...])
            }
            _ = server.takeOutput()
            return []
        }.ending {
            switch $0 {
            case .ended, .upgraded: true
            case .requested, .content, .finished: false
            }
        }.untimed()
    }

    private static var webSocket: any MachineTesting {
        MachineTrial("WebSocketMachine", model: ()) { random in
            var configuration = WebSocketMachine.Configuration()
            configuration.skipsHandshake = random.chance(oneIn: 2)
            configuration.repliesToPings = random.chance(oneIn: 2)
            let role: WebSocketMachine.Role =
                random.chance(oneIn: 2) ? .server : .client(UpgradeRequest(authority: "h"))
            return WebSocketMachine(role, configuration: configuration, random: SplitMix64(seed: random.next()))
        } event: { machine, _, _, random in
            switch random.integer(in: 0...9) {
            case 0, 1: machine.started()
            case 2: _ = machine.send(.text, ByteChain([104, 105]), endsMessage: random.chance(oneIn: 2))
            case 3: machine.sendPing([1], token: random.chance(oneIn: 2) ? 7 : nil)
            case 4: machine.sendPong([2])
            case 5: if random.chance(oneIn: 6) { machine.close(WebSocketClosing(code: .goingAway)) }
            case 6: if random.chance(oneIn: 6) { machine.inputEnded() }
            case 7: if random.chance(oneIn: 10) { machine.abort() }
            case 8: machine.respond(UpgradeResponse())
            default: machine.received(ByteChain(frame(&random)))
            }
            while machine.nextOutput() != nil {}
            return []
        }.ending {
            if case .ended = $0 { true } else { false }
        } mayFollowEnd: {
            // This event may follow the end. A ping that the program sends after the end is reported as lost, so that
            // its handler is called.
            if case .pingLost = $0 { true } else { false }
        }.untimed()
    }

    /// Returns random input: a frame without a mask, a frame with a mask, or arbitrary bytes.
    static func frame(_ random: inout SplitMix64) -> [UInt8] {
        let first = [UInt8(0x81), 0x01, 0x80, 0x89, 0x8A, 0x88][random.integer(in: 0...5)]
        switch random.integer(in: 0...4) {
        case 0: return random.bytes(random.integer(in: 0...8))
        case 1, 2: return [first, 0x82, 0, 0, 0, 0, 0x03, 0xE8]
        default: return [first, 0x02, 0x03, 0xE8]
        }
    }
}
