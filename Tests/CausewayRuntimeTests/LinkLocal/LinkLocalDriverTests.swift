import CausewayBonjourProtocols
import CausewaySystem
import CausewayTestKit
import CausewayTypes
import CausewayWire
import Testing

@testable import CausewayRuntime

extension Runtime {
    @Suite("Link-local address driver")
    struct LinkLocalDriverTests {
        private struct Watch: NetworkChangeMonitor.Watch {
            func cancel() {}
        }

        private static let interface = NWInterface(name: "test0", index: 7, type: .wiredEthernet)

        /// A link-local address driver for tests. It sends its ARP frames to a socket pair, and the test controls its
        /// network state.
        private final class Stage: Sendable {
            let loop = ManualLoop()
            let network = ManualLoop()
            let sockets = SocketPair()
            let events = Recorder<LinkLocalDriver.Event>()
            let snapshots = LockedValue<[NetworkSnapshot]>([])
            private let report = LockedValue<(@Sendable (NetworkChangeMonitor.Report) -> Void)?>(nil)

            func makeDriver() -> LinkLocalDriver {
                let changes = NetworkChangeMonitor(
                    context: .init(
                        follow: { report in
                            self.report.withLock { $0 = report }
                            return Watch()
                        }, after: { _, body in body() }))
                let network = LinkLocalDriver.Network(loop: network, changes: changes) {
                    self.snapshots.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                }
                return LinkLocalDriver(
                    LinkLocalDriverTests.interface, LinkLocalClaim(LinkAddress(bits: 0x0200_0000_0001)),
                    sockets.give(sockets.near), on: loop, network
                ) { self.events.note($0) }
            }

            func changeNetwork() { report.withLock { $0 }?(.changed) }

            /// Waits until the driver's socket is closed, and returns whether it is.
            var isSocketClosed: Bool {
                SocketPair.awaitHangUp(sockets.far)
                return SocketPair.read(sockets.far) == nil
            }
        }

        private static func snapshot(_ flags: NetlinkLink.Flags) -> NetworkSnapshot {
            let link = NetlinkLink(index: interface.index, hardwareType: 1, flags: flags)
            return NetworkSnapshot(interfaces: [.init(interface: interface, link: link)])
        }

        @Test("Network snapshots take effect in the order in which they were read")
        func order() {
            let stage = Stage()
            stage.snapshots.withLock { $0 = [Self.snapshot([]), Self.snapshot([.up, .running])] }
            let driver = stage.makeDriver()
            driver.start()
            stage.loop.runUntilIdle()
            // The network changes again while the driver still reads the network's state for the first time.
            stage.changeNetwork()
            #expect(stage.snapshots.withLock { $0.count } == 2, "the network is read on its own loop only")
            stage.network.runUntilIdle()
            stage.loop.runUntilIdle()
            let events = stage.events.events
            #expect(events.count == 2 && events.first == .waiting(.link))
            guard case .probing = events.last else {
                Issue.record("the last snapshot does not count: \(events)")
                return
            }
            driver.stop()
            stage.loop.runUntilIdle()
            #expect(stage.isSocketClosed && stage.loop.watchCount == 0)
        }

        @Test("A network that cannot be read is read again later, by one timer")
        func unreadable() {
            let stage = Stage()
            let driver = stage.makeDriver()
            driver.start()
            stage.loop.runUntilIdle()
            stage.changeNetwork()
            stage.network.runUntilIdle()
            stage.loop.runUntilIdle()
            #expect(stage.loop.clock.waitingCount == 1)
            stage.snapshots.withLock { $0 = [Self.snapshot([])] }
            stage.loop.advance(by: .seconds(1))
            stage.network.runUntilIdle()
            stage.loop.runUntilIdle()
            #expect(stage.events.events == [.waiting(.link)])
            driver.stop()
            stage.loop.runUntilIdle()
        }

        @Test("A flood of frames queues one call to continue, however often the loop reports it")
        func flood() {
            let stage = Stage()
            let driver = stage.makeDriver()
            driver.start()
            stage.loop.runUntilIdle()
            // Each read takes one frame of 128 bytes from the socket pair.
            let frameCount = LinkLocalDriver.budget * 2 + 2
            stage.sockets.write(String(repeating: " ", count: 128 * frameCount), to: stage.sockets.far)
            let before = stage.loop.turnCount
            for _ in 0..<2 { stage.loop.report(.readable, of: Registration(token: 1)) }
            stage.loop.runUntilIdle()
            // One readiness report permits a limited number of frames. The first turn reads this number, and the second
            // turn reads the rest.
            #expect(stage.loop.turnCount - before == 2)
            driver.stop()
            stage.loop.runUntilIdle()
        }

        @Test("A driver that is never started closes its socket when it is released")
        func neverStarted() {
            let stage = Stage()
            do { _ = stage.makeDriver() }
            #expect(stage.isSocketClosed)
        }

        @Test("A second start changes nothing, and a start after the end does not reopen the driver")
        func startedTwice() {
            let stage = Stage()
            let driver = stage.makeDriver()
            driver.start()
            driver.start()
            stage.loop.runUntilIdle()
            #expect(stage.loop.watchCount == 1)
            driver.stop()
            driver.start()
            stage.loop.runUntilIdle()
            #expect(stage.isSocketClosed && stage.loop.watchCount == 0)
        }
    }
}
