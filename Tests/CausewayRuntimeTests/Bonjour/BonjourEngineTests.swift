import CausewayBonjourProtocols
@testable import CausewayRuntime
import CausewaySystem
import CausewayTestKit
import CausewayTypes
import CausewayWire
import Testing

@Suite("Bonjour engine")
struct BonjourEngineTests {
    @Test("After a withdrawal that needs no goodbyes, the engine calls back and releases the network")
    func departs() {
        let loop = ManualLoop()
        let engine = BonjourEngine(on: loop, hostLabel: "test", scope: .agent(on: []))
        let service = ServiceDescription(name: "a", type: "_t._tcp", port: 9)
        let completions = LockedValue(0)
        for count in 1...2 {
            let id = engine.advertise(service) { _ in }
            loop.runUntilIdle()
            loop.batch { #expect(engine.state.value.network != nil) }
            engine.withdraw(id) { completions.withLock { $0 += 1 } }
            loop.runUntilIdle()
            loop.advance(by: .milliseconds(5))
            #expect(completions.withLock { $0 } == count)
            loop.batch { #expect(engine.state.value.network == nil) }
        }
    }

    /// Returns a fake network interface. No real interface has its index, so the engine opens no socket on it.
    private static func interface(_ index: Int, _ address: String) -> NetworkSnapshot.Interface {
        NetworkSnapshot.Interface(
            interface: NWInterface(name: "test\(index)", index: index, type: .wiredEthernet),
            link: NetlinkLink(index: index, hardwareType: 1, flags: [.up, .running, .multicast]),
            addresses: [
                NetlinkAddress(
                    interfaceIndex: index, address: .ipv4(IPv4Address(address)!), prefixLength: 24, flags: [])
            ])
    }

    private struct Watch: NetworkChangeMonitor.Watch {
        func cancel() {}
    }

    /// Returns a fake network for the engine. The network has one interface with a single IPv4 address, and never
    /// changes.
    ///
    /// - Parameters:
    ///   - isReadable: Whether the simulated kernel answers queries about the network.
    ///   - code: The error with which each attempt to open a socket fails.
    ///   - calls: Records each failed attempt.
    private static func makeAccess(
        on loop: ManualLoop, isReadable: Bool, _ code: CInt, _ calls: Recorder<CInt>
    ) -> BonjourEngine.NetworkAccess {
        @Sendable func open(
            _ family: SocketAddress.Family, _ index: Int, _ loop: any EventLoop,
            _ receiver: any MulticastSocket.Receiver
        ) throws(SystemError) -> MulticastSocket {
            calls.note(code)
            throw SystemError(errno: code, call: "socket")
        }
        let snapshot = NetworkSnapshot(interfaces: [interface(2_000_001, "10.0.0.1")])
        return BonjourEngine.NetworkAccess(
            loop: loop, changes: NetworkChangeMonitor(context: .init(follow: { _ in Watch() }, after: { _, _ in })),
            read: {
                if !isReadable { calls.note(code) }
                return isReadable ? snapshot : nil
            }, open: open)
    }

    struct Shortage: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var isReadable = true
        var code: CInt = 0
        /// The expected number of failed calls in the first two seconds.
        var callCount: Int
    }

    static let shortages = [
        Shortage(testDescription: "no descriptor for a socket", code: Errno.tooManyFiles, callCount: 3),
        Shortage(testDescription: "an interface that has gone", code: Errno.noDevice, callCount: 1),
        Shortage(testDescription: "the kernel does not answer", isReadable: false, callCount: 3),
    ]

    @Test(
        "Without descriptors the engine tries again while it is in use; other errors wait for a change of the network",
        arguments: shortages)
    func triesAgain(_ shortage: Shortage) {
        let loop = ManualLoop()
        let calls = Recorder<CInt>()
        let engine = BonjourEngine(
            on: loop, hostLabel: "test", scope: .agent(on: [2_000_001]),
            Self.makeAccess(on: loop, isReadable: shortage.isReadable, shortage.code, calls))
        let id = engine.ask(DNSQuestion("a.local", .a)) { _ in }
        loop.runUntilIdle()
        for _ in 0..<2 { loop.advance(by: .seconds(1)) }
        #expect(calls.count == shortage.callCount)
        engine.stop(id)
        loop.runUntilIdle()
        loop.advance(by: .seconds(2))
        #expect(calls.count == shortage.callCount)
    }

    @Test("A link knows this host's addresses on other links, also if only those have changed")
    func hostAddresses() {
        let (first, second) = (Self.interface(2_000_001, "10.0.0.1"), Self.interface(2_000_002, "10.0.0.2"))
        let index = first.interface.index
        let loop = ManualLoop()
        let engine = BonjourEngine(on: loop, hostLabel: "test", scope: .agent(on: [index]))
        loop.batch {
            engine.state.value.asking[QuestionID(rawValue: 1)] = BonjourEngine.Asking(
                question: DNSQuestion("a.local", .a), interfaces: nil, handler: { _ in })
            engine.state.value.links[index] = LinkDriver(first)
            for interfaces in [[first], [first, second]] {
                engine.adopt(NetworkSnapshot(interfaces: interfaces))
                let known = engine.state.value.links[index]?.hostAddresses
                #expect(known == Set(interfaces.flatMap { $0.addresses.map(\.address) }))
            }
            engine.state.value.links = [:]
        }
    }

    @Test("A question whose interfaces change is asked on the new ones, and gets their known answers again")
    func limits() {
        let loop = ManualLoop()
        let engine = BonjourEngine(
            on: loop, hostLabel: "test", scope: .agent(on: []),
            Self.makeAccess(on: loop, isReadable: true, Errno.noDevice, Recorder<CInt>()))
        let (first, second) = (Self.interface(2_000_001, "10.0.0.1"), Self.interface(2_000_002, "10.0.0.2"))
        let found = Recorder<Int>()
        let id = engine.ask(DNSQuestion("a.local", .a), within: []) { event in
            for _ in event.added { found.note(event.interface.index) }
        }
        loop.runUntilIdle()
        loop.batch {
            for facts in [first, second] { engine.state.value.links[facts.interface.index] = LinkDriver(facts) }
        }
        let steps: [(Set<Int>, [Int])] = [
            ([], []), ([2_000_001], [2_000_001]), ([], []), ([2_000_001], [2_000_001]),
            ([2_000_001, 2_000_002], [2_000_002]), ([2_000_002], []),
        ]
        for (interfaces, expected) in steps {
            let before = found.count
            engine.limit(id, to: interfaces)
            loop.runUntilIdle()
            loop.batch { Self.answer(engine) }
            #expect(Array(found.events.dropFirst(before)) == expected)
        }
        engine.stop(id)
        loop.runUntilIdle()
        loop.batch { engine.state.value.links = [:] }
    }

    /// Delivers an answer on all links.
    private static func answer(_ engine: BonjourEngine) {
        let address = IPv4Address("10.0.0.9")!
        var message = DNSMessage()
        message.flags = [.isResponse, .isAuthoritative]
        message.answers = [DNSRecord("a.local", .a, flushesCache: true, timeToLive: 120, .ipv4(address))]
        let bytes = message.encoded()
        let arrival = MulticastArrival(from: MulticastPeer(.ipv4(address), port: MulticastDNS.port))
        for link in engine.state.value.links.values {
            link.machine.received(bytes.span, arrival, at: System.now)
        }
        engine.settle()
    }

    @Test("A name is registered when it has passed probing on all links that are left")
    func passes() {
        let service = ServiceDescription(name: "a", type: "_t._tcp", port: 9)
        var advertising = BonjourEngine.Advertising(service: service, handler: { _ in })
        let steps: [(Int?, Set<Int>)] = [
            (nil, []), (nil, [1, 2]), (1, [1, 2]), (nil, []), (1, [1, 2]), (nil, [1]), (1, [1]),
        ]
        let told = steps.map { advertising.passed(on: $0.0, of: $0.1) }
        #expect(told == [false, false, false, false, false, true, false])
    }

    @Test("While goodbyes are pending, links follow the network, because a program may use them again")
    func changesBeforeRest() {
        let first = Self.interface(2_000_001, "10.0.0.1")
        let index = first.interface.index
        let loop = ManualLoop()
        let engine = BonjourEngine(on: loop, hostLabel: "test", scope: .agent(on: [index]))
        let id = engine.advertise(ServiceDescription(name: "a", type: "_t._tcp", port: 9)) { _ in }
        engine.withdraw(id)
        loop.runUntilIdle()
        loop.batch {
            engine.state.value.links[index] = LinkDriver(first)
            engine.adopt(NetworkSnapshot())
            #expect(engine.state.value.links.isEmpty)
        }
        loop.advance(by: .milliseconds(5))
        loop.batch { #expect(engine.state.value.network == nil) }
    }
}
