import CausewayPeerActors
import CausewayPeerProtocols
import CausewayPeers
import Distributed
import Testing

@Suite("Calls of distributed actors")
struct CallTests {
    private func code(_ body: () async throws -> Void) async -> PeerActorFailure.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? PeerActorFailure)?.code
        }
    }

    @Test("Functions with results, without, properties and extensions work, and values keep their meaning")
    func works() async throws {
        let pair = try await Pair()
        #expect(pair.remote == pair.counter && pair.remote !== pair.counter)
        #expect(try await pair.remote.increment(by: 2) == 2)
        #expect(try await pair.remote.increment(by: 3) == 5)
        #expect(try await pair.remote.current == 5)
        try await pair.remote.reset()
        #expect(try await pair.remote.current == 0)
        #expect(try await pair.remote.echo(.infinity, nil) == ["inf", nil])
        pair.stop()
    }

    @Test("A second stop leaves the session's next system attached")
    func stopsOnce() async throws {
        let pair = try await Pair()
        pair.ann.stop()
        let next = PeerActorSystem(FakeTransport(network: pair.network, me: pair.ann.me), pair.clock)
        pair.ann.stop()
        #expect(pair.network.isAttached(next.me))
        next.stop()
        #expect(!pair.network.isAttached(next.me))
        pair.stop()
    }

    @Test("Calls that are begun one after the other reach the actor in that order")
    func order() async throws {
        let pair = try await Pair { $0.callLimit = 1_000 }
        let remote = pair.remote
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<1_000 {
                // Each call is sent before the next one begins. No call waits for the result of an earlier one.
                group.addImmediateTask { try? await remote.note(number) }
            }
        }
        #expect(try await pair.remote.noted() == Array(0..<1_000))
        pair.stop()
    }

    @Test("An error that both sides know arrives as it was thrown, others as a description")
    func errors() async throws {
        let pair = try await Pair()
        await #expect(throws: CounterError.tooMuch(101)) { try await pair.remote.increment(by: 101) }
        for kind in 0..<2 {
            let failure = await #expect(throws: PeerActorFailure.self) { try await pair.remote.fail(kind) }
            #expect(failure?.code == .thrown)
            #expect(failure?.message.contains(kind == 0 ? "UnknownError" : "PlainError") == true)
        }
        pair.stop()
    }

    @Test("An actor that is sent by reference can be called, and calls go both ways")
    func references() async throws {
        let pair = try await Pair()
        let own = Counter(pair.ann)
        let stranger = try Counter.resolve(id: own.id, using: pair.bob)
        #expect(await code { _ = try await stranger.current } == .unknownActor)
        #expect(try await pair.remote.call(own, 7) == 7)
        #expect(try await own.increment(by: 1) == 8)
        #expect(try await stranger.current == 8)
        let child = try await pair.remote.child()
        #expect(child.id.peer == pair.bob.me)
        #expect(try await child.name() == "child")
        pair.stop()
    }

    @Test("A call to a peer that leaves fails at once, and the task at the other side is cancelled")
    func leaves() async throws {
        let pair = try await Pair()
        let call = Task { await code { try await pair.remote.wait() } }
        #expect(await pair.signals.next() == "waiting")
        pair.network.leave(pair.bob.me)
        #expect(await call.value == .peerLost)
        #expect(await pair.signals.next() == "cancelled")
        #expect(await code { _ = try await pair.remote.current } == .peerLost)
        pair.network.join(pair.bob.me)
        let again: Counter = try await pair.ann.receptionist.firstRemote("counter")
        #expect(try await again.increment(by: 1) == 1)
        pair.stop()
    }

    @Test("Cancellation ends the call at once and cancels the task at the peer")
    func cancels() async throws {
        let pair = try await Pair()
        let call = Task { try await pair.remote.wait() }
        #expect(await pair.signals.next() == "waiting")
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(await pair.signals.next() == "cancelled")
        #expect(try await pair.remote.current == 0)
        pair.stop()
    }

    @Test("A call without a result in time fails, and its task at the peer is cancelled")
    func deadline() async throws {
        let pair = try await Pair { $0.callTimeout = .seconds(10) }
        let long = Task { await code { try await pair.remote.wait() } }
        #expect(await pair.signals.next() == "waiting")
        let short = Task {
            await code { try await PeerActorSystem.withCallTimeout(.seconds(2)) { try await pair.remote.wait() } }
        }
        #expect(await pair.signals.next() == "waiting")
        pair.clock.advance(by: .seconds(2))
        #expect(await short.value == .timedOut)
        #expect(await pair.signals.next() == "cancelled")
        pair.clock.advance(by: .seconds(8))
        #expect(await long.value == .timedOut)
        #expect(await pair.signals.next() == "cancelled")
        pair.stop()
    }

    @Test("The longest timeout that a program can give is added to any time")
    func longestTimeout() async throws {
        let longest = Duration.seconds(Int64.max) * 18
        let pair = try await Pair { $0.callTimeout = longest }
        pair.clock.advance(by: .seconds(Int64.max))
        #expect(try await pair.remote.increment(by: 1) == 1)
        let call = Task {
            await code {
                try await PeerActorSystem.withCallTimeout(Duration.zero - longest) { try await pair.remote.wait() }
            }
        }
        #expect(await pair.signals.next() == "waiting")
        pair.clock.advance(by: .zero)
        #expect(await call.value == .timedOut)
        pair.stop()
    }

    @Test("A frame that arrives before the members were read is answered, after the greeting")
    func earlyFrame() async throws {
        let network = FakeNetwork()
        let (caller, me) = (FakeNetwork.peer(1), FakeNetwork.peer(2))
        let signals = Signals()
        network.setHandler(
            { event in
                guard case .frame(let bytes, _) = event, let frame = try? ActorFrame(bytes) else { return }
                switch frame {
                case .hello: signals.put("hello")
                case .reply(7, .refused(.unknownActor, _)): signals.put("refused")
                default: signals.put("\(frame)")
                }
            }, of: caller)
        network.join(caller)
        network.join(me)
        let call = ActorFrame.call(ActorCall(id: 7, actor: 1, target: "t")).bytes
        let transport = EarlyTransport(base: FakeTransport(network: network, me: me), caller: caller, frame: call)
        let system = PeerActorSystem(transport, FakeClock())
        #expect(await signals.next() == "hello")
        #expect(await signals.next() == "refused")
        system.stop()
    }

    @Test("Limits: the size of a call and of a result, and the calls that wait")
    func limits() async throws {
        let pair = try await Pair {
            $0.messageByteLimit = 2_048
            $0.callLimit = 3
        }
        #expect(await code { _ = try await pair.remote.big(3_000) } == .tooLarge)
        let text = String(repeating: "y", count: 3_000)
        #expect(await code { _ = try await pair.remote.echo(0, text) } == .tooLarge)
        #expect(try await pair.remote.big(100).count == 100)
        let calls = (0..<3).map { _ in Task { await code { try await pair.remote.wait() } } }
        for _ in 0..<3 { #expect(await pair.signals.next() == "waiting") }
        #expect(await code { _ = try await pair.remote.current } == .tooManyCalls)
        pair.ann.stop()
        for call in calls { #expect(await call.value == .stopped) }
        #expect(await code { _ = try await pair.remote.current } == .stopped)
        pair.bob.stop()
    }

    @Test("Another system can follow one that was stopped: its peers lose the old actors and find the new ones")
    func follows() async throws {
        let pair = try await Pair()
        #expect(try await pair.remote.increment(by: 1) == 1)
        pair.bob.stop()
        let next = PeerActorSystem(FakeTransport(network: pair.network, me: pair.bob.me), pair.clock)
        var changes = pair.ann.receptionist.actors(for: "counter" as PeerActorKey<Counter>).makeAsyncIterator()
        let counter = Counter(next)
        try next.receptionist.publish(counter, under: "counter")
        while let change = await changes.next() {
            if case .appeared(let found) = change, found == counter { break }
        }
        let found = pair.ann.receptionist.lookup("counter" as PeerActorKey<Counter>)
        #expect(found == [counter])
        #expect(try await found.first?.increment(by: 5) == 5)
        next.stop()
        pair.stop()
    }

    @Test("An actor that ended is unknown, and its listing disappears")
    func ends() async throws {
        let pair = try await Pair()
        var changes = pair.ann.receptionist.actors(for: "counter" as PeerActorKey<Counter>).makeAsyncIterator()
        guard case .appeared(pair.counter) = await changes.next() else {
            Issue.record("nothing appeared")
            return
        }
        let child = try await pair.remote.child()
        #expect(throws: PeerActorFailure.self) { try Child.resolve(id: pair.counter.id, using: pair.bob) }
        pair.bob.receptionist.withdraw(pair.counter, from: "counter")
        guard case .disappeared(pair.counter.id) = await changes.next() else {
            Issue.record("nothing disappeared")
            return
        }
        #expect(try await child.name() == "child")
        #expect(pair.ann.receptionist.lookup("counter" as PeerActorKey<Counter>).isEmpty)
        pair.stop()
        if let change = await changes.next() { Issue.record("\(change)") }
    }
}

/// A test transport to which a peer is already joined before the actor system attaches. The peer's frame is the first
/// event.
private struct EarlyTransport: PeerActorTransport {
    let base: FakeTransport
    let caller: PeerIdentity
    let frame: [UInt8]

    var me: PeerIdentity { base.me }
    var members: [PeerIdentity] { base.members }
    func attach(_ handler: @escaping @Sendable (PeerActorTransportEvent) -> Void) {
        base.attach(handler)
        handler(.frame(frame, from: caller))
    }
    func detach() { base.detach() }
    func send(_ frame: [UInt8], to peer: PeerIdentity) async throws { try await base.send(frame, to: peer) }
}
