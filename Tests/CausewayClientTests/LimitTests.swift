@testable import CausewayClient
import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Foundation
import Testing

@Suite("Client: limits and the network")
struct LimitTests {
    @Test("In any order of events, the limit holds, the order is kept and nothing is forgotten", arguments: 0..<200)
    func property(_ seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var queue = AdmissionQueue(limit: random.integer(in: 0...4))
        var (running, waiting): ([UInt64], [UInt64]) = ([], [])
        for id in UInt64(1)...200 {
            var admitted: [UInt64] = []
            switch random.integer(in: 0...4) {
            case 0...1:
                if queue.arrived(id) { running.append(id) } else { waiting.append(id) }
            case 2:
                if running.popLast() != nil { admitted = queue.ended() }
            case 3:
                let leaving = waiting.randomElement(using: &random) ?? 0
                #expect(queue.abandoned(leaving) == waiting.contains(leaving))
                waiting.removeAll { $0 == leaving }
            default: admitted = queue.limitChanged(to: random.integer(in: -1...4))
            }
            #expect(admitted == Array(waiting.prefix(admitted.count)))
            waiting.removeFirst(admitted.count)
            running += admitted
            if !admitted.isEmpty { #expect(running.count <= queue.limit) }
            #expect(waiting.isEmpty || running.count >= queue.limit)
            #expect(queue.runningCount == running.count && queue.waitingCount == waiting.count)
        }
    }

    @Test("U4: transfers beyond the limit wait in order, and a better network admits them")
    func gate() async throws {
        let network = ScriptedNetwork(Reachability(.cellular, isExpensive: true))
        let gate = Gate()
        let server = ScriptedServer { _, _ in
            await gate.wait()
            return try answer()
        }
        let client = try server.client(reachability: network) {
            $0.concurrencyLimits = ConcurrencyLimits(unmetered: 4, expensive: 1, constrained: 1)
        }
        let tasks = (0..<6).map { number in Task { try await client.get("a/\(number)", as: .none) } }
        await until { client.gate?.waitingCount == 5 }
        // The request that the gate has admitted may not have been sent yet.
        await until { !server.requests.isEmpty }
        #expect(server.requests.count == 1)
        network.change(to: Reachability(.wifi))
        await until { server.requests.count == 4 }
        await until { client.gate?.waitingCount == 2 }
        let waiting = tasks.count - 2
        gate.open()
        for task in tasks { try await task.value }
        #expect(server.requests.count == 6 && waiting == 4)
    }

    @Test("A request that waits for its turn is cancelled at once")
    func cancelledWaiting() async throws {
        let gate = Gate()
        let server = ScriptedServer { _, _ in
            await gate.wait()
            return try answer()
        }
        let client = try server.client { $0.concurrencyLimits = ConcurrencyLimits(unmetered: 1) }
        let first = Task { try await client.get("a", as: .none) }
        await until { server.requests.count == 1 }
        let second = Task { try await client.get("b", as: .none) }
        await until { client.gate?.waitingCount == 1 }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        gate.open()
        try await first.value
        #expect(server.requests.count == 1 && client.gate?.waitingCount == 0)
    }

    @Test(
        "RE1: the states of the network",
        arguments: [
            (Reachability(nil), false, "none"), (Reachability(.cellular), true, "cellular"),
            (Reachability(.wifi, isConstrained: true), true, "wifi, constrained"),
            (Reachability(.wired, isExpensive: true), true, "wired, expensive"),
            (Reachability(.unknown), false, "unknown"),
        ])
    func states(_ state: Reachability, _ isMetered: Bool, _ text: String) {
        #expect(state.isMetered == isMetered && "\(state)" == text)
    }

    @Test(
        "RE3: reachable at all, by Wi-Fi, by a cellular network",
        arguments: [
            (nil, [false, false, false]), (.wired, [true, false, false]), (.wifi, [true, true, false]),
            (.cellular, [true, false, true]), (.unknown, [true, false, false]),
        ] as [(Reachability.Network?, [Bool])])
    func helpers(_ network: Reachability.Network?, _ expected: [Bool]) {
        let state = Reachability(network)
        #expect([state.isReachable, state.isReachableViaWiFi, state.isReachableViaCellular] == expected)
    }

    @Test("RE6: two clients have their own reachability")
    func own() async throws {
        let server = ScriptedServer { _, _ in try answer() }
        let network = ScriptedNetwork(Reachability(.wifi))
        let one = try server.client(reachability: network)
        let other = try server.client(reachability: ScriptedNetwork(Reachability(.wired)))
        var updates = one.reachabilityUpdates.makeAsyncIterator()
        _ = await updates.next()
        network.change(to: Reachability(nil))
        #expect(await updates.next() == Reachability(nil))
        #expect(!one.reachability.isReachable && other.reachability.isReachable)
    }

    @Test("RE2: a client answers at once, and reports each change once")
    func changes() async throws {
        let network = ScriptedNetwork(Reachability(.wired))
        let client = try ScriptedServer { _, _ in try answer() }.client(reachability: network)
        #expect(client.reachability == Reachability(.wired))
        var updates = client.reachabilityUpdates.makeAsyncIterator()
        #expect(await updates.next() == Reachability(.wired))
        network.change(to: Reachability(nil))
        #expect(await updates.next() == Reachability(nil))
        network.change(to: Reachability(nil))
        network.change(to: Reachability(.cellular))
        #expect(await updates.next() == Reachability(.cellular))
    }

    @Test("A change while the state is read is the last one that is reported, to old and to new readers")
    func lateChanges() async throws {
        let network = ScriptedNetwork(Reachability(.wired))
        let client = try ScriptedServer { _, _ in try answer() }.client(reachability: network) {
            $0.concurrencyLimits = ConcurrencyLimits(unmetered: 4, expensive: 1, constrained: 1)
        }
        var old = client.reachabilityUpdates.makeAsyncIterator()
        #expect(client.gate?.limit == 4)
        network.changeLate(to: Reachability(.wired, isExpensive: true))
        network.change(to: Reachability(.wifi))
        let last = await old.next()
        #expect(last == Reachability(.wired, isExpensive: true) && client.gate?.limit == 1)
        network.changeLate(to: Reachability(.cellular))
        var new = client.reachabilityUpdates.makeAsyncIterator()
        let (first, next) = (await new.next(), await old.next())
        #expect(first == Reachability(.cellular) && next == Reachability(.cellular))
    }

    @Test("RE2: this computer reaches itself", arguments: ["127.0.0.1", "localhost", "[::1]"])
    func loopback(_ host: String) {
        let state = SystemReachability(host: host).current()
        #expect(host == "[::1]" && !state.isReachable || state == Reachability(.loopback))
    }

    @Test("RE4: large transfers on metered networks are held, refused or allowed")
    func metered() async throws {
        let network = ScriptedNetwork(Reachability(.cellular))
        let server = ScriptedServer { _, _ in try answer() }
        let large = RequestBody.data(Data(count: 100))
        let refusing = try server.client(reachability: network) {
            $0.meteredPolicy = MeteredPolicy(.refuse, largeByteCount: 100)
        }
        let error = await failure { try await refusing.put("a", body: large, as: .none) }
        #expect(error?.code == .meteredNetwork && server.requests.isEmpty)
        try await refusing.put("a", body: .data(Data(count: 99)), as: .none)
        let holding = try server.client(reachability: network) {
            $0.meteredPolicy = MeteredPolicy(.hold, largeByteCount: 100)
        }
        let events = holding.events
        let task = Task { try await holding.put("a", body: large, as: .none) }
        for await event in events { if case .held = event.kind { break } }
        #expect(server.requests.count == 1)
        network.change(to: Reachability(.wifi))
        try await task.value
        #expect(server.requests.count == 2)
    }

    @Test("RE5: reachability never blocks an attempt")
    func unreachable() async throws {
        let network = ScriptedNetwork(Reachability(nil))
        let server = ScriptedServer { _, _ in try answer() }
        let client = try server.client(reachability: network) {
            $0.concurrencyLimits = ConcurrencyLimits()
            $0.meteredPolicy = MeteredPolicy(.hold, largeByteCount: 0)
        }
        try await client.put("a", body: .text("x"), as: .none)
        #expect(!client.reachability.isReachable && server.requests.count == 1)
    }

    @Test("The activity begins with the current number and ends with zero")
    func activity() async throws {
        let gate = Gate()
        let server = ScriptedServer { _, _ in
            await gate.wait()
            return try answer()
        }
        let client = try server.client()
        var numbers = client.activity.makeAsyncIterator()
        #expect(await numbers.next() == 0)
        let task = Task { try await client.get("a", as: .none) }
        #expect(await numbers.next() == 1)
        gate.open()
        try await task.value
        #expect(await numbers.next() == 0 && client.activeCallCount == 0)
    }

    @Test("U2: progress never falls, ends at 1 and has percents with two decimals")
    func progress() throws {
        var track = ProgressTrack()
        let steps: [(Int64, Int64)] = [
            (0, 1_000), (425, 1_000), (425, 1_000), (100, 1_000), (999, 1_000), (1_200, 1_000),
        ]
        var texts = steps.compactMap { track.moved(to: $0.0, of: $0.1)?.description }
        #expect(texts == ["0.00 %", "42.50 %", "99.90 %", "100.00 %"])
        #expect(track.completed()?.fraction == 1 && track.completed() == nil && track.moved(to: 5_000, of: 1) == nil)
        var unknown = ProgressTrack()
        texts = [Int64(1), 2].compactMap { unknown.moved(to: $0, of: -1)?.description }
        #expect(texts == ["1 bytes", "2 bytes"] && unknown.completed()?.description == "100.00 %")
    }
}
