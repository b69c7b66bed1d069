import CausewayTestKit
import CausewayWire

@testable import CausewayHTTPProtocols
@testable import CausewayProtocols

extension HTTPTrials {
    private struct Served: Sendable {
        /// The identifier of the latest request.
        var last: UInt32 = 0
        var isDecided = false
        /// The simulated client if it speaks HTTP/2; otherwise `nil`.
        var client: HTTP2Connection?

        mutating func decide(at now: Duration, _ random: inout SplitMix64) {
            guard !isDecided else { return }
            isDecided = true
            guard random.chance(oneIn: 2) else { return }
            client = HTTP2Connection(.client)
            client?.started(at: now)
        }
    }

    static var server: any MachineTesting {
        MachineTrial("HTTPServerConnection", model: Served()) { _ in
            HTTPServerConnection(HTTPServerLimits(), isSecure: false, at: .zero)
        } event: { connection, served, now, random in
            served.decide(at: now, &random)
            switch random.integer(in: 0...11) {
            case 0, 1: respond(&connection, served.last, &random)
            case 2: try? connection.send(served.last, ByteChain([1, 2, 3]))
            case 3: try? connection.finish(served.last)
            case 4: if random.chance(oneIn: 3) { connection.interrupt(served.last) }
            case 5: end(&connection, now, &random)
            case 6:
                while let output = connection.nextOutput() { served.client?.received(output.bytes[...], at: now) }
            default: receive(&connection, &served, now, &random)
            }
            let events = connection.takeActions()
            connection.settle(at: now)
            return events
        }.noting { served, event in
            if case .requested(let id, _) = event { served.last = id }
        }.ending {
            if case .ended = $0 { true } else { false }
        }
    }

    private static func respond(_ connection: inout HTTPServerConnection, _ id: UInt32, _ random: inout SplitMix64) {
        let content: HTTPServerContent = [.none, .length(3), .unknown][random.integer(in: 0...2)]
        let status = [200, 200, 204, 304][random.integer(in: 0...3)]
        try? connection.respond(id, status, FieldSection(), content)
    }

    private static func end(_ connection: inout HTTPServerConnection, _ now: Duration, _ random: inout SplitMix64) {
        switch random.integer(in: 0...5) {
        case 0: connection.abort()
        case 1: connection.inputEnded()
        case 2: connection.shutDown(at: now)
        default: connection.sent(3, hasMore: random.chance(oneIn: 2), at: now)
        }
    }

    private static let requests = [
        "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n", "3\r\nabc\r\n", "0\r\n\r\n",
        "GET / HTTP/1.0\r\n", "\r\n",
    ]

    private static func receive(
        _ connection: inout HTTPServerConnection, _ served: inout Served, _ now: Duration, _ random: inout SplitMix64
    ) {
        guard served.client != nil else {
            let request = requests[random.integer(in: 0...requests.count - 1)]
            if connection.wantsInput { connection.received(Array(request.utf8)[...], at: now) }
            return
        }
        switch random.integer(in: 0...7) {
        case 0: served.client?.reset(served.last)
        case 1: try? served.client?.send(served.last, ByteChain([1, 2, 3]), endsStream: random.chance(oneIn: 2))
        default:
            let method = ["GET", "HEAD", "POST", "CONNECT"][random.integer(in: 0...3)]
            let isTunnel = method == "CONNECT"
            let head = HTTP2RequestHead(
                method: method, scheme: isTunnel ? "" : "http", authority: "h:1", path: isTunnel ? "" : "/")
            _ = try? served.client?.request(head, endsStream: !isTunnel && !random.chance(oneIn: 3))
        }
        while served.client?.nextEvent() != nil {}
        while connection.wantsInput, let output = served.client?.nextOutput() {
            connection.received(output.bytes[...], at: now)
        }
    }
}
