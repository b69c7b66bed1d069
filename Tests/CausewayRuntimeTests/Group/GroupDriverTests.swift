import CausewayProtocols
import CausewaySystem
import CausewayTestKit
import CausewayTypes
import CausewayWire
import Dispatch
import FoundationEssentials
import Testing

@testable import CausewayRuntime

extension Runtime {
    @Suite("Group driver")
    struct GroupDriverTests {
        /// An observer that records the group's states and the first byte of each datagram. It also runs the test's
        /// closure.
        private final class Observer: GroupObserver {
            let states = Recorder<GroupDriver.State>()
            let received = Recorder<UInt8>()
            private let body: @Sendable (GroupDatagram) -> Void

            init(_ body: @escaping @Sendable (GroupDatagram) -> Void) { self.body = body }

            func groupChanged(to state: GroupDriver.State) { states.note(state) }
            func groupReceived(_ datagram: GroupDatagram) {
                received.note(datagram.data.first ?? 0)
                body(datagram)
            }
            func groupReleased() {}
        }

        private static let peer = SocketAddress.ipv4(bits: 0xC000_0201, port: 7)

        private static func train(_ number: Int) -> DatagramBatch.Train {
            DatagramBatch.Train(bytes: Data([UInt8(number)]), segment: 1, mark: PacketMark())
        }

        @Test("A sender's queued datagrams reach its new connection before datagrams that come later")
        func extracted() throws {
            let loop = ManualLoop()
            let socket = try SharedDatagramSocket(Socket.open(.ipv4, .datagram), on: loop) { _, _ in }
            let plan = GroupPlan(
                groups: [.ipv4(bits: 0xEF01_0203, port: 9)],
                settings: FrozenSettings(SocketSettings(transport: .udp)))
            let driver = GroupDriver(plan, loop: loop)
            let connection = LockedValue<ConnectionDriver?>(nil)
            let budget = GroupDriver.drainBudget
            let observer = Observer { datagram in
                guard Int(datagram.data.first ?? 0) == budget - 1 else { return }
                let extracted = driver.extract(from: datagram)
                // Pass a datagram directly to the new connection. The socket does the same from now on.
                extracted?.flow.arrived([Self.train(200)])
                connection.withLock { $0 = extracted }
            }
            let queue = DispatchQueue(label: "group")
            driver.start(on: queue, observer: observer)
            let arrivals = (0..<budget + 3).map { number in
                DatagramArrival(train: Self.train(number), peer: Self.peer, info: PacketInfo())
            }
            loop.batch { driver.arrived(arrivals, at: socket) }
            for _ in 0..<3 { queue.sync {} }
            #expect(observer.received.events == (0..<budget).map { UInt8($0) })
            let flow = try #require(connection.withLock { $0 }).flow
            flow.attach(.peer(socket, Self.peer), owner: Stage.Owner(Log(), SharedDelivery.on(.main).delivery))
            flow.begin()
            var found: [Int] = []
            while let content = flow.takeDatagram() { found.append(content.data.first.map { Int($0) } ?? -1) }
            #expect(found == [budget, budget + 1, budget + 2, 200])
            driver.cancel(observer: observer)
            loop.runUntilIdle()
            socket.stop()
        }

        @Test("A call that is queued during a delivery runs when the receive budget is used up")
        func fairness() throws {
            let loop = ManualLoop()
            let socket = try SharedDatagramSocket(Socket.open(.ipv4, .datagram), on: loop) { _, _ in }
            let plan = GroupPlan(
                groups: [.ipv4(bits: 0xEF01_0203, port: 9)],
                settings: FrozenSettings(SocketSettings(transport: .udp)))
            let driver = GroupDriver(plan, loop: loop)
            let queue = DispatchQueue(label: "group")
            let delivery = SharedDelivery.on(queue)
            let order = Recorder<Int>()
            let observer = Observer { datagram in
                let number = Int(datagram.data.first ?? 0)
                order.note(number)
                if number == 0 { delivery.post(.call { order.note(-1) }) }
            }
            driver.start(on: queue, observer: observer)
            let arrivals = (0..<GroupDriver.drainBudget + 2).map { number in
                DatagramArrival(train: Self.train(number), peer: Self.peer, info: PacketInfo())
            }
            loop.batch { driver.arrived(arrivals, at: socket) }
            for _ in 0..<3 { queue.sync {} }
            let budget = GroupDriver.drainBudget
            #expect(order.events == Array(0..<budget) + [-1, budget, budget + 1])
            driver.cancel(observer: observer)
            loop.runUntilIdle()
            socket.stop()
        }

        @Test("A group that is cancelled delivers no datagram that waits for its queue")
        func cancelledBeforeDelivery() throws {
            let loop = ManualLoop()
            let socket = try SharedDatagramSocket(Socket.open(.ipv4, .datagram), on: loop) { _, _ in }
            let plan = GroupPlan(
                groups: [.ipv4(bits: 0xEF01_0203, port: 9)],
                settings: FrozenSettings(SocketSettings(transport: .udp)))
            let driver = GroupDriver(plan, loop: loop)
            let observer = Observer { _ in }
            let queue = DispatchQueue(label: "group")
            driver.start(on: queue, observer: observer)
            let arrival = DatagramArrival(train: Self.train(1), peer: Self.peer, info: PacketInfo())
            queue.suspend()
            loop.batch { driver.arrived([arrival], at: socket) }
            driver.cancel(observer: observer)
            loop.runUntilIdle()
            queue.resume()
            queue.sync {}
            #expect(observer.received.events.isEmpty)
            #expect(observer.states.events == [.cancelled])
            socket.stop()
        }

        @Test("A connection to a sender sends from the local address that the group's parameters require")
        func requiredSource() throws {
            let loop = ManualLoop()
            let socket = try SharedDatagramSocket(Socket.open(.ipv4, .datagram), on: loop) { _, _ in }
            let group = SocketAddress.ipv4(bits: 0xEF01_0203, port: 9)
            var settings = SocketSettings(transport: .udp)
            settings.localAddress = .ipv4(bits: 0x7F00_0001, port: 0)
            let driver = GroupDriver(GroupPlan(groups: [group], settings: FrozenSettings(settings)), loop: loop)
            let datagram = GroupDatagram(
                data: Data([1]), mark: PacketMark(), peer: Self.peer, destination: group, interfaceIndex: 1,
                socket: socket)
            let connection = driver.extract(from: datagram)
            let source = socket.source(for: Self.peer)
            #expect(connection != nil && source == settings.localAddress)
            socket.stop()
        }

        /// Returns the plan for a group that is restricted to the loopback interface.
        private static func makeRestrictedPlan() -> GroupPlan {
            var settings = SocketSettings(transport: .udp)
            settings.requiredInterfaceType = .loopback
            return GroupPlan(groups: [.ipv4(bits: 0xEF01_0204, port: 0)], settings: FrozenSettings(settings))
        }

        @Test("If the network cannot be read, a group keeps its memberships and its restriction")
        func unreadableNetwork() async throws {
            let snapshot = LockedValue<NetworkSnapshot?>(try NetworkSnapshot.current())
            let state = try NetlinkState.current()
            let driver = GroupDriver(
                Self.makeRestrictedPlan(), look: { snapshot.withLock { snapshot in snapshot } },
                readModel: { NetworkModel(state) { _ in nil } })
            let observer = Observer { _ in }
            driver.start(on: DispatchQueue(label: "group"), observer: observer)
            await observer.states.wait(for: 1)
            let count = driver.membershipCount
            let permitted = driver.progress.withLock { progress in progress.interfaces.permitted }
            snapshot.withLock { snapshot in snapshot = nil }
            await Engine.networkLoop.run { driver.networkChanged() }
            await driver.loop.run {}
            #expect(count > 0 && driver.membershipCount == count)
            #expect(permitted != nil)
            #expect(driver.progress.withLock { progress in progress.interfaces.permitted } == permitted)
            driver.cancel(observer: observer)
            let states = await observer.states.wait(for: 2)
            #expect(states == [.ready, .cancelled])
        }

        @Test("A group that prohibits expensive paths leaves an interface that becomes expensive")
        func expensive() async throws {
            var settings = SocketSettings(transport: .udp)
            settings.requiredInterfaceType = .loopback
            settings.prohibitsExpensive = true
            let plan = GroupPlan(groups: [.ipv4(bits: 0xEF01_0205, port: 0)], settings: FrozenSettings(settings))
            let state = try NetlinkState.current()
            let snapshot = try NetworkSnapshot.current()
            let overrides = LockedValue("")
            let driver = GroupDriver(
                plan, look: { snapshot },
                readModel: {
                    let text = overrides.withLock { overrides in overrides }
                    return NetworkModel(state, overrides: InterfaceOverrides(parsing: text)) { _ in nil }
                })
            let observer = Observer { _ in }
            driver.start(on: DispatchQueue(label: "group"), observer: observer)
            await observer.states.wait(for: 1)
            overrides.withLock { overrides in overrides = "lo=expensive" }
            await Engine.networkLoop.run { driver.networkChanged() }
            let states = await observer.states.wait(for: 2)
            #expect(states == [.ready, .waiting(Failure(errno: Errno.networkDown))])
            #expect(driver.membershipCount == 0)
            driver.cancel(observer: observer)
            await observer.states.wait(for: 3)
        }

        @Test("A message of a restricted group to one host fails if no permitted interface leads there")
        func oneHost() async throws {
            let state = LockedValue(try NetlinkState.current())
            // A reading of the real interfaces can fail, and would be repeated after a second.
            let snapshot = try NetworkSnapshot.current()
            let driver = GroupDriver(
                Self.makeRestrictedPlan(), look: { snapshot },
                readModel: { NetworkModel(state.withLock { state in state }) { _ in nil } })
            let observer = Observer { _ in }
            driver.start(on: DispatchQueue(label: "group"), observer: observer)
            await observer.states.wait(for: 1)
            let results = Recorder<Failure?>()
            let message = GroupOutbound(Data([1]), to: .address(.ipv4(bits: 0x7F00_0001, port: 9))) { failure in
                results.note(failure)
            }
            driver.send(SendQueue.Entry(message))
            await results.wait(for: 1)
            // The kernel still has its own route, but remove the routes from the network state.
            state.withLock { state in state.routes = [] }
            await Engine.networkLoop.run { driver.networkChanged() }
            // The group adopts the changed routes on its own loop. The turn that has sent the first message ends there
            // too: before its end, it would also send the second message.
            await driver.loop.run {}
            driver.send(SendQueue.Entry(message))
            let failures = await results.wait(for: 2)
            let expected: [Failure?] = [nil, Failure(errno: Errno.networkUnreachable)]
            #expect(failures == expected)
            driver.cancel(observer: observer)
            await observer.states.wait(for: 2)
        }

        @Test("Until the interfaces are known, a restricted group accepts no datagrams")
        func unknownInterfaces() throws {
            let loop = ManualLoop()
            let socket = try SharedDatagramSocket(Socket.open(.ipv4, .datagram), on: loop) { _, _ in }
            let driver = GroupDriver(Self.makeRestrictedPlan(), loop: loop, look: { nil })
            let queue = DispatchQueue(label: "group")
            let observer = Observer { _ in }
            driver.start(on: queue, observer: observer)
            let arrival = DatagramArrival(train: Self.train(1), peer: Self.peer, info: PacketInfo())
            loop.batch { driver.arrived([arrival], at: socket) }
            queue.sync {}
            #expect(observer.received.events.isEmpty)
            driver.cancel(observer: observer)
            loop.runUntilIdle()
            socket.stop()
        }
    }
}
