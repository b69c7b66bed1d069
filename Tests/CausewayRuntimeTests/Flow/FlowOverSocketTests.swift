import CausewayRuntime
import CausewaySystem
import CausewayTestKit
import CausewayTypes
import Dispatch
import FoundationEssentials
import Testing

/// Tests flows over real sockets, with both kinds of event loop.
extension Runtime {
    @Suite("Flow over sockets")
    struct FlowOverSocketTests {
        /// Two connected flows.
        struct Ends: Sendable {
            let near: Flow
            let far: Flow
            let events = Recorder<String>()

            init(_ loop: any EventLoop) throws {
                let pair = SocketPair()
                near = Flow(loop: loop, kind: .stream)
                far = Flow(loop: loop, kind: .stream)
                for (flow, fd) in [(near, pair.near), (far, pair.far)] {
                    flow.deliver(on: SharedDelivery.on(DispatchQueue(label: "flow", target: .global())).delivery)
                    let fd = pair.give(fd).release()
                    let registration = try loop.register(fd, for: flow.interest, flow)
                    flow.attach(.socket(fd, registration), owner: Owner(events))
                    flow.begin()
                }
            }

            func close() async {
                for flow in [near, far] {
                    if !flow.close(abortively: false, owner: Owner(events)) { events.note("closed") }
                }
                await events.wait { $0.count { $0 == "closed" } == 2 }
            }
        }

        final class Owner: FlowOwner {
            private let events: Recorder<String>
            init(_ events: Recorder<String>) { self.events = events }
            func flowFailed(_ error: Failure) { events.note("failed \(error.code)") }
            func flowLost(_ error: Failure) { events.note("lost \(error.code)") }
            func flowEnded() {}
            func flowClosed() { events.note("closed") }
            func flowDetached(because reason: Failure?) { events.note("detached") }
        }

        static func pattern(_ count: Int, seed: UInt64) -> [UInt8] {
            var random = SplitMix64(seed: seed)
            return (0..<(count / 8 + 1)).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }.prefix(count)
                .map { $0 }
        }

        @Test("Content of any size arrives in both directions at the same time", arguments: LoopUnderTest.allCases)
        func bothDirections(_ kind: LoopUnderTest) async throws {
            let ends = try Ends(kind.loop)
            let total = 1 << 20
            let payloads = [Self.pattern(total, seed: 1), Self.pattern(total, seed: 2)]
            let received = try await withThrowingTaskGroup(of: (Int, [UInt8]).self) { group in
                for (index, flow) in [ends.near, ends.far].enumerated() {
                    group.addTask(executorPreference: kind.loop.executor) {
                        await Self.sendAll(payloads[index], over: flow, seed: UInt64(index))
                        return (-1, [])
                    }
                    group.addTask { (index, try await Self.receiveAll(over: flow, seed: UInt64(index + 10))) }
                }
                return try await group.reduce(into: [Int: [UInt8]]()) { $0[$1.0] = $1.1 }
            }
            #expect(received[0] == payloads[1] && received[1] == payloads[0])
            #expect(ends.near.transferred == (UInt64(total), UInt64(total)))
            await ends.close()
            #expect(ends.events.events == ["closed", "closed"])
        }

        private static func sendAll(_ bytes: [UInt8], over flow: Flow, seed: UInt64) async {
            var random = SplitMix64(seed: seed)
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = rest.prefix(random.chance(oneIn: 4) ? 200_000 : random.integer(in: 1...9_000))
                rest = rest.dropFirst(piece.count)
                #expect(await flow.send(Data(piece), endsStream: rest.isEmpty) == nil)
            }
        }

        private static func receiveAll(over flow: Flow, seed: UInt64) async throws -> [UInt8] {
            var random = SplitMix64(seed: seed)
            var bytes: [UInt8] = []
            while true {
                let least = random.integer(in: 1...20_000)
                let content = await flow.receive(minimum: least, maximum: random.integer(in: least...300_000))
                guard let data = try content.get() else { return bytes }
                bytes += data
            }
        }

        @Test(
            "A peer that does not read blocks the sender, until it reads",
            arguments: LoopUnderTest.allCases)
        func backPressure(_ kind: LoopUnderTest) async throws {
            let ends = try Ends(kind.loop)
            let answers = Recorder<Int>()
            let block = Data(count: 64 << 10)
            for number in 0..<200 {
                ends.near.send(Outbound(block, waiter: .callback { _ in answers.note(number) }))
            }
            await answers.wait(for: 1)
            await kind.loop.takeTurns()
            #expect(answers.count < 200, "12.5 MiB exceed the socket's buffers")
            var count = 0
            while count < 200 * block.count {
                let content = await ends.far.receive(minimum: 1, maximum: .max)
                count += try #require(try content.get()).count
            }
            #expect(await answers.wait(for: 200) == Array(0..<200))
            await ends.close()
        }

        @Test("An abortive close completes the other side's requests", arguments: LoopUnderTest.allCases)
        func abruptEnd(_ kind: LoopUnderTest) async throws {
            let ends = try Ends(kind.loop)
            async let content = ends.near.receive(minimum: 10, maximum: 10)
            #expect(await ends.far.send(Data("abc".utf8)) == nil)
            #expect(ends.far.close(abortively: true, owner: Owner(ends.events)))
            // A local (Unix-domain) socket has no reset. So the reader gets the sent content and then the end.
            #expect(await content == .success(Data("abc".utf8)))
            #expect(await ends.near.receive(minimum: 10, maximum: 10) == .success(nil))
            #expect(ends.near.close(abortively: false, owner: Owner(ends.events)))
            await ends.events.wait { $0.count { $0 == "closed" } == 2 }
        }

        @Test(
            "Rule 3: an end that the kernel reports together with data is not lost", arguments: LoopUnderTest.allCases)
        func endWithData(_ kind: LoopUnderTest) async throws {
            let pair = SocketPair()
            // Send the data and the end of the stream before the loop polls. The loop then gets one event for both.
            pair.write("abc", to: pair.far)
            pair.closeFar()
            let flow = Flow(loop: kind.loop, kind: .stream)
            let fd = pair.give(pair.near).release()
            let registration = try kind.loop.register(fd, for: flow.interest, flow)
            let events = Recorder<String>()
            flow.attach(.socket(fd, registration), owner: Owner(events))
            flow.begin()
            let first = await flow.receive(minimum: 1, maximum: 9)
            #expect(first == .success(Data("abc".utf8)))
            let second = await flow.receive(minimum: 1, maximum: 9)
            #expect(second == .success(nil))
            #expect(flow.close(abortively: false, owner: Owner(events)))
            await events.wait(for: 1)
        }

        @Test(
            "Requests and cancels from many threads: every request completes once", arguments: LoopUnderTest.allCases)
        func storm(_ kind: LoopUnderTest) async throws {
            for round in 0..<30 {
                let ends = try Ends(kind.loop)
                let answers = Recorder<Int>()
                await withTaskGroup(of: Void.self) { group in
                    for thread in 0..<4 {
                        group.addTask {
                            let flow = thread % 2 == 0 ? ends.near : ends.far
                            for number in 0..<50 {
                                let id = thread * 100 + number
                                if number % 2 == 0 {
                                    flow.receive(minimum: 1, maximum: 100) { _ in answers.note(id) }
                                } else {
                                    flow.send(Outbound(Data(count: 500), waiter: .callback { _ in answers.note(id) }))
                                }
                            }
                        }
                    }
                    group.addTask {
                        for _ in 0..<round { await Task.yield() }
                        await ends.close()
                    }
                }
                let all = await answers.wait(for: 200)
                #expect(Set(all).count == 200 && all.count == 200)
                // A side may send data to a peer that has already closed the connection. The side's connection then
                // fails before the side closes it.
                let expected = ["closed", "failed", "lost"]
                #expect(ends.events.events.allSatisfy { event in expected.contains { event.hasPrefix($0) } })
            }
        }
    }
}
