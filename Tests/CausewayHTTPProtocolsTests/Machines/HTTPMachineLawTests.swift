import CausewayTestKit
import CausewayWire
import Testing

@testable import CausewayHTTPProtocols
@testable import CausewayProtocols

@Suite("The five laws of HTTP's state machines")
struct HTTPMachineLawTests {
    static let trials: [any MachineTesting] = [
        HTTPTrials.pool, HTTPTrials.group, HTTPTrials.http2, HTTPTrials.server, HTTPTrials.load,
    ]

    @Test("A machine obeys the five laws in random histories", arguments: trials)
    func obeysLaws(_ trial: any MachineTesting) {
        for breach in trial.breaches(seeds: MachineSeeds.range) { Issue.record("\(breach)") }
    }

    @Test("Each machine has one trial")
    func hasOneTrial() {
        let names = ["ConnectionPool", "PoolGroup", "HTTP2Connection", "HTTPServerConnection", "LoadMachine"]
        #expect(Self.trials.map(\.name) == names)
    }
}

enum HTTPTrials {
    private struct Pooled: Sendable {
        var lastRequest: UInt64 = 0
        var connections: [PoolConnectionID] = []
    }

    static var pool: any MachineTesting {
        MachineTrial("ConnectionPool", model: Pooled()) { random in
            var limits = PoolLimits()
            limits.connectionsPerKey = random.integer(in: 1...3)
            limits.idleConnections = random.integer(in: 0...3)
            return ConnectionPool(limits: limits)
        } event: { pool, pooled, now, random in
            let host = ["a.example", "b.example"][random.integer(in: 0...1)]
            let key = PoolKey(HTTPOrigin(isSecure: random.chance(oneIn: 2), host: host))
            guard !random.chance(oneIn: 3), let id = pooled.connections.randomElement(using: &random) else {
                switch random.integer(in: 0...7) {
                case 0, 1: return pool.cancelled(UInt64(random.integer(in: 0...9)), at: now)
                case 2:
                    pool.reprioritized(UInt64(random.integer(in: 0...9)), to: Float(random.integer(in: 0...4)) / 4)
                    return []
                default:
                    pooled.lastRequest += 1
                    let routes: [PoolRequest.Route] = [.any, .any, .newConnection, .http1]
                    let route = routes.randomElement(using: &random) ?? .any
                    return pool.requested(PoolRequest(id: pooled.lastRequest, key: key, route: route), at: now)
                }
            }
            return connectionEvent(&pool, id, now, &random)
        }.noting { pooled, action in
            if case .connect(let id, _, _) = action { pooled.connections.append(id) }
        }
    }

    private static func connectionEvent(
        _ pool: inout ConnectionPool, _ id: PoolConnectionID, _ now: Duration, _ random: inout SplitMix64
    ) -> [PoolAction] {
        switch random.integer(in: 0...7) {
        case 0, 1:
            let facts = PoolConnectionFacts(streamLimit: random.chance(oneIn: 2) ? random.integer(in: 0...3) : nil)
            return pool.connected(id, facts, at: now)
        case 2: return pool.connectFailed(id, at: now)
        case 3: return pool.streamLimitChanged(id, to: random.integer(in: 0...3), at: now)
        case 4: return pool.retired(id, at: now)
        case 5: return pool.closed(id, at: now)
        default:
            let timeout: Duration? = random.chance(oneIn: 2) ? .seconds(random.integer(in: 0...9)) : nil
            return pool.finished(
                id, isReusable: !random.chance(oneIn: 3), idleTimeout: timeout, at: now)
        }
    }

    private struct Frames: Sendable {
        var encoder = HPACKEncoder()
        var nextID: HTTP2StreamID = 1
        var hasStarted = false
        let isClient: Bool
    }

    static var http2: any MachineTesting {
        MachineTrial("HTTP2Connection", model: Frames(isClient: true)) { _ in
            HTTP2Connection(.server)
        } event: { connection, frames, now, random in
            if !frames.hasStarted {
                frames.hasStarted = true
                connection.started(at: now)
                connection.received(HTTP2Connection.preface[...], at: now)
            }
            let id = HTTP2StreamID(random.integer(in: 0...5)) * 2 + 1
            switch random.integer(in: 0...19) {
            case 0, 1: try? connection.respond(id, HTTP2ResponseHead(status: 200), endsStream: random.chance(oneIn: 2))
            case 2: try? connection.send(id, ByteChain([1, 2, 3]), endsStream: random.chance(oneIn: 2))
            case 3: connection.reset(id)
            case 4: connection.discardRequest(id)
            case 5: connection.sendPing(7)
            case 6: end(&connection, now, &random)
            case 7...9: while connection.nextOutput(atMost: 4_000) != nil {}
            default: connection.received(frame(&frames, &random)[...], at: now)
            }
            connection.settle(at: now)
            return []
        }.ending {
            if case .ended = $0 { true } else { false }
        }
    }

    private static func end(_ connection: inout HTTP2Connection, _ now: Duration, _ random: inout SplitMix64) {
        switch random.integer(in: 0...7) {
        case 0: connection.abort()
        case 1: connection.inputEnded()
        case 2: connection.finishAccepting()
        case 3, 4: connection.shutDown(at: now)
        default: break
        }
    }

    private static func frame(_ frames: inout Frames, _ random: inout SplitMix64) -> [UInt8] {
        var bytes: [UInt8] = []
        var id = HTTP2StreamID(random.integer(in: 0...5)) * 2 + 1
        switch random.integer(in: 0...11) {
        case 0: HTTP2Frame.settings([]).serialize(streamID: 0, into: &bytes)
        case 1: HTTP2Frame.settingsAcknowledgment.serialize(streamID: 0, into: &bytes)
        case 2: HTTP2Frame.ping(7, isAcknowledgment: random.chance(oneIn: 2)).serialize(streamID: 0, into: &bytes)
        case 3: HTTP2Frame.resetStream(.cancel).serialize(streamID: id, into: &bytes)
        case 4: HTTP2Frame.windowUpdate(10).serialize(streamID: 0, into: &bytes)
        case 5, 6:
            HTTP2Frame.data([1, 2], padding: nil, endsStream: random.chance(oneIn: 2)).serialize(
                streamID: id, into: &bytes)
        case 7: if random.chance(oneIn: 6) { bytes = random.bytes(12) }
        default:
            id = frames.nextID
            frames.nextID += 2
            var block: [UInt8] = []
            frames.encoder.beginBlock(&block)
            for (name, value) in [(":method", "POST"), (":scheme", "https"), (":path", "/"), (":authority", "h")] {
                frames.encoder.append(name, value, to: &block)
            }
            let head = HTTP2HeadersFrame(block[...], endsHeaders: true, endsStream: random.chance(oneIn: 2))
            HTTP2Frame.headers(head).serialize(streamID: id, into: &bytes)
        }
        return bytes
    }
}
