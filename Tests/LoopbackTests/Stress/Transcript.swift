import Causeway
import CausewayRuntime
import CausewaySystem
import FoundationEssentials
import Testing

/// The events of a scripted test run, sorted so that their order does not depend on timing.
final class Transcript: Sendable {
    private let lines = LockedValue<[String]>([])
    private let probes = LockedValue<[(name: String, probe: Probe)]>([])
    private let listeners = LockedValue<[(name: String, probe: ListenerProbe)]>([])

    func note(_ line: String) { lines.withLock { lines in lines.append(line) } }

    func note(_ received: Received) {
        let text =
            received.data.map { $0.count <= 16 ? String(decoding: $0, as: UTF8.self) : "\($0.count) bytes" } ?? "-"
        let error = received.error.map { "\($0)" } ?? "-"
        note("received \(text) complete \(received.isComplete) final \(received.isFinal) error \(error)")
    }

    func note(sent error: NWError?) { note("sent, error \(error.map { "\($0)" } ?? "-")") }

    func watch(_ probe: Probe, as name: String) -> Probe {
        probes.withLock { probes in probes.append((name, probe)) }
        return probe
    }

    func watch(_ listener: ListenerProbe, as name: String) -> ListenerProbe {
        listeners.withLock { listeners in listeners.append((name, listener)) }
        return listener
    }

    /// Returns the recorded lines, then the states of each observed connection and listener.
    func finished() -> [String] {
        var all = lines.withLock { lines in lines }
        for (name, probe) in probes.withLock({ probes in probes }) {
            all.append("\(name): \(Self.steady(probe.states.history))")
        }
        for (name, probe) in listeners.withLock({ listeners in listeners }) {
            all.append("\(name): \(probe.states.history)")
        }
        return all
    }

    /// Removes retries from the list of states if they had no result.
    ///
    /// A waiting connection retries when the machine's network changes. Such a retry does not depend on the engine
    /// under test.
    private static func steady(_ states: [NWConnection.State]) -> [NWConnection.State] {
        var steady: [NWConnection.State] = []
        for (state, next) in zip(states, states.dropFirst().map { Optional($0) } + [nil]) {
            if case .waiting = steady.last {
                // Leave out this state in two cases: it only leads back to the same `waiting` state, or it only leads
                // to the end of the connection.
                if state == .preparing, next == nil || next == .cancelled || next == steady.last { continue }
                if state == steady.last { continue }
            }
            steady.append(state)
        }
        return steady
    }
}

/// The client, the server and the listener in a scenario. The transcript observes all of them.
struct Parties {
    var client: Probe
    var server: Probe
    var listener: ListenerProbe

    func end() async throws {
        try await client.cancel()
        try await server.cancel()
        try await listener.cancel()
    }
}

extension Transcript {
    /// Creates a listener and a client, and connects them.
    func pair(_ medium: Medium) async throws -> Parties {
        let listener = watch(try ListenerProbe(medium), as: "listener")
        try await listener.listen()
        let client = watch(Probe(to: listener.endpoint, using: medium.parameters), as: "client")
        client.start()
        try await client.ready()
        if !medium.isStream { try await client.deliver(Data("hello")) }
        let server = watch(try await listener.connections.next(), as: "server")
        server.start()
        try await server.ready()
        if !medium.isStream { note(try await server.receiveMessage()) }
        return Parties(client: client, server: server, listener: listener)
    }

    /// Creates a connection to a raw socket.
    func rawPair() async throws -> (client: Probe, peer: RawSocket) {
        let raw = try RawSocket.listening(.tcp4)
        let port = NWEndpoint.Port(rawValue: raw.port) ?? .any
        let client = watch(Probe(to: .hostPort(host: .ipv4(.loopback), port: port), using: .tcp), as: "client")
        client.start()
        let peer = try await raw.accept()
        try await client.ready()
        return (client, peer)
    }
}
