import CausewayProtocols
import CausewaySystem
import Dispatch
import FoundationEssentials
import Testing

@testable import CausewayRuntime

extension Runtime {
    @Suite("Listener driver")
    struct ListenerDriverTests {
        @Test("At the limit, connections stay in the backlog until the limit is raised")
        func admission() {
            var admission = ListenerDriver.Admission()
            let acceptsFirst = admission.acceptsNext()
            admission.handedOver()
            // Without a limit, the listener does not count connections.
            #expect(acceptsFirst && admission.allowance == .max)
            let isDueBelowLimit = admission.allow(1)
            let acceptsBelowLimit = admission.acceptsNext()
            admission.handedOver()
            let acceptsAtLimit = admission.acceptsNext()
            #expect(!isDueBelowLimit && acceptsBelowLimit && !acceptsAtLimit && admission.allowance == 0)
            let isDue = [admission.allow(-3), admission.allow(2)]
            let acceptsAgain = admission.acceptsNext()
            #expect(isDue == [false, true] && acceptsAgain)
        }

        @Test("Without descriptors one timer tries again, however many connections arrive")
        func retry() {
            var admission = ListenerDriver.Admission()
            let begins = [admission.beginsRetry(), admission.beginsRetry(), admission.beginsRetry()]
            admission.endRetry()
            let beginsAgain = admission.beginsRetry()
            #expect(begins == [true, false, false] && beginsAgain)
        }

        @Test("A limit of 0 that is set while a connection is accepted stays", arguments: [5, Int.max])
        func limitDuringAccept(before: Int) {
            var admission = ListenerDriver.Admission()
            _ = admission.allow(before)
            let acceptsBefore = admission.acceptsNext()
            _ = admission.allow(0)
            admission.handedOver()
            let acceptsAfter = admission.acceptsNext()
            #expect(acceptsBefore && !acceptsAfter && admission.allowance == 0)
        }

        /// Records the states that the listener reports, and the addresses of its peers.
        private final class Observer: ListenerObserver {
            let states = Recorder<ListenerDriver.State>()
            let peers = Recorder<SocketAddress?>()

            func listenerChanged(to state: ListenerDriver.State) { states.note(state) }
            func listenerAccepted(_ connection: ConnectionDriver, _ peer: SocketAddress?) { peers.note(peer) }
            func listenerReleased() {}
        }

        @Test("The file of a service manager's socket stays; the listener's own is removed", arguments: [false, true])
        func socketFile(isInherited: Bool) async throws {
            let path = "/tmp/causeway-listener-\(UUID().uuidString).sock"
            defer { LocalPath.remove(path) }
            var settings = SocketSettings(transport: .tcp)
            settings.localAddress = .unix(path: path)
            let driver: ListenerDriver
            if isInherited {
                let socket = try Socket.open(.unix, .stream)
                try Socket.bind(socket.rawValue, to: .unix(path: path))
                driver = ListenerDriver(FrozenSettings(settings), port: 0, inherited: [socket.release()])
            } else {
                driver = ListenerDriver(FrozenSettings(settings), port: 0)
            }
            let observer = Observer()
            driver.start(on: nil, observer: observer)
            await observer.states.wait(for: 1)
            let existed = access(path, F_OK) == 0
            driver.cancel(observer: observer)
            let states = await observer.states.wait(for: 2)
            #expect(states == [.ready, .cancelled])
            #expect(existed)
            #expect((access(path, F_OK) == 0) == isInherited)
        }

        @Test("A listener accepts connections at all sockets of the service manager, and closes all of them")
        func severalSockets() async throws {
            let paths = (0..<3).map { "/tmp/causeway-listener-\($0)-\(UUID().uuidString).sock" }
            defer { for path in paths { LocalPath.remove(path) } }
            var sockets: [CInt] = []
            var inodes: [ino_t?] = []
            for path in paths {
                let socket = try Socket.open(.unix, .stream)
                try Socket.bind(socket.rawValue, to: .unix(path: path))
                inodes.append(Self.inode(of: socket.rawValue))
                sockets.append(socket.release())
            }
            let settings = FrozenSettings(SocketSettings(transport: .tcp))
            let driver = ListenerDriver(settings, port: 0, inherited: sockets)
            let observer = Observer()
            driver.start(on: nil, observer: observer)
            await observer.states.wait(for: 1)
            #expect(driver.address == .unix(path: paths[0]))
            for (index, path) in paths.enumerated().reversed() {
                let client = try Socket.open(.unix, .stream)
                _ = try Socket.connect(client.rawValue, to: .unix(path: path))
                await observer.peers.wait(for: paths.count - index)
                client.close()
            }
            // Client sockets have no path. So each accepted connection has the path of the listening socket.
            let expected: [SocketAddress?] = paths.reversed().map { .unix(path: $0) }
            #expect(observer.peers.events == expected)
            driver.cancel(observer: observer)
            let states = await observer.states.wait(for: 2)
            #expect(states == [.ready, .cancelled])
            // Do not connect to the paths. If another test starts a program now, the new process also holds the
            // sockets, until it runs the program.
            for (number, inode) in zip(sockets, inodes) { #expect(inode != nil && Self.inode(of: number) != inode) }
        }

        /// Returns the number of a descriptor's file; `nil` if the descriptor is not open. Another test may have opened
        /// a file with the same descriptor.
        private static func inode(of descriptor: CInt) -> ino_t? {
            var status = stat()
            return fstat(descriptor, &status) == 0 ? status.st_ino : nil
        }

        @Test("A listener for local peers closes streams from other networks before they are delivered")
        func localPeers() async {
            var settings = SocketSettings(transport: .tcp)
            settings.localAddress = .ipv4(bits: 0x7F00_0001, port: 0)
            settings.acceptsLocalOnly = true
            let driver = ListenerDriver(FrozenSettings(settings), port: 0)
            let observer = Observer()
            driver.start(on: nil, observer: observer)
            await observer.states.wait(for: 1)
            // The address 203.0.113.77 belongs to a network reserved for documentation, so it is not local.
            let local = SocketAddress.ipv4(bits: 0x7F00_0001, port: 7)
            for peer in [SocketAddress.ipv4(bits: 0xCB00_714D, port: 7), local] {
                let pair = SocketPair()
                await driver.loop.run { driver.handOver(pair.give(pair.near), peer) }
                SocketPair.awaitHangUp(pair.far)
                #expect(SocketPair.read(pair.far) == nil)
            }
            #expect(observer.peers.events == [local])
            driver.cancel(observer: observer)
            let states = await observer.states.wait(for: 2)
            #expect(states == [.ready, .cancelled])
        }

        @Test("A listener that is cancelled delivers no connection that waits for its queue, and closes it")
        func cancelledBeforeDelivery() async {
            var settings = SocketSettings(transport: .tcp)
            settings.localAddress = .ipv4(bits: 0x7F00_0001, port: 0)
            let driver = ListenerDriver(FrozenSettings(settings), port: 0)
            let observer = Observer()
            let queue = DispatchQueue(label: "listener")
            driver.start(on: queue, observer: observer)
            await observer.states.wait(for: 1)
            queue.suspend()
            let pair = SocketPair()
            await driver.loop.run { driver.handOver(pair.give(pair.near), .ipv4(bits: 0x7F00_0001, port: 7)) }
            driver.cancel(observer: observer)
            queue.resume()
            let states = await observer.states.wait(for: 2)
            #expect(states == [.ready, .cancelled])
            #expect(observer.peers.events.isEmpty)
            SocketPair.awaitHangUp(pair.far)
            #expect(SocketPair.read(pair.far) == nil)
        }

        @Test("The settings apply to a socket of the service manager", arguments: [SocketSettings.Transport.tcp, .udp])
        func inheritedSocket(transport: SocketSettings.Transport) async throws {
            var settings = SocketSettings(transport: transport)
            settings.tcp.noDelay = true
            let socket = try Socket.open(.ipv4, transport == .udp ? .datagram : .stream)
            try Socket.bind(socket.rawValue, to: .ipv4(bits: 0, port: 0))
            let same = try Socket.duplicate(socket.rawValue)
            let driver = ListenerDriver(FrozenSettings(settings), port: 0, inherited: [socket.release()])
            let observer = Observer()
            driver.start(on: nil, observer: observer)
            await observer.states.wait(for: 1)
            let value = try Socket.get(transport == .udp ? .receiveIPv4PacketInfo : .noDelay, of: same.rawValue)
            same.close()
            #expect(value == 1)
            driver.cancel(observer: observer)
            let states = await observer.states.wait(for: 2)
            #expect(states == [.ready, .cancelled])
        }
    }
}
