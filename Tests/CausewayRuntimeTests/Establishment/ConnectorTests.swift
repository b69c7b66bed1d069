import CausewayProtocols
import CausewaySystem
import CausewayTestKit
import CausewayTypes
import CausewayWire
import Testing

@testable import CausewayRuntime

extension Runtime {
    @Suite("Connector")
    struct ConnectorTests {
        private typealias Answer = Result<[SocketAddress], NameProblem>

        /// A resolver that answers only when the test triggers the answer.
        private final class Names: NameResolver {
            private struct Lookup: NameResolving {
                let names: Names
                func cancel() { names.cancelled.withLock { $0 += 1 } }
            }

            let asked = LockedValue<[@Sendable (Answer) -> Void]>([])
            let cancelled = LockedValue(0)

            func known(_ request: NameRequest) -> [NameEvent]? { nil }

            func resolve(
                _ request: NameRequest, _ report: @escaping @Sendable (NameEvent) -> Void
            ) -> any NameResolving { Lookup(names: self) }

            func resolve(
                service instance: DNSName, interfaceIndex: Int?, completion: @escaping @Sendable (Answer) -> Void
            ) -> any NameResolving {
                asked.withLock { $0.append(completion) }
                return Lookup(names: self)
            }
        }

        private let loop = ManualLoop()
        private let names = Names()
        private let outcomes = Recorder<Bool>()

        private func connector(to target: Connector.Target, _ transport: SocketSettings.Transport = .tcp) -> Connector {
            Connector(target, SocketSettings(transport: transport), on: loop, resolver: names) { [outcomes] _, facts in
                outcomes.note(facts.attemptCount > 0)
            }
        }

        private static let service = Connector.Target.service("printer._ipp._tcp.local", interface: nil)
        private static let here = SocketAddress.ipv4(bits: 0x7F00_0001, port: 9)

        @Test("Cancelling ends a service lookup, and its late answer has no effect")
        func cancelledLookup() throws {
            let connector = connector(to: Self.service)
            connector.start()
            loop.runUntilIdle()
            let answer = try #require(names.asked.withLock { $0.first })
            connector.cancel()
            loop.runUntilIdle()
            #expect(names.cancelled.withLock { $0 } == 1)
            answer(.success([Self.here]))
            loop.runUntilIdle()
            #expect(loop.watchCount == 0 && outcomes.count == 0)
        }

        @Test("A failed service lookup is over, so it is not cancelled")
        func failedLookup() throws {
            let connector = connector(to: Self.service)
            connector.start()
            loop.runUntilIdle()
            let answer = try #require(names.asked.withLock { $0.first })
            answer(.failure(.notFound))
            loop.runUntilIdle()
            connector.cancel()
            loop.runUntilIdle()
            #expect(names.cancelled.withLock { $0 } == 0 && outcomes.count == 1)
        }

        @Test("A connector that is cancelled before its start neither asks nor connects")
        func cancelledFirst() {
            for target in [Self.service, .addresses([Self.here])] {
                let connector = connector(to: target)
                connector.cancel()
                connector.start()
                loop.runUntilIdle()
            }
            #expect(names.asked.withLock { $0.isEmpty } && loop.watchCount == 0 && outcomes.count == 0)
        }

        @Test("Skipping an address after the end sets no timer")
        func skippedLate() {
            let connector = connector(to: .addresses([.unix(path: "/nowhere/1"), .unix(path: "/nowhere/2")]))
            connector.start()
            connector.cancel()
            connector.skip()
            loop.runUntilIdle()
            #expect(loop.clock.waitingCount == 0 && outcomes.count == 0)
        }

        @Test("An address in two forms counts once, and the addresses after it keep their numbers")
        func mappedAddress() {
            let mapped = SocketAddress.ipv6(high: 0, low: 0xFFFF_C000_0201, port: 80, scope: 0)
            let others = [0xC000_0201, 0xC000_0202, 0xC000_0203].map { SocketAddress.ipv4(bits: $0, port: 80) }
            var race = SocketRace(awaiting: [])
            for addresses in [[mapped, others[0], others[1]], [others[1], others[2]]] {
                let found = addresses.compactMap { address in
                    address.internetAddress.map {
                        FoundAddress(address: address, destination: Destination($0, source: nil), history: .init())
                    }
                }
                _ = race.found(found, at: .zero)
            }
            #expect(race.addresses == [mapped, others[1], others[2]])
            // The attempt to connect to the first address has started.
            #expect(race.untried == [others[1], others[2]])
        }

        /// A remote proxy's relay that reports its address as a host name.
        private final class NamedRelay: DatagramRelay {
            let facts = EstablishmentFacts()
            func begin(_ opened: @escaping RelayOpened) {
                opened(.success(.name("relay.test", port: 9, interface: nil)))
            }
            func permits(_ address: SocketAddress) -> Bool { !address.isLoopback }
            func watch(_ ended: @escaping @Sendable (Failure) -> Void) {}
            func cancel() {}
        }

        /// A resolver that finds every name on this host.
        private struct OwnNames: NameResolver {
            private struct Nothing: NameResolving {
                func cancel() {}
            }

            func known(_ request: NameRequest) -> [NameEvent]? {
                [.found([.ipv4(bits: 0x7F00_0001, port: 0)], .ipv4, .host), .ended(nil)]
            }

            func resolve(
                _ request: NameRequest, _ report: @escaping @Sendable (NameEvent) -> Void
            ) -> any NameResolving { Nothing() }
        }

        @Test("A remote proxy cannot direct datagrams to this host with a name")
        func relayByName() {
            let failures = Recorder<Failure>()
            let request = RelayRequest(.addresses([Self.here])) { _, _, _ in NamedRelay() }
            let connector = Connector(
                .relay(request), SocketSettings(transport: .udp), on: loop, resolver: OwnNames()
            ) { outcome, _ in
                switch outcome {
                case .success(let winner): Descriptor(adopting: winner.fd).close()
                case .failure(let failure): failures.note(failure)
                }
            }
            connector.start()
            loop.runUntilIdle()
            #expect(failures.events == [.tunnelBroken])
        }

        @Test("A race that is won at once leaves no timer")
        func wonAtOnce() {
            let won = LockedValue<[CInt]>([])
            let addresses = [Self.here, .ipv4(bits: 0x7F00_0001, port: 10)]
            let connector = Connector(
                .addresses(addresses), SocketSettings(transport: .udp), on: loop, resolver: names
            ) { outcome, _ in
                if case .success(let winner) = outcome { won.withLock { $0.append(winner.fd) } }
            }
            connector.start()
            loop.runUntilIdle()
            let sockets = won.withLock { $0 }
            for fd in sockets { Descriptor(adopting: fd).close() }
            #expect(sockets.count == 1 && loop.clock.waitingCount == 0)
        }
    }
}
