@testable import CausewayClient
import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Foundation
import Testing

@Suite("Client: equal requests in flight")
struct SharingTests {
    @Test(
        "In any order of events, each caller is resumed once, and work without callers is abandoned", arguments: 0..<200
    )
    func property(_ seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var table = SharingTable<Int>()
        var (waiting, resumed): (Set<UInt64>, Set<UInt64>) = ([], [])
        var groups: [UInt64: Set<UInt64>] = [:]
        var runners: Set<UInt64> = []
        for caller in UInt64(1)...200 {
            switch random.integer(in: 0...7) {
            case 0...2:
                let (group, isNew) = table.join(random.integer(in: 0...3), as: caller)
                #expect(isNew == (groups[group] == nil))
                groups[group, default: []].insert(caller)
                waiting.insert(caller)
            case 3:
                let leaving = waiting.randomElement(using: &random) ?? 0
                waiting.remove(leaving)
                let group = groups.first { $0.value.contains(leaving) }?.key
                if let group { groups[group]?.remove(leaving) }
                let isLast = group.map { groups[$0]?.isEmpty == true && !runners.contains($0) } ?? false
                #expect(table.leave(leaving) == (group.map { isLast ? .abandoned($0) : .othersWait } ?? .none))
                if let group, isLast { groups[group] = nil }
            case 4:
                guard let group = groups.keys.randomElement(using: &random) else { continue }
                let ended = table.ended(group)
                #expect(ended == groups[group] && table.ended(group).isEmpty && resumed.isDisjoint(with: ended))
                resumed.formUnion(ended)
                waiting.subtract(ended)
                groups[group] = nil
                runners.remove(group)
            case 5:
                guard let group = table.open(random.integer(in: 0...3)) else { continue }
                #expect(groups[group] == nil)
                groups[group] = []
                runners.insert(group)
            case 6:
                guard let group = runners.randomElement(using: &random) else { continue }
                runners.remove(group)
                let isLast = groups[group]?.isEmpty == true
                #expect(table.runnerLeft(group) == (isLast ? .abandoned(group) : .othersWait))
                if isLast { groups[group] = nil }
            default: if random.chance(oneIn: 4) { table.closeAll() }
            }
            #expect(table.callerCount == waiting.count + runners.count)
            for group in groups.keys { #expect(table.isWanted(group)) }
        }
    }

    @Test("1,000 equal requests are one request")
    func thousand() async throws {
        let gate = Gate()
        let server = ScriptedServer { _, _ in
            await gate.wait()
            return try answer("[7]")
        }
        let client = try server.client()
        let values = try await withThrowingTaskGroup(of: [Int].self) { group in
            for _ in 0..<1_000 { group.addTask { try await client.get("a", query: ["b": 1]) } }
            await until { client.sharedWork.callerCount == 1_000 }
            gate.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(values == Array(repeating: [7], count: 1_000) && server.requests.count == 1)
    }

    @Test(
        "Cancelling one of several callers does not cancel the others; cancelling all cancels the request",
        arguments: [0, 1])
    func cancellation(_ cancelled: Int) async throws {
        let (gate, stopped) = (Gate(), Gate())
        let server = ScriptedServer { _, number in
            // The first caller runs the request. If this caller is cancelled, the request is sent again for the others.
            if number == (cancelled == 0 ? 2 : 1) {
                await gate.wait()
                return try answer("[1]")
            }
            do {
                try await VirtualClock().sleep(for: .seconds(1))
            } catch {
                stopped.open()
                throw error
            }
            return try answer()
        }
        let client = try server.client()
        var tasks = [Task { try await client.get("a") as [Int] }]
        // A caller that is cancelled before it has sent its request sends none.
        await until { server.requests.count == 1 }
        tasks += (0..<2).map { _ in Task { try await client.get("a") as [Int] } }
        await until { client.sharedWork.callerCount == 3 }
        tasks.remove(at: cancelled).cancel()
        await until { client.sharedWork.callerCount == 2 }
        if cancelled == 0 { await stopped.wait() }
        gate.open()
        for task in tasks { #expect(try await task.value == [1]) }
        #expect(server.requests.count == (cancelled == 0 ? 2 : 1))

        let count = server.requests.count
        let others = (0..<2).map { _ in Task { try await client.get("a") as [Int] } }
        await until { client.sharedWork.callerCount == 2 && server.requests.count > count }
        for task in others { task.cancel() }
        for task in others { await #expect(throws: CancellationError.self) { try await task.value } }
        await stopped.wait()
        await until { client.activeCallCount == 0 }
        #expect(client.sharedWork.callerCount == 0)
    }

    @Test("Requests that differ, that have content, or that must not share are sent on their own")
    func different() async throws {
        let gate = Gate()
        let server = ScriptedServer { _, _ in
            await gate.wait()
            return try answer()
        }
        let client = try server.client()
        var requests = [
            ClientRequest("GET", "a"), ClientRequest("GET", "a"), ClientRequest("HEAD", "a"), ClientRequest("GET", "b"),
            ClientRequest("GET", "a", query: ["x": 1]), ClientRequest("GET", "a"), ClientRequest("GET", "a"),
            ClientRequest("POST", "a"), ClientRequest("POST", "a"), ClientRequest("OPTIONS", "a"),
            ClientRequest("OPTIONS", "a"),
        ]
        requests[5].headers = ["Range": "bytes=0-1"]
        requests[6].coalesces = false
        try await withThrowingTaskGroup(of: Void.self) { [requests] group in
            for request in requests { group.addTask { _ = try await client.send(request, as: .none) } }
            // Six callers can share: two of them do. The second one must have joined before the first one's response.
            await until { server.requests.count == 10 && client.sharedWork.callerCount == 6 }
            gate.open()
            try await group.waitForAll()
        }
        #expect(server.requests.count == 10)
    }

    @Test("A read after a change does not share the response of a read before it")
    func readYourWrites() async throws {
        let gate = Gate()
        let server = ScriptedServer { request, number in
            if number == 1 { await gate.wait() }
            return try answer("[\(number)]")
        }
        let client = try server.client()
        let old = Task { try await client.get("a") as [Int] }
        await until { server.requests.count == 1 }
        try await client.put("a", body: .text("x"), as: .none)
        #expect(try await client.get("a") == [3])
        gate.open()
        #expect(try await old.value == [1])
    }

    @Test("A failure reaches all callers, and the next request is sent again")
    func failing() async throws {
        let gate = Gate()
        let server = ScriptedServer { _, number in
            await gate.wait()
            return number == 1 ? try answer("no", status: 404) : try answer("[]")
        }
        let client = try server.client()
        let tasks = (0..<2).map { _ in Task { await failure { try await client.get("a", as: .none) }?.status } }
        await until { client.sharedWork.callerCount == 2 }
        gate.open()
        for task in tasks { #expect(await task.value == 404) }
        #expect(try await client.get("a") as [Int] == [])
    }

    @Test("Events tell what happened to each call")
    func events() async throws {
        let server = ScriptedServer { _, number in try answer("", status: number == 1 ? 401 : 200) }
        let client = try server.client {
            $0.interceptors = [Advice { $0.response?.statusCode == 401 ? .resend : .pass }]
        }
        let events = client.events
        try await client.get("a", query: ["secret": "x"], as: .none)
        var lines: [String] = []
        for await event in events {
            lines.append(event.description)
            if case .succeeded = event.kind { break }
        }
        let name = "1 GET https://api.example/v1/a: "
        #expect(
            lines
                == ["began", "sent, attempt 1", "repeated in 0.0 seconds: status 401", "sent, attempt 2", "status 200"]
                .map {
                    name + $0
                })
    }
}
