import CausewayPeerActors
import CausewayPeers
import Distributed
import Synchronization

/// An error type that the caller and the callee both know.
enum CounterError: Error, Codable, Equatable {
    case tooMuch(Int)
}

/// An error type that only the callee knows.
struct UnknownError: Error, Codable {
    var text = "unknown"
}

/// An error that cannot be encoded.
struct PlainError: Error {}

distributed actor Counter {
    typealias ActorSystem = PeerActorSystem

    private var value = 0
    private var seen: [Int] = []
    let signals: Signals

    init(_ system: PeerActorSystem, _ signals: Signals = Signals()) {
        actorSystem = system
        self.signals = signals
    }

    distributed func increment(by amount: Int) throws -> Int {
        guard amount <= 100 else { throw CounterError.tooMuch(amount) }
        value += amount
        return value
    }

    distributed var current: Int { value }
    distributed func note(_ number: Int) { seen.append(number) }
    distributed func noted() -> [Int] { seen }
    distributed func fail(_ kind: Int) throws { if kind == 0 { throw UnknownError() } else { throw PlainError() } }
    distributed func big(_ count: Int) -> String { String(repeating: "x", count: count) }
    distributed func echo(_ value: Double, _ text: String?) -> [String?] { ["\(value)", text] }

    /// Suspends until the task that runs this call is cancelled.
    distributed func wait() async {
        signals.put("waiting")
        while !Task.isCancelled { await Task.yield() }
        signals.put("cancelled")
    }

    /// Calls `increment(by:)` on the given actor. Returns its result.
    distributed func call(_ other: Counter, _ amount: Int) async throws -> Int { try await other.increment(by: amount) }

    /// Returns an actor that peers do not know yet.
    distributed func child() -> Child {
        let child = Child(actorSystem: actorSystem)
        children.append(child)
        return child
    }

    private var children: [Child] = []

    func secret() { value = -1 }

    /// A distributed actor inside another actor. Its functions do not belong to the outer actor.
    distributed actor Inner {
        typealias ActorSystem = PeerActorSystem
        distributed func touch() {}
    }
}

extension Counter {
    distributed func reset() { zero() }
    private func zero() { value = 0 }
}

distributed actor Child {
    typealias ActorSystem = PeerActorSystem
    distributed func name() -> String { "child" }
}

private distributed actor Hidden {
    typealias ActorSystem = PeerActorSystem
    distributed func touch() {}
}

/// Publishes an actor whose type is private.
func publishHidden(_ system: PeerActorSystem) throws {
    try system.receptionist.publish(Hidden(actorSystem: system), under: "hidden")
}

/// Text values that actors pass to a test, in order.
final class Signals: Sendable {
    private struct State {
        var values: [String] = []
        var waiter: CheckedContinuation<String, Never>?
    }

    private let state = Mutex(State())

    func put(_ value: String) {
        let waiter = state.withLock { state -> CheckedContinuation<String, Never>? in
            guard let waiter = state.waiter.take() else {
                state.values.append(value)
                return nil
            }
            return waiter
        }
        waiter?.resume(returning: value)
    }

    func next() async -> String {
        await withCheckedContinuation { continuation in
            let value = state.withLock { state -> String? in
                guard state.values.isEmpty else { return state.values.removeFirst() }
                state.waiter = continuation
                return nil
            }
            if let value { continuation.resume(returning: value) }
        }
    }
}

/// Two actor systems in one session.
struct Pair {
    let network = FakeNetwork()
    let clock = FakeClock()
    let ann: PeerActorSystem
    let bob: PeerActorSystem
    let signals = Signals()
    /// Bob's counter, and Ann's reference to it.
    let counter: Counter
    let remote: Counter

    init(_ change: (inout PeerActorSystem.Options) -> Void = { _ in }) async throws {
        var options = PeerActorSystem.Options()
        options.errors = [CounterError.self]
        change(&options)
        ann = PeerActorSystem(FakeTransport(network: network, me: FakeNetwork.peer(1)), clock, options)
        bob = PeerActorSystem(FakeTransport(network: network, me: FakeNetwork.peer(2)), clock, options)
        counter = Counter(bob, signals)
        network.join(ann.me)
        network.join(bob.me)
        try bob.receptionist.publish(counter, under: "counter")
        remote = try await ann.receptionist.firstRemote("counter")
    }

    func stop() {
        ann.stop()
        bob.stop()
    }
}
