import CausewayProtocols
import CausewaySystem
import CausewayTestKit
import CausewayTypes
import CausewayWire
import FoundationEssentials
import Testing

@testable import CausewayRuntime

extension Runtime {
    @Suite("Connection driver")
    struct ConnectionDriverTests {
        /// Records each connection state, and calls the test's closure with it.
        private final class Observer: ConnectionObserver {
            let states = Recorder<ConnectionDriver.State>()
            private let body: @Sendable (ConnectionDriver.State) -> Void

            init(_ body: @escaping @Sendable (ConnectionDriver.State) -> Void = { _ in }) { self.body = body }

            var wantsPathReports: Bool { false }
            func connectionChanged(to state: ConnectionDriver.State) {
                states.note(state)
                body(state)
            }
            func connectionPathChanged(_ reports: PathTracker.Reports) {}
            func connectionReleased() {}
        }

        private struct Watch: NetworkChangeMonitor.Watch {
            func cancel() {}
        }

        /// A name resolver that counts lookups and answers none.
        private final class Names: NameResolver {
            private struct Lookup: NameResolving {
                func cancel() {}
            }

            let asked = LockedValue(0)

            func known(_ request: NameRequest) -> [NameEvent]? { nil }

            func resolve(
                _ request: NameRequest, _ report: @escaping @Sendable (NameEvent) -> Void
            ) -> any NameResolving {
                asked.withLock { $0 += 1 }
                return Lookup()
            }
        }

        private let loop = ManualLoop()
        private let names = Names()

        private func driver(allowsFastOpen: Bool = false) -> ConnectionDriver {
            var settings = SocketSettings(transport: .tcp)
            settings.allowsFastOpen = allowsFastOpen
            let target = Connector.Target.name("server.test", port: 9, interface: nil)
            return ConnectionDriver(.connect(target, resolver: names), FrozenSettings(settings), loop: loop)
        }

        @Test("A completion that runs while the first packet's content is collected may use the connection")
        func earlyContent() {
            let driver = driver(allowsFastOpen: true)
            let observer = Observer()
            let seen = Recorder<ConnectionDriver.State>()
            driver.startOnLoop(observer: observer)
            // The message has expired. So it completes as soon as the driver collects its content.
            let outbound = Outbound(Data("late".utf8), waiter: .channel { _ in seen.note(driver.state) })
            driver.flow.send(.init(outbound, ticket: MessageTicket(), deadline: System.now - .seconds(1)))
            driver.contentCame()
            #expect(seen.events == [.preparing])
            driver.cancel(.abortive, observer: observer)
            loop.runUntilIdle()
        }

        @Test("A connection that is cancelled while it reports `preparing` starts no lookup")
        func cancelledAtOnce() {
            let driver = driver()
            let observer = Observer { [weak driver] state in
                if state == .preparing { driver?.cancel(.graceful, observer: Observer()) }
            }
            driver.start(on: nil, observer: observer)
            loop.runUntilIdle()
            #expect(names.asked.withLock { $0 } == 0 && driver.state == .cancelled)
        }

        @Test("Content starts an establishment that waits for it, once")
        func held() {
            let driver = driver(allowsFastOpen: true)
            let observer = Observer()
            driver.startOnLoop(observer: observer)
            loop.runUntilIdle()
            #expect(names.asked.withLock { $0 } == 0)
            driver.contentCame()
            driver.contentCame()
            loop.runUntilIdle()
            #expect(names.asked.withLock { $0 } == 1)
            driver.cancel(.abortive, observer: observer)
            loop.runUntilIdle()
        }

        @Test("A lost network counts once, also if the next attempt fails without its own history")
        func lostNetwork() {
            var progress = ConnectionDriver.Progress(origin: .attached)
            progress.establish(.idle)
            var facts = EstablishmentFacts()
            facts.lostNetwork = true
            progress.noteDefeat(facts)
            let isLost = progress.takeLoss()
            progress.establish(.idle)
            let isLostAgain = progress.takeLoss()
            #expect(isLost && !isLostAgain)
        }

        // MARK: Subscriptions

        private static func monitor(_ changes: NetworkChangeMonitor) -> NetworkStateMonitor {
            NetworkStateMonitor(changes: changes) { _, _ in nil }
        }

        @Test("A subscription to the path that arrives after the path was left is refused")
        func latePath() {
            let changes = NetworkChangeMonitor(context: .init(follow: { _ in Watch() }, after: { _, _ in }))
            let watch = Self.monitor(changes).subscribe { _ in }
            defer { watch.cancel() }
            var progress = ConnectionDriver.Progress(origin: .attached)
            _ = progress.lifecycle.startedEstablished()
            _ = progress.lifecycle.established()
            let (first, second) = (PathFollower(nil), PathFollower(nil))
            // A follower monitors the connection's path. Only one follower can begin at a time.
            let begun = [progress.beginFollowing(first), progress.beginFollowing(second)]
            #expect(begun == [true, false])
            let left = progress.leavePath()
            let isStoredLate = progress.follow(first, by: watch)
            #expect(left == nil && !isStoredLate)
            // The path now has a later follower. The subscription of the earlier follower must not be stored any more.
            let begunAgain = progress.beginFollowing(second)
            let stored = [progress.follow(first, by: watch), progress.follow(second, by: watch)]
            #expect(begunAgain && stored == [false, true])
            let leftAgain = progress.leavePath()
            #expect(leftAgain === watch)
        }

        @Test("A wait for the network state that ends while it subscribes keeps no subscription")
        func lateModel() {
            let loop = loop
            let changes = NetworkChangeMonitor(
                context: .init(
                    follow: { _ in
                        loop.advance(by: .seconds(1))
                        return Watch()
                    }, after: { _, _ in }))
            let monitor = Self.monitor(changes)
            let calls = LockedValue(0)
            ModelWait { _ in calls.withLock { $0 += 1 } }.begin(monitor, on: loop, limit: .seconds(1))
            #expect(calls.withLock { $0 } == 1 && !changes.isFollowing && loop.clock.waitingCount == 0)
        }

        @Test("A wait for the network state ends once, with its subscription")
        func modelLimit() {
            let changes = NetworkChangeMonitor(context: .init(follow: { _ in Watch() }, after: { _, _ in }))
            let monitor = Self.monitor(changes)
            let calls = LockedValue(0)
            let wait = ModelWait { watch in
                calls.withLock { $0 += 1 }
                watch?.cancel()
            }
            wait.begin(monitor, on: loop, limit: .seconds(1))
            #expect(calls.withLock { $0 } == 0 && changes.isFollowing)
            loop.advance(by: .seconds(2))
            #expect(calls.withLock { $0 } == 1 && !changes.isFollowing)
        }

        // MARK: Records

        @Test("The history counts the attempts of all establishments, and keeps the first start")
        func history() {
            var history = EstablishmentHistory()
            history.began(at: .seconds(1))
            history.countAttempts(2)
            history.began(at: .seconds(5))
            history.renew(EstablishmentFacts())
            history.countAttempts(3)
            #expect(history.facts?.previousAttempts == 4 && history.facts?.started == .seconds(1))
        }

        @Test("Routes are taken in order, and each establishment begins with the first one")
        func routes() {
            let ports: [UInt16] = [1, 2, 3]
            let all = ports.map { port in
                Route(.name("proxy.test", port: port, interface: nil), proxy: nil) { _ in .success([]) }
            }
            let settings = FrozenSettings(SocketSettings(transport: .tcp), routes: all)
            func port(_ route: Route?) -> UInt16? {
                if case .name(_, let port, _) = route?.target { port } else { nil }
            }
            var cursor = RouteCursor()
            #expect(port(cursor.current(settings)) == 1)
            let taken = (0..<3).map { _ in port(cursor.next(settings)) }
            #expect(taken == [2, 3, nil] && port(cursor.current(settings)) == 3)
            cursor.rewind(with: nil)
            #expect(port(cursor.current(settings)) == 1)
        }
    }
}
