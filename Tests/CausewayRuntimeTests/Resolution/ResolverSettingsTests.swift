import CausewayProtocols
import CausewaySystem
import CausewayTestKit
import CausewayWire
import FoundationEssentials
import Testing

@testable import CausewayRuntime

extension Runtime {
    @Suite("Resolver settings")
    struct ResolverSettingsTests {
        /// A resolver on a loop that the test drives, with separate files.
        private final class Stage: Sendable {
            let loop = ManualLoop()
            let engine: ResolverEngine
            private let directory: URL

            init() throws {
                let directory = FileManager.default.temporaryDirectory.appending(path: "causeway-settings-\(UUID())")
                self.directory = directory
                try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
                let paths = ["resolv.conf", "hosts", "nsswitch.conf"].map { directory.appending(path: $0).path }
                let texts = ["nameserver 127.0.0.1\n", "127.0.0.1 localhost\n192.0.2.7 box\n", "hosts: files dns\n"]
                for (path, text) in zip(paths, texts) { try Data(text.utf8).write(to: URL(filePath: path)) }
                let files = ResolverFiles(configuration: paths[0], hosts: paths[1], order: paths[2])
                engine = ResolverEngine(on: loop, files: files)
            }

            deinit { try? FileManager.default.removeItem(at: directory) }

            /// Lets the file queue and the loop run until nothing is left to do.
            func settle() {
                loop.runUntilIdle()
                engine.settings.queue.sync {}
                loop.runUntilIdle()
            }

            /// Runs `body` while a reading of the files cannot begin.
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
