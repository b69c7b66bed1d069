import CausewayRuntime
import CausewaySystem
import CausewayTestKit
import Dispatch
import Foundation
import Testing

/// Tests those rules of the engine that need a real kernel. The tests use socket pairs.
extension Runtime {
    @Suite("Engine rules: loop")
    struct EngineRulesLoopTests {
        @Test("Rule 1: handlers, timers and calls may use the loop", arguments: LoopUnderTest.allCases)
        func noCallUnderLock(_ kind: LoopUnderTest) async throws {
            let loop = kind.loop
            let done = Recorder<String>()
            let useLoop: @Sendable (String) -> Void = { name in
                let other = SocketPair()
                guard let registration = try? loop.register(other.near, for: .readable, Probe()) else { return }
                loop.cancel(loop.schedule(after: .seconds(60)) {})
                loop.update(registration, other.near, for: .readable)
                loop.close(registration, other.give(other.near))
                loop.execute { done.note(name) }
            }
            let pair = SocketPair()
            let registration = try loop.register(pair.near, for: .readable, Probe { _ in useLoop("handler") })
            pair.write("x", to: pair.far)
            _ = loop.schedule(after: .zero) { useLoop("timer") }
            loop.execute { useLoop("call") }
            await done.wait { Set($0).isSuperset(of: ["handler", "timer", "call"]) }
            loop.close(registration, pair.give(pair.near))
        }

        @Test(
            "Rule 5: a handler closed within a batch lives to its end without further reports, and is then released",
            arguments: LoopUnderTest.allCases)
        func closedWithinBatch(_ kind: LoopUnderTest) async throws {
            let loop = kind.loop
            let crowd = Crowd(loop)
            for _ in 0..<8 { try crowd.join() }
            await loop.takeTurns()
            // The descriptors become ready while the loop is busy. So the loop receives all events in one batch.
            await loop.run { crowd.wakeAll() }
            let reports = await crowd.reports.wait(for: 1)
            await loop.takeTurns()
            #expect(crowd.reports.count == 1, "reported after its close: \(crowd.reports.events)")
            #expect(reports.first?.livingPeers == 7, "released while the batch may still name it")
            // The Dispatch loop does not release a handler at once. It needs some more turns.
            await crowd.released.wait(for: 8)
        }

        @Test(
            "A hang-up that was reported to one handler is reported to the next one too",
            arguments: LoopUnderTest.allCases)
        func hangUpBeforeDeferredWakeups(_ kind: LoopUnderTest) async throws {
            let loop = kind.loop
            let pair = SocketPair()
            let (first, second) = (Probe(), Probe())
            let registration = try loop.register(pair.near, for: .stream, first)
            pair.closeFar()
            await first.reports.wait { $0.contains { $0.contains(.hangUp) } }
            await loop.takeTurns()
            loop.hand(registration, pair.near, to: second, for: .stream)
            await second.reports.wait { $0.contains { $0.contains([.readable, .hangUp]) } }
            loop.close(registration, pair.give(pair.near))
        }

        @Test("An error without data is reported once", arguments: LoopUnderTest.allCases)
        func errorAlone(_ kind: LoopUnderTest) async throws {
            let loop = kind.loop
            let socket = try Socket.open(.ipv4, .datagram)
            // A socket that is connected to itself receives no datagrams from others, and keeps its port. A free port
            // could be taken by another test.
            let holder = try Socket.open(.ipv4, .datagram)
            try Socket.bind(holder.rawValue, to: .ipv4(bits: 0x7f00_0001, port: 0))
            let address = try #require(Socket.localAddress(holder.rawValue))
            _ = try Socket.connect(holder.rawValue, to: address)
            _ = try Socket.connect(socket.rawValue, to: address)
            let probe = Probe()
            let registration = try loop.register(socket.rawValue, for: .readable, probe)
            #expect(Socket.send(socket.rawValue, UnsafeRawBufferPointer(start: nil, count: 0)) == .moved(0))
            await probe.reports.wait { $0.contains { $0.contains(.failed) } }
            await loop.takeTurns()
            #expect(probe.reports.count == 1)
            #expect(Socket.takeError(socket.rawValue) == ECONNREFUSED)
            loop.close(registration, socket)
            holder.close()
        }

        /// A group of handlers. The first handler that the loop calls closes all handlers in the group. It closes
        /// itself last.
        final class Crowd: Sendable {
            struct Report: Sendable {
                var index: Int
                /// How many other handlers in the group still existed, although they had been closed.
                var livingPeers: Int
            }

            struct WeakMember { weak var member: Member? }

            let loop: any EventLoop
            let reports = Recorder<Report>()
            /// The indices of members that were released.
            let released = Recorder<Int>()
            private let members = LockedValue<[Member]>([])
            private let weakMembers = LockedValue<[WeakMember]>([])

            init(_ loop: any EventLoop) { self.loop = loop }

            func join() throws {
                let member = Member(members.withLock { $0.count }, self)
                let registration = try loop.register(member.pair.near, for: .readable, member)
                member.registration.withLock { $0 = registration }
                members.withLock { $0.append(member) }
                weakMembers.withLock { $0.append(WeakMember(member: member)) }
            }

            func wakeAll() {
                for member in members.withLock({ $0 }) { member.pair.write("x", to: member.pair.far) }
            }

            var livingMembers: Int { weakMembers.withLock { $0.count { $0.member != nil } } }

            fileprivate func reported(_ index: Int) {
                closeAll()
                reports.note(Report(index: index, livingPeers: livingMembers - 1))
            }

            private func closeAll() {
                for member in members.withLock({ $0 }) {
                    guard let registration = member.registration.withLock({ $0.take() }) else { continue }
                    loop.close(registration, member.pair.give(member.pair.near))
                }
                // From here on, only the loop retains the members.
                members.withLock { $0 = [] }
            }
        }

        final class Member: ReadinessHandler {
            let index: Int
            let pair = SocketPair()
            let registration = LockedValue<Registration?>(nil)
            private let crowd: Crowd

            init(_ index: Int, _ crowd: Crowd) {
                self.index = index
                self.crowd = crowd
            }

            deinit { crowd.released.note(index) }

            func ready(for readiness: Readiness) { crowd.reported(index) }
        }

        @Test(
            "Rule 5: events of a closed descriptor do not reach the next handler with its number",
            arguments: LoopUnderTest.allCases)
        func takenPlace(_ kind: LoopUnderTest) async throws {
            let loop = kind.loop
            let (old, new) = (Probe(), Probe())
            for _ in 0..<20 {
                let pair = SocketPair()
                let registration = try loop.register(pair.near, for: .readable, old)
                // Keep a copy of the descriptor. The kernel then leaves the socket in the epoll set after the original
                // is closed.
                let copy = Descriptor(adopting: dup(pair.near))
                loop.close(registration, pair.give(pair.near))
                let next = SocketPair()
                let second = try loop.register(next.near, for: .readable, new)
                pair.write("x", to: pair.far)
                await loop.takeTurns()
                loop.close(second, next.give(next.near))
                copy.close()
            }
            await loop.takeTurns()
            #expect(old.reports.count == 0 && new.reports.count == 0)
        }

        @Test("Rule 7: a stream's socket is registered once for all events")
        func registersOnce() throws {
            let loop = ManualLoop()
            let pair = SocketPair()
            let flow = Flow(loop: loop, kind: .stream)
            let log = Log()
            #expect(flow.interest == [.readable, .writable, .peerClosed])
            let registration = try loop.register(pair.near, for: flow.interest, flow)
            flow.attach(
                .socket(pair.give(pair.near).release(), registration),
                owner: Stage.Owner(log, SharedDelivery.on(.global()).delivery))
            flow.begin()
            // Send and receive in both directions until the socket buffers are full.
            for _ in 0..<5 {
                flow.send(Outbound(Data(count: 2 << 20), waiter: .unobserved))
                flow.receive(minimum: 10, maximum: 10) { _ in log.note("received") }
                pair.write("0123456789", to: pair.far)
                _ = SocketPair.read(pair.far)
                loop.report(.stream, of: registration)
            }
            #expect(loop.updateCount == 0 && loop.watchCount == 1)
            #expect(loop.watch(registration)?.interest == .stream)
            _ = flow.close(abortively: true, owner: Stage.Owner(log, SharedDelivery.on(.global()).delivery))
            #expect(loop.closedCount == 1 && loop.watchCount == 0)
        }

        @Test(
            "Rule 7: readable, writable and ended are reported for one registration"
        )
        func oneRegistrationReportsAll() async throws {
            let loop = LoopUnderTest.epoll.loop
            let pair = SocketPair()
            let probe = Probe()
            let registration = try loop.register(pair.near, for: .stream, probe)
            await probe.reports.wait { $0.contains { $0.contains(.writable) } }
            pair.write("x", to: pair.far)
            await probe.reports.wait { $0.contains { $0.contains(.readable) } }
            pair.closeFar()
            await probe.reports.wait { $0.contains { $0.contains(.peerClosed) } }
            loop.close(registration, pair.give(pair.near))
        }

        /// Measurement: a private queue without a target costs almost twice as much per dispatch.
        @Test("Rule 9: every queue that the library makes has a target")
        func queuesHaveTargets() throws {
            let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
            var queueCount = 0
            for library in ["Causeway", "CausewayRuntime", "CausewaySystem"] {
                let folder = package.appending(path: "Sources/\(library)")
                let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
                // Skip the tutorials, because their steps are example programs.
                for case let file as URL in files
                where file.pathExtension == "swift" && !file.path.contains(".docc/") {
                    for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
                    where line.contains("DispatchQueue(label:") && !line.contains("//") {
                        queueCount += 1
                        #expect(line.contains("target:"), "\(file.lastPathComponent): \(line)")
                    }
                }
            }
            #expect(queueCount > 0)
        }
    }
}
