import CausewayProtocols
import CausewaySystem
import CausewayTestKit
import CausewayTypes
import CausewayWire
import FoundationEssentials
import Testing

@testable import CausewayRuntime

extension Runtime {
    @Suite("Resolver settings")
    struct ResolverSettingsTests {
        /// A resolver for tests, with its own configuration files. It runs on a loop that the test controls.
        private final class Stage: Sendable {
            let loop = ManualLoop()
            let engine: ResolverEngine
            /// Records one element each time the engine reports new DNS servers.
            let newServers = Recorder<Bool>()
            private let directory: URL

            /// - Parameter isWatchable: Whether the files and their directory exist from the beginning.
            init(isWatchable: Bool = true) throws {
                let directory = FileManager.default.temporaryDirectory.appending(path: "causeway-settings-\(UUID())")
                self.directory = directory
                let paths = ["resolv.conf", "hosts", "nsswitch.conf", "forwarder.conf"].map {
                    directory.appending(path: $0).path
                }
                let files = ResolverFiles(
                    configuration: paths[0], hosts: paths[1], order: paths[2], forwarder: paths[3])
                engine = ResolverEngine(on: loop, files: files) { [newServers] in newServers.note(true) }
                guard isWatchable else { return }
                try write("nameserver 127.0.0.1\n", to: "resolv.conf")
                try write("127.0.0.1 localhost\n192.0.2.7 box\n", to: "hosts")
                try write("hosts: files dns\n", to: "nsswitch.conf")
            }

            func write(_ text: String, to name: String) throws {
                try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
                try Data(text.utf8).write(to: directory.appending(path: name))
            }

            /// Changes a file and reports the change, so that the engine reads the file again.
            ///
            /// - Parameter watch: The number of the file watch that the engine uses now. After each reading, the engine
            ///   begins a watch with a new number.
            func change(_ name: String, to text: String, noticedBy watch: UInt64) throws {
                try write(text, to: name)
                loop.report(.readable, of: Registration(token: watch))
                loop.advance(by: .milliseconds(20))
                settle()
            }

            /// The DNS servers that the engine now queries.
            var servers: [DNSServer] { engine.settings.latest.servers }

            deinit { try? FileManager.default.removeItem(at: directory) }

            /// Runs the file queue and the loop until no work is left.
            func settle() {
                loop.runUntilIdle()
                engine.settings.queue.sync {}
                loop.runUntilIdle()
            }

            /// Runs `body` while the resolver files cannot be read.
            func withoutReading(_ body: () -> Void) {
                engine.settings.queue.suspend()
                body()
                loop.runUntilIdle()
                engine.settings.queue.resume()
            }
        }

        private static func addresses(_ events: [NameEvent]) -> [SocketAddress] {
            events.flatMap { event -> [SocketAddress] in
                if case .found(let addresses, _, _) = event { addresses } else { [] }
            }
        }

        @Test("The files are read neither on the caller's thread nor on the loop")
        func readElsewhere() throws {
            let stage = try Stage()
            let events = Recorder<NameEvent>()
            let request = NameRequest("box", families: [.ipv4])
            stage.withoutReading {
                #expect(stage.engine.known(request) == nil)
                _ = stage.engine.resolve(request) { events.note($0) }
            }
            #expect(events.count == 0)
            stage.settle()
            #expect(Self.addresses(events.events) == [.ipv4(bits: 0xC000_0207, port: 0)])
            #expect(stage.engine.known(request).map(Self.addresses) == [.ipv4(bits: 0xC000_0207, port: 0)])
        }

        private static func server(_ last: UInt32) -> DNSServer {
            DNSServer(.ipv4(IPv4Address(bits: 0x7F00_0000 + last)))
        }

        @Test("New servers are reported once, when they are in use, also those of a local forwarder")
        func newServers() throws {
            let stage = try Stage()
            #expect(stage.engine.known(NameRequest("box")) == nil)
            stage.settle()
            #expect(stage.servers == [Self.server(1)] && stage.newServers.count == 0)
            try stage.change("resolv.conf", to: "nameserver 127.0.0.53\n", noticedBy: 1)
            #expect(stage.servers == [Self.server(53)] && stage.newServers.count == 1)
            try stage.change("resolv.conf", to: "nameserver 127.0.0.53\noptions ndots:2\n", noticedBy: 2)
            #expect(stage.newServers.count == 1)
            try stage.change("forwarder.conf", to: "nameserver 192.0.2.1\n", noticedBy: 3)
            #expect(stage.servers == [Self.server(53)] && stage.newServers.count == 2)
        }

        @Test("New servers empty the cache")
        func clearedCache() throws {
            let stage = try Stage()
            #expect(stage.engine.known(NameRequest("box")) == nil)
            stage.settle()
            var answer = DNSAnswer(.noSuchName, for: "www.example.com")
            answer.timeToLive = .seconds(3_600)
            stage.engine.cache.withLock { $0.store(answer, for: .init("www.example.com", .a), at: System.now) }
            try stage.change("hosts", to: "127.0.0.1 localhost\n", noticedBy: 1)
            #expect(stage.engine.cache.withLock { $0.count } == 1)
            try stage.change("resolv.conf", to: "nameserver 127.0.0.2\n", noticedBy: 2)
            #expect(stage.engine.cache.withLock { $0.count } == 0)
        }

        @Test("Servers of files that cannot be watched are used from the next lookup")
        func unwatched() throws {
            let stage = try Stage(isWatchable: false)
            let events = Recorder<NameEvent>()
            _ = stage.engine.resolve(NameRequest("localhost")) { events.note($0) }
            stage.settle()
            #expect(stage.servers == [Self.server(1)])
            try stage.write("nameserver 127.0.0.2\n", to: "resolv.conf")
            for _ in 0..<2 {
                _ = stage.engine.resolve(NameRequest("localhost")) { events.note($0) }
                stage.settle()
            }
            #expect(stage.servers == [Self.server(2)] && stage.newServers.count == 1)
        }

        @Test("The hosts file decides about localhost, so no address is known before the first reading")
        func localhost() throws {
            let stage = try Stage()
            let events = Recorder<NameEvent>()
            let request = NameRequest("localhost")
            stage.withoutReading {
                #expect(stage.engine.known(request) == nil)
                _ = stage.engine.resolve(request) { events.note($0) }
            }
            #expect(events.count == 0)
            stage.settle()
            #expect(Self.addresses(events.events) == [.ipv4(bits: 0x7F00_0001, port: 0)])
            #expect(stage.engine.known(request).map(Self.addresses) == [.ipv4(bits: 0x7F00_0001, port: 0)])
        }

        @Test("A caller that may read gets the addresses of the hosts file before the first reading")
        func readNow() throws {
            let stage = try Stage()
            stage.withoutReading {
                let localhost = stage.engine.known(NameRequest("localhost"), mayRead: true)
                #expect(localhost.map(Self.addresses) == [.ipv4(bits: 0x7F00_0001, port: 0)])
                let box = stage.engine.known(NameRequest("box"), mayRead: true)
                #expect(box.map(Self.addresses) == [.ipv4(bits: 0xC000_0207, port: 0)])
                #expect(stage.engine.known(NameRequest("www.example.com"), mayRead: true) == nil)
                #expect(stage.engine.known(NameRequest("box")) == nil)
            }
            stage.settle()
        }

        @Test("A lookup that is cancelled before the files were read reports nothing")
        func cancelledEarly() throws {
            let stage = try Stage()
            let events = Recorder<NameEvent>()
            stage.withoutReading {
                stage.engine.resolve(NameRequest("box")) { events.note($0) }.cancel()
            }
            stage.settle()
            #expect(events.count == 0)
        }

        @Test("A service lookup that is cancelled early sends no query and calls no completion handler")
        func cancelledService() throws {
            let stage = try Stage()
            let answers = LockedValue(0)
            stage.withoutReading {
                let resolution = WideAreaResolution(stage.engine, ResolutionScope()) { _ in answers.withLock { $0 += 1 }
                }
                resolution.begin("printer._ipp._tcp.example.com")
                resolution.cancel()
            }
            stage.settle()
            stage.loop.batch { #expect(stage.engine.socketCount == 0) }
            #expect(answers.withLock { $0 } == 0)
        }
    }
}
