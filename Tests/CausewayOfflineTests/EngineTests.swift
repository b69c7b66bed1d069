@testable import CausewayClient
@testable import CausewayOffline
import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Foundation
import Testing

@Suite("Offline engine")
struct EngineTests {
    @Test("O1: an engine belongs to one client: its host, its cache and its reachability, and one queue")
    func o1() async throws {
        let bench = try Bench()
        let engine = try await bench.open()
        #expect(engine.client === bench.client && engine.client.baseURL.host() == "api.example")
        #expect(engine.client.reachability.isReachable && engine.client.session.configuration.urlCache != nil)
        #expect(engine.operations.isEmpty && engine.reports.isEmpty && engine.recovery.operationCount == 0)
    }

    @Test(
        "O2: queueing runs an operation; its result is a response or another outcome, never both; events tell the rest")
    func o2() async throws {
        let bench = try Bench { request, _ in
            request.url?.path.hasSuffix("bad") == true
                ? try answer("why", status: 422) : try answer("made", status: 201)
        }
        let engine = try await bench.open()
        let events = engine.events
        let good = try await engine.enqueue(post("good"))
        let bad = try await engine.enqueue(post("bad"))
        try await bench.drain(engine)
        let (first, second) = (try await engine.result(of: good), try await engine.result(of: bad))
        #expect(first.outcome == .succeeded(status: 201) && first.content == Data("made".utf8))
        #expect(second.outcome == .rejected(status: 422) && second.response?.statusCode == 422)
        #expect(engine.reports.map(\.id) == [bad])
        var heads: [String] = []
        for await event in events {
            heads.append(String(event.description.prefix { $0 != "(" }))
            if heads.count == 6 { break }
        }
        // An end is reported when it is stored. The next operation may have begun before that.
        #expect(heads.prefix(3) == ["1: queued", "2: queued", "1: sending"])
        for id in 1...2 {
            #expect(heads.filter { $0.hasPrefix("\(id):") } == ["queued", "sending", "ended"].map { "\(id): \($0)" })
        }
        try await engine.acknowledge(bad)
        #expect(engine.reports.isEmpty)
    }

    @Test("O3: the host, the port and TLS of one operation are kept over a restart")
    func o3() async throws {
        let bench = try Bench()
        var request = post("a")
        (request.host, request.port, request.usesTLS) = ("b.example", 8_080, false)
        try await bench.open().enqueue(request)
        try await bench.untilFree()
        let engine = try await bench.open()
        try await engine.enqueue(post("c", method: "PUT"))
        try await bench.drain(engine)
        #expect(bench.arrivals.map(\.name) == ["POST http://b.example:8080/v1/a", "PUT https://api.example/v1/c"])
    }

    @Test("A path or a query that contains a URL stays below the base URL")
    func urlInPath() async throws {
        let bench = try Bench()
        let engine = try await bench.open()
        let paths: [RequestPath] = ["a?to=app://b", "c/d://e", "https://f.example/g"]
        for path in paths { try await engine.enqueue(ClientRequest("POST", path)) }
        try await bench.drain(engine)
        #expect(bench.arrivals.map(\.name) == paths.map { "POST https://api.example/v1/\($0)" })
        #expect(engine.reports.isEmpty)
    }

    @Test(
        "O5: POST, PUT, PATCH and DELETE wait without a way, survive a restart, and are replayed in order, each with one key"
    )
    func o5() async throws {
        let isOnline = LockedValue(false)
        let bench = try Bench { _, _ in
            guard isOnline.withLock({ $0 }) else { throw URLError(.cannotConnectToHost) }
            return try answer()
        }
        // A reachable network would end the wait after a failed attempt, whenever the engine learns of it.
        bench.network.change(to: Reachability(nil))
        do {
            let engine = try await bench.open()
            for method in ["POST", "PUT", "PATCH"] { try await engine.enqueue(post("a", method, method: method)) }
            try await engine.enqueue(ClientRequest("DELETE", "a?x=1"))
            // An attempt that runs when the engine stops may have been sent. So stop the engine between two attempts.
            try await bench.run(engine) { bench.arrivals.count >= 3 && engine.isResting }
            #expect(Set(bench.arrivals.map(\.content)) == ["POST"] && Set(bench.arrivals.map(\.key)).count == 1)
            #expect(engine.operations.map(\.attempts) == [0, 0, 0, 0] && !engine.hasWay)
        }
        let failed = bench.arrivals.count
        isOnline.withLock { $0 = true }
        try await bench.untilFree()
        let engine = try await bench.open()
        #expect(engine.recovery.operationCount == 4 && engine.recovery.interruptedCount == 0)
        try await bench.drain(engine)
        let sent = bench.arrivals[failed...]
        let base = "https://api.example/v1/a"
        #expect(sent.map(\.name) == ["POST \(base)", "PUT \(base)", "PATCH \(base)", "DELETE \(base)?x=1"])
        #expect(sent.map(\.content) == ["POST", "PUT", "PATCH", ""] && Set(sent.map(\.key)).count == 4)
        #expect(sent.first?.key == bench.arrivals[0].key && sent.first?.key?.first == "\"")
        #expect(engine.reports.isEmpty)
    }

    @Test("O5: GET is never queued", arguments: ["GET", "HEAD", "OPTIONS", "post"])
    func never(_ method: String) async throws {
        let engine = try await Bench().open()
        #expect(await code { try await engine.enqueue(ClientRequest(method, "a")) } == .invalidRequest)
        #expect(engine.operations.isEmpty)
    }

    @Test("A network that comes back ends the wait at once")
    func reachability() async throws {
        let isOnline = LockedValue(false)
        let bench = try Bench { _, _ in
            guard isOnline.withLock({ $0 }) else { throw URLError(.notConnectedToInternet) }
            return try answer()
        }
        bench.network.change(to: Reachability(nil))
        let engine = try await bench.open { $0.policy.backoff = .init(base: .seconds(1_000), maximum: .seconds(1_000)) }
        try await engine.enqueue(post("a"))
        let running = Task { try await engine.run() }
        while bench.arrivals.isEmpty || engine.hasWay { await Task.yield() }
        isOnline.withLock { $0 = true }
        bench.network.change(to: Reachability(.wifi))
        while !engine.operations.isEmpty { await Task.yield() }
        running.cancel()
        try await running.value
        #expect(bench.arrivals.count == 2 && bench.clock.now.offset == .zero)
    }

    @Test("A lost response is unknown for POST, and repeated with its key for PUT; stopping the engine loses nothing")
    func unknown() async throws {
        let bench = try Bench { request, number in
            if number < 3 { throw URLError(.networkConnectionLost) }
            return try answer()
        }
        let engine = try await bench.open()
        let lost = try await engine.enqueue(post("a"))
        try await engine.enqueue(post("b", method: "PUT"))
        try await bench.drain(engine)
        #expect(engine.reports.map(\.id) == [lost] && engine.reports.first?.outcome == .unknown)
        #expect(bench.arrivals.count == 3 && bench.arrivals[1].key == bench.arrivals[2].key)
        #expect(engine.reports.first.map { "\"\($0.key)\"" } == bench.arrivals[0].key)
    }

    @Test("A resolver rewrites a request after a conflict; its lane keeps its order")
    func resolver() async throws {
        let bench = try Bench { request, _ in
            request.url?.path.hasSuffix("old") == true ? try answer("newer", status: 412) : try answer()
        }
        let engine = try await bench.open {
            $0.policy.conflict = .ask
            $0.resolver = { conflict in
                .rewrite(
                    post("merged", String(decoding: conflict.content, as: UTF8.self), method: conflict.operation.method)
                )
            }
        }
        try await engine.enqueue(post("old", method: "PUT"))
        try await engine.enqueue(post("next"))
        try await bench.drain(engine)
        #expect(bench.arrivals.map(\.content) == ["x", "newer", "x"] && Set(bench.arrivals.map(\.key)).count == 3)
        #expect(engine.reports.isEmpty)
    }

    @Test("A resolver's new request that exceeds the total size stops the lane, and leaves no file")
    func resolverLimit() async throws {
        let bench = try Bench { _, _ in try answer(status: 409) }
        let engine = try await bench.open {
            $0.policy.conflict = .ask
            $0.limits.totalByteCount = 20_000
            $0.resolver = { _ in .rewrite(post("large", String(repeating: "x", count: 20_001))) }
        }
        var events = engine.events.makeAsyncIterator()
        let id = try await engine.enqueue(post("old", method: "PUT"))
        try await bench.run(engine) {
            if case .stopped = engine.operations.first?.state { bench.contents.isEmpty } else { false }
        }
        #expect(engine.operations.map(\.id) == [id])
        #expect(engine.operations.first?.state == .stopped(.refused(status: 409)))
        while let event = await events.next() {
            guard case .storageFailed(let reason) = event.kind else { continue }
            #expect(reason.contains("20000 bytes"))
            return
        }
    }

    @Test("Operations are listed, cancelled, edited and moved; cancelling stops an attempt that runs")
    func changes() async throws {
        let gate = Gate()
        let bench = try Bench { _, number in
            if number == 1 {
                gate.open()
                try await VirtualClock().sleep(for: .seconds(1))
            }
            return try answer()
        }
        let engine = try await bench.open()
        var ids: [OfflineOperation.ID] = []
        for name in ["a", "b", "c", "d"] { ids.append(try await engine.enqueue(post(name), options: .init(lane: "l"))) }
        let running = Task { try await engine.run() }
        await gate.wait()
        #expect(engine.operations.map(\.state) == [.sending, .waiting, .waiting, .waiting])
        try await engine.move(ids[3], before: ids[1])
        try await engine.edit(ids[2], post("edited"))
        try await engine.cancel(ids[1])
        #expect(await code { try await engine.edit(ids[0], post("e")) } == .busy)
        #expect(await code { try await engine.run() } == .running)
        try await engine.cancel(ids[0])
        #expect(try await engine.result(of: ids[0]).outcome == .cancelled(mayHaveBeenSent: true))
        #expect(try await engine.result(of: ids[2]).outcome == .succeeded(status: 200))
        running.cancel()
        try await running.value
        #expect(bench.arrivals.map { $0.name.split(separator: "/").last } == ["a", "d", "edited"])
        #expect(await code { _ = try await engine.result(of: .init(99)) } == .unknownOperation)
    }

    @Test("A caller that waits for a result can be cancelled; the operation stays")
    func cancelledWait() async throws {
        let engine = try await Bench().open()
        let id = try await engine.enqueue(post("a"))
        let waiting = Task { try await engine.result(of: id) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(engine.operations.map(\.id) == [id])
    }

    @Test("The list of operations is a sequence that begins with the present")
    func updates() async throws {
        let bench = try Bench()
        let engine = try await bench.open()
        try await engine.enqueue(post("a"))
        var iterator = engine.operationUpdates.makeAsyncIterator()
        #expect(await iterator.next()?.count == 1)
        try await bench.drain(engine)
        var last = await iterator.next()
        while last?.isEmpty == false { last = await iterator.next() }
        #expect(last?.isEmpty == true)
    }
}
