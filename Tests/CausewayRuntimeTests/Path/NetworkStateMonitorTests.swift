import CausewayProtocols
import CausewayRuntime
import CausewaySystem
import CausewayWire
import Synchronization
import Testing

extension Runtime {
    @Suite("Network state monitor")
    struct NetworkStateMonitorTests {
        /// A simulated network that also sends the kernel's notifications.
        private final class World: Sendable {
            struct State {
                var routes = 0
                var looks = 0
                var isSilent = false
                var report: (@Sendable (NetworkChangeMonitor.Report) -> Void)?
                var watches = 0
                /// Whether a network management program is running.
                var hasManagers = false
                var word: (@Sendable (InterfaceFacts?) -> Void)?
                var listeners = 0
                var searches = 0
            }

            struct Listener: NetworkChangeMonitor.Watch {
                let world: World
                func cancel() { world.state.withLock { $0.listeners -= 1 } }
            }

            struct Watch: NetworkChangeMonitor.Watch {
                let world: World
                func cancel() { world.state.withLock { $0.watches -= 1 } }
            }

            let state = Mutex(State())

            func makeMonitor() -> NetworkStateMonitor {
                let changes = NetworkChangeMonitor(
                    context: .init(
                        follow: { report in
                            self.state.withLock { state in
                                state.report = report
                                state.watches += 1
                            }
                            return Watch(world: self)
                        },
                        // Do not wait for the delay here. Other tests check it, so call the closure at once.
                        after: { _, body in body() }))
                return NetworkStateMonitor(
                    changes: changes, managers: { word in self.listen(word) },
                    look: { last, facts in self.look(last, facts) })
            }

            private func listen(
                _ word: @escaping @Sendable (InterfaceFacts?) -> Void
            ) -> (any NetworkChangeMonitor.Watch)? {
                state.withLock { state in
                    state.searches += 1
                    guard state.hasManagers else { return nil }
                    state.listeners += 1
                    state.word = word
                    return Listener(world: self)
                }
            }

            private func look(_ last: NetworkModel?, _ facts: InterfaceFacts) -> NetworkModel? {
                state.withLock { state in
                    state.looks += 1
                    guard !state.isSilent else { return nil }
                    let routes = (0..<state.routes).map { _ in NetlinkRoute(family: .ipv4) }
                    if let last, last.state.routes.count == routes.count, last.facts == facts { return last }
                    return NetworkModel(NetlinkState(routes: routes), facts: facts) { _ in nil }
                }
            }

            func change(to routes: Int) {
                let report = state.withLock { state in
                    state.routes = routes
                    return state.report
                }
                report?(.changed)
            }

            var looks: Int { state.withLock { $0.looks } }
            var watches: Int { state.withLock { $0.watches } }
        }

        @Test("A subscriber receives the current network, then each different one once")
        func tells() async {
            let world = World()
            let monitor = world.makeMonitor()
            let (models, feed) = AsyncStream.makeStream(of: Int.self)
            let subscription = monitor.subscribe { feed.yield($0.state.routes.count) }
            var heard = models.makeAsyncIterator()
            #expect(await heard.next() == 0)
            #expect(monitor.followed?.state.routes.isEmpty == true)
            world.change(to: 0)
            world.change(to: 2)
            #expect(await heard.next() == 2)
            world.change(to: 1)
            #expect(await heard.next() == 1)
            let late = AsyncStream.makeStream(of: Int.self)
            let second = monitor.subscribe { late.continuation.yield($0.state.routes.count) }
            var lateHeard = late.stream.makeAsyncIterator()
            #expect(await lateHeard.next() == 1)
            world.change(to: 5)
            #expect(await heard.next() == 5)
            #expect(await lateHeard.next() == 5)
            subscription.cancel()
            second.cancel()
            #expect(monitor.followed == nil)
            #expect(world.watches == 0)
        }

        @Test("Many subscribers share one query of the kernel")
        func oneLook() async {
            let world = World()
            let monitor = world.makeMonitor()
            let (models, feed) = AsyncStream.makeStream(of: Void.self)
            let subscriptions = (0..<1_000).map { _ in monitor.subscribe { _ in feed.yield() } }
            var heard = models.makeAsyncIterator()
            for _ in 0..<1_000 { await heard.next() }
            let before = world.looks
            world.change(to: 1)
            for _ in 0..<1_000 { await heard.next() }
            #expect(world.looks == before + 1)
            for subscription in subscriptions { subscription.cancel() }
            #expect(world.watches == 0)
        }

        @Test("Without subscribers, each question queries the kernel")
        func unfollowed() {
            let world = World()
            let monitor = world.makeMonitor()
            #expect(monitor.followed == nil)
            #expect(monitor.model.state.routes.isEmpty)
            world.state.withLock { $0.routes = 3 }
            #expect(monitor.model.state.routes.count == 3)
            #expect(world.looks == 2 && world.watches == 0)
        }

        @Test("If the kernel cannot be queried, the last state remains")
        func silence() async {
            let world = World()
            let monitor = world.makeMonitor()
            let (models, feed) = AsyncStream.makeStream(of: Int.self)
            let subscription = monitor.subscribe { feed.yield($0.state.routes.count) }
            var heard = models.makeAsyncIterator()
            #expect(await heard.next() == 0)
            world.state.withLock { $0.isSilent = true }
            let before = world.looks
            world.change(to: 4)
            // After a slow query, the monitor pauses before the next one. So wait until the failed query has begun.
            while world.looks == before { await Self.settle(monitor) }
            // Wait until another block has run. It runs between two queries, so the failed query has then ended.
            await Self.settle(monitor)
            #expect(monitor.followed?.state.routes.isEmpty == true)
            world.state.withLock { $0.isSilent = false }
            world.change(to: 6)
            #expect(await heard.next() == 6)
            subscription.cancel()
        }

        /// Returns test properties of an interface. `nil` means that no program reported whether the interface is
        /// metered.
        private static func facts(_ isMetered: Bool?) -> InterfaceFacts {
            var facts = InterfaceFacts()
            facts["eth0"].isMetered = isMetered
            return facts
        }

        private static func settle(_ monitor: NetworkStateMonitor) async {
            await withCheckedContinuation { continuation in monitor.perform { continuation.resume() } }
        }

        @Test("Reports of programs cause one separate update, and no query waits for them")
        func managersSpeak() async throws {
            let world = World()
            world.state.withLock { $0.hasManagers = true }
            let monitor = world.makeMonitor()
            let (models, feed) = AsyncStream.makeStream(of: Bool?.self)
            let subscription = monitor.subscribe { feed.yield($0.facts["eth0"].isMetered) }
            var heard = models.makeAsyncIterator()
            #expect(await heard.next() == .some(nil))
            await Self.settle(monitor)
            let word = try #require(world.state.withLock { $0.word })
            let before = world.looks
            // Two different reports arrive, and each arrives twice.
            monitor.perform { for isMetered in [false, false, true, true] { word(Self.facts(isMetered)) } }
            #expect(await heard.next() == .some(true))
            monitor.perform { word(Self.facts(true)) }
            monitor.perform { word(nil) }
            #expect(await heard.next() == .some(nil))
            #expect(world.looks == before + 2)
            subscription.cancel()
            // The monitor has searched for the programs only once.
            #expect(world.state.withLock { $0.searches } == 1)
        }

        @Test("Programs are searched again when the network changes, and released with the last subscriber")
        func managersReturn() async throws {
            let world = World()
            let monitor = world.makeMonitor()
            let (models, feed) = AsyncStream.makeStream(of: NetworkModel.self)
            let subscription = monitor.subscribe { feed.yield($0) }
            var heard = models.makeAsyncIterator()
            #expect(await heard.next()?.state.routes.isEmpty == true)
            await Self.settle(monitor)
            #expect(world.state.withLock { $0.searches } == 1)
            world.state.withLock { $0.hasManagers = true }
            world.change(to: 1)
            #expect(await heard.next()?.state.routes.count == 1)
            await Self.settle(monitor)
            #expect(world.state.withLock { ($0.searches, $0.listeners) } == (2, 1))
            world.change(to: 2)
            #expect(await heard.next()?.state.routes.count == 2)
            await Self.settle(monitor)
            #expect(world.state.withLock { ($0.searches, $0.listeners) } == (2, 1))
            let word = try #require(world.state.withLock { $0.word })
            subscription.cancel()
            #expect(world.state.withLock { $0.listeners } == 0)
            // This report arrives after the subscription was cancelled, so it must change nothing.
            monitor.perform { word(Self.facts(true)) }
            let second = monitor.subscribe { feed.yield($0) }
            #expect(await heard.next()?.facts == InterfaceFacts())
            second.cancel()
        }
    }
}
