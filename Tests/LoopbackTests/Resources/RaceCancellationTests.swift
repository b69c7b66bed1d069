import CausewayProtocols
import CausewayRuntime
import CausewaySystem
import CausewayTypes
import CausewayWire
import Dispatch
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("Cancelled races")
    struct RaceCancellationTests {
        @Test("Cancelled at every millisecond of its race, a connection leaks no descriptor")
        func noLeak() async {
            await #expect(processExitsWith: .success) {
                Watchdog.arm(seconds: 500)
                try await CancelledRaces().expectNoLeak(after: Settings.number("CAUSEWAY_RACES", default: 1_000))
            }
        }
    }
}

/// Runs connection races in which only the last address answers. Each race is cancelled one millisecond later than the
/// race before it.
///
/// The DNS answer for IPv6 arrives late. So its addresses are added to a race that is already running.
private final class CancelledRaces: Sendable {
    /// The end of the time in which the attempts start. It is late enough that some races have a winner before they are
    /// cancelled.
    private static let length = 1_000
    private static let transports = 100

    private let port: UInt16
    private let deaf: [DeafListener]
    private let live: RawSocket

    init() throws {
        Backend.choose()
        (port, deaf, live) = try Self.open()
    }

    /// Opens the same port on all test addresses.
    private static func open() throws -> (UInt16, [DeafListener], RawSocket) {
        for _ in 0..<50 {
            let live = try RawSocket.listening(.tcp4, backlog: 4_000)
            let port = live.port
            let places: [SocketAddress] = [
                .ipv4(bits: 0x7F00_0002, port: port), .ipv4(bits: 0x7F00_0003, port: port),
                .ipv6(high: 0, low: 1, port: port, scope: 0),
            ]
            guard let deaf = try? places.map({ try DeafListener($0) }) else { continue }
            return (port, deaf, live)
        }
        throw SystemError(errno: Errno.addressInUse, call: "bind")
    }

    func expectNoLeak(after count: Int) async throws {
        let doorman = Task { [live] in while !Task.isCancelled { (try? await live.accept())?.close() } }
        defer { doorman.cancel() }
        _ = await run(0..<Self.transports, every: 10)
        let before = ConnectionCycles.descriptorCount
        // Spread the times of cancellation over a whole race, for any number of races.
        let winners = await run(0..<count, every: max(1, Self.length / count))
        let isUnchanged = await eventually { ConnectionCycles.descriptorCount <= before }
        print(
            "\(count) races, \(winners) of them won: \(ConnectionCycles.descriptorCount) descriptors, \(before) before")
        #expect(isUnchanged, "\(ConnectionCycles.descriptorCount) descriptors, \(before) before")
    }

    /// Runs connection races and cancels each of them. Returns how many races were already connected before the
    /// cancellation.
    private func run(_ numbers: Range<Int>, every step: Int) async -> Int {
        await withTaskGroup(of: Int.self) { group in
            for transport in 0..<Self.transports {
                group.addTask {
                    var winners = 0
                    for number in numbers where number % Self.transports == transport {
                        if await self.race(number, cancelledAfter: .milliseconds(number * step % Self.length)) {
                            winners += 1
                        }
                    }
                    return winners
                }
            }
            return await group.reduce(0, +)
        }
    }

    private func race(_ number: Int, cancelledAfter delay: Duration) async -> Bool {
        let observer = RaceObserver()
        // Use a new name each time, so that no cached address is used.
        let target = Connector.Target.name("race-\(number).test", port: port, interface: nil)
        let driver = ConnectionDriver(
            .connect(target, resolver: LateAnswers()), FrozenSettings(SocketSettings(transport: .tcp)))
        driver.start(on: DispatchQueue(label: "race"), observer: observer)
        try? await Task.sleep(for: delay)
        let isReady = driver.state == .ready
        driver.cancel(number % 2 == 0 ? .graceful : .abortive, observer: observer)
        _ = try? await observer.ended.next()
        return isReady
    }
}

/// A listener that does not accept connections and whose queue is full. A client gets no answer.
private final class DeafListener: Sendable {
    private let sockets: [RawSocket]

    init(_ address: SocketAddress) throws {
        let listener = RawSocket(try Socket.open(address.family, .stream))
        try Socket.bind(listener.fd, to: address)
        try Socket.listen(listener.fd, backlog: 0)
        var sockets = [listener]
        // Two connections fill the queue of a listener with a backlog of 0. A third connection makes sure that it is
        // full.
        for _ in 0..<3 {
            let filler = RawSocket(try Socket.open(address.family, .stream))
            _ = try Socket.connect(filler.fd, to: address)
            sockets.append(filler)
        }
        self.sockets = sockets
    }
}

private final class RaceObserver: ConnectionObserver {
    let ended = Mailbox<Bool>()
    var wantsPathReports: Bool { false }
    func connectionChanged(to state: ConnectionDriver.State) {}
    func connectionPathChanged(_ reports: PathTracker.Reports) {}
    func connectionReleased() { ended.put(true) }
}

/// A name resolver that returns three IPv4 addresses at once, and an IPv6 address after 60 ms.
private struct LateAnswers: NameResolver {
    private struct Resolving: NameResolving {
        func cancel() {}
    }

    func known(_ request: NameRequest) -> [NameEvent]? { nil }

    func resolve(_ request: NameRequest, _ report: @escaping @Sendable (NameEvent) -> Void) -> any NameResolving {
        let four: [SocketAddress] = [2, 3, 1].map { .ipv4(bits: 0x7F00_0000 + $0, port: 0) }
        report(.found(four, .ipv4, .cache))
        report(.settled(.ipv4))
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(60)) {
            report(.found([.ipv6(high: 0, low: 1, port: 0, scope: 0)], .ipv6, .cache))
            report(.ended(nil))
        }
        return Resolving()
    }

    func resolve(
        service instance: DNSName, interfaceIndex: Int?,
        completion: @escaping @Sendable (Result<[SocketAddress], NameProblem>) -> Void
    ) -> any NameResolving {
        completion(.failure(.timedOut))
        return Resolving()
    }
}
