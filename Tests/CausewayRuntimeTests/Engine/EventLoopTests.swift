import CausewayRuntime
import CausewaySystem
import Dispatch
import Testing

/// Tests the behaviour that both event loops have in common.
extension Runtime {
    @Suite("Event loop")
    struct EventLoopTests {
        typealias Kind = LoopUnderTest

        // MARK: Readiness

        @Test("Reports readiness at registration, and later arrivals, on the loop", arguments: Kind.allCases)
        func registers(_ kind: Kind) async throws {
            let loop = kind.loop
            let pair = SocketPair()
            let places = Recorder<Bool>()
            let probe = Probe { _ in places.note(loop.isCurrent) }
            pair.write("x", to: pair.far)
            let registration = try loop.register(pair.near, for: .readable, probe)
            await probe.reports.wait(for: 1)
            for round in 2...5 {
                #expect(SocketPair.read(pair.near) == "x")
                loop.await(.readable, of: registration)
                pair.write("x", to: pair.far)
                await probe.reports.wait(for: round)
            }
            #expect(probe.reports.events.allSatisfy { $0.contains(.readable) })
            #expect(places.events.allSatisfy { $0 })
            #expect(!loop.isCurrent)
            loop.close(registration, pair.give(pair.near))
        }

        @Test("Reports an edge once, however long the data is not read", arguments: Kind.allCases)
        func reportsOnce(_ kind: Kind) async throws {
            let loop = kind.loop
            let pair = SocketPair()
            let probe = Probe()
            let registration = try loop.register(pair.near, for: .readable, probe)
            pair.write("x", to: pair.far)
            await probe.reports.wait(for: 1)
            await loop.takeTurns()
            #expect(probe.reports.count == 1)
            loop.close(registration, pair.give(pair.near))
        }

        @Test("Reports only the requested events", arguments: Kind.allCases)
        func interest(_ kind: Kind) async throws {
            let loop = kind.loop
            let pair = SocketPair()
            let probe = Probe()
            let registration = try loop.register(pair.near, for: .readable, probe)
            await loop.takeTurns()
            #expect(probe.reports.count == 0, "writable was not requested")
            loop.close(registration, pair.give(pair.near))
        }

        @Test("Reports room again after a socket was full", arguments: Kind.allCases)
        func writable(_ kind: Kind) async throws {
            let loop = kind.loop
            let pair = SocketPair()
            let probe = Probe()
            let registration = try loop.register(pair.near, for: [.readable, .writable], probe)
            let isWritable: @Sendable (Readiness) -> Bool = { $0.contains(.writable) }
            await probe.reports.wait { $0.contains(where: isWritable) }
            await loop.takeTurns()
            let before = probe.reports.events.count(where: isWritable)
            #expect(SocketPair.fill(pair.near) > 0)
            loop.await(.writable, of: registration)
            await loop.takeTurns()
            #expect(probe.reports.events.count(where: isWritable) == before, "there was no room")
            while let text = SocketPair.read(pair.far), !text.isEmpty {}
            await probe.reports.wait { $0.count(where: isWritable) > before }
            loop.close(registration, pair.give(pair.near))
        }

        @Test("Reports the peer's end", arguments: Kind.allCases)
        func peerEnds(_ kind: Kind) async throws {
            let loop = kind.loop
            let pair = SocketPair()
            let probe = Probe()
            let registration = try loop.register(pair.near, for: .stream, probe)
            await probe.reports.wait(for: 1)
            pair.closeFar()
            await probe.reports.wait { $0.contains { $0.touches(.reading) } }
            #expect(SocketPair.read(pair.near) == nil)
            loop.close(registration, pair.give(pair.near))
        }

        @Test("A changed interest reports current readiness again", arguments: Kind.allCases)
        func update(_ kind: Kind) async throws {
            let loop = kind.loop
            let pair = SocketPair()
            let probe = Probe()
            pair.write("x", to: pair.far)
            let registration = try loop.register(pair.near, for: .readable, probe)
            await probe.reports.wait(for: 1)
            loop.update(registration, pair.near, for: [.readable, .writable])
            await probe.reports.wait { reports in
                reports.dropFirst().contains { $0.contains(.readable) } && reports.contains { $0.contains(.writable) }
            }
            loop.close(registration, pair.give(pair.near))
        }

        @Test("Transfers a descriptor to another handler, with its readiness", arguments: Kind.allCases)
        func hand(_ kind: Kind) async throws {
            let loop = kind.loop
            let pair = SocketPair()
            let (first, second) = (Probe(), Probe())
            let registration = try loop.register(pair.near, for: .writable, first)
            await first.reports.wait(for: 1)
            pair.write("x", to: pair.far)
            loop.hand(registration, pair.near, to: second, for: .stream)
            await second.reports.wait { $0.contains { $0.contains(.readable) } }
            #expect(!first.reports.events.contains { $0.contains(.readable) })
            loop.close(registration, pair.give(pair.near))
        }

        @Test("Closes the descriptor, releases the handler, and reports nothing more", arguments: Kind.allCases)
        func close(_ kind: Kind) async throws {
            let loop = kind.loop
            let pair = SocketPair()
            let reports: Recorder<Readiness>
            weak var weakProbe: Probe?
            do {
                let probe = Probe()
                weakProbe = probe
                reports = probe.reports
                let registration = try loop.register(pair.near, for: .readable, probe)
                await loop.takeTurns()
                loop.close(registration, pair.give(pair.near))
            }
            await loop.takeTurns()
            while SocketPair.read(pair.far) != nil { await Task.yield() }
            while weakProbe != nil { await Task.yield() }
            #expect(reports.count == 0)
        }

        @Test("Handles thousands of descriptors that are opened and closed", arguments: Kind.allCases)
        func churn(_ kind: Kind) async throws {
            let loop = kind.loop
            let reported = Recorder<Int>()
            for round in 0..<20 {
                var open: [(pair: SocketPair, registration: Registration)] = []
                for index in 0..<50 {
                    let pair = SocketPair()
                    let probe = Probe { _ in reported.note(round * 50 + index) }
                    open.append((pair, try loop.register(pair.near, for: .readable, probe)))
                }
                for entry in open { entry.pair.write("x", to: entry.pair.far) }
                await reported.wait { Set($0).count == (round + 1) * 50 }
                for entry in open.shuffled() { loop.close(entry.registration, entry.pair.give(entry.pair.near)) }
            }
            #expect(reported.count == 1_000)
        }

        @Test("A descriptor that cannot be watched is refused, and the loop continues")
        func refusal() async throws {
            let loop = Kind.epoll.loop
            #expect(throws: SystemError(errno: EBADF, call: "epoll_ctl")) {
                try loop.register(1_000_000, for: .readable, Probe())
            }
            try await registers(.epoll)
        }

        // MARK: Time

        @Test("Timers fire on the loop in the order of their deadlines, and never early", arguments: Kind.allCases)
        func timers(_ kind: Kind) async {
            let loop = kind.loop
            let fired = Recorder<(name: Int, at: Duration, isOnLoop: Bool)>()
            let start = System.now
            // The earliest and the latest possible deadline of each timer. This thread may pause between two timers, so
            // their deadlines do not always have the order of their delays.
            var deadlines: [Int: (earliest: Duration, latest: Duration)] = [:]
            for milliseconds in [30, 10, 20, 0] {
                let delay = Duration.milliseconds(milliseconds)
                let before = System.now
                _ = loop.schedule(after: delay) { fired.note((milliseconds, System.now - start, loop.isCurrent)) }
                deadlines[milliseconds] = (earliest: before + delay, latest: System.now + delay)
            }
            let events = await fired.wait(for: 4)
            let order = events.compactMap { deadlines[$0.name] }
            #expect(events.map(\.name).sorted() == [0, 10, 20, 30])
            for (position, deadline) in order.enumerated() {
                #expect(order[position...].allSatisfy { $0.latest >= deadline.earliest })
            }
            #expect(events.allSatisfy { $0.isOnLoop && $0.at >= .milliseconds($0.name) })
        }

        @Test("A timer in the past fires, and does not block the loop", arguments: Kind.allCases)
        func pastTimer(_ kind: Kind) async {
            let fired = Recorder<Int>()
            _ = kind.loop.schedule(after: .seconds(-5)) { fired.note(1) }
            await fired.wait(for: 1)
        }

        @Test("A timer with an infinite deadline does not fire, and does not affect others", arguments: Kind.allCases)
        func farTimer(_ kind: Kind) async {
            let loop = kind.loop
            let fired = Recorder<Int>()
            let far = [Duration.seconds(Int64.max), .nanoseconds(Int64.max), .seconds(1 << 40)].map { delay in
                loop.schedule(after: delay) { fired.note(0) }
            }
            await loop.takeTurns()
            _ = loop.schedule(after: .milliseconds(1)) { fired.note(1) }
            #expect(await fired.wait(for: 1) == [1])
            for timer in far { loop.cancel(timer) }
        }

        @Test("An earlier timer is not delayed by a later one", arguments: Kind.allCases)
        func earlierTimer(_ kind: Kind) async {
            let loop = kind.loop
            let fired = Recorder<Int>()
            // On a busy machine, this test may wait for minutes before it continues.
            let late = loop.schedule(after: .seconds(1 << 20)) { fired.note(0) }
            await loop.takeTurns()
            _ = loop.schedule(after: .milliseconds(1)) { fired.note(1) }
            #expect(await fired.wait(for: 1) == [1])
            loop.cancel(late)
        }

        @Test("A cancelled timer does not fire, even if it is due in the same turn", arguments: Kind.allCases)
        func cancelTimer(_ kind: Kind) async {
            let loop = kind.loop
            let fired = Recorder<Int>()
            let victims = LockedValue<[TimerID]>([])
            await loop.run {
                // Both timers expire in the same turn of the loop. The first timer cancels the second one.
                _ = loop.schedule(after: .milliseconds(1)) {
                    for victim in victims.withLock({ $0 }) { loop.cancel(victim) }
                    fired.note(1)
                }
                victims.withLock { $0.append(loop.schedule(after: .milliseconds(2)) { fired.note(2) }) }
                // Keep the loop's thread busy until both timers are due.
                let due = System.now + .milliseconds(2)
                while System.now < due { sched_yield() }
            }
            await loop.run {
                // No timer fires while the loop runs this call, however long the call takes.
                let early = loop.schedule(after: .milliseconds(3)) { fired.note(3) }
                loop.cancel(early)
                loop.cancel(early)
            }
            await fired.wait(for: 1)
            _ = loop.schedule(after: .milliseconds(10)) { fired.note(4) }
            #expect(await fired.wait { $0.contains(4) } == [1, 4])
        }

        // MARK: Calls and tasks

        @Test("Calls run on the loop in the given order, after the caller returns", arguments: Kind.allCases)
        func execute(_ kind: Kind) async {
            let loop = kind.loop
            let order = Recorder<Int>()
            await loop.run {
                for number in 0..<100 { loop.execute { order.note(number) } }
                order.note(-1)
            }
            #expect(await order.wait(for: 101) == [-1] + Array(0..<100))
            #expect(await loop.run { loop.isCurrent })
        }

        @Test("Calls from many threads all run", arguments: Kind.allCases)
        func executeFromEverywhere(_ kind: Kind) async {
            let loop = kind.loop
            let order = Recorder<Int>()
            await withTaskGroup(of: Void.self) { group in
                for thread in 0..<8 {
                    group.addTask { for number in 0..<200 { loop.execute { order.note(thread * 1_000 + number) } } }
                }
            }
            let events = await order.wait(for: 1_600)
            for thread in 0..<8 {
                let own = events.filter { $0 / 1_000 == thread }
                #expect(own == own.sorted() && own.count == 200)
            }
        }

        @Test("Tasks that prefer the loop run on it, and return to it", arguments: Kind.allCases)
        func executor(_ kind: Kind) async {
            let loop = kind.loop
            let places = await Task(executorPreference: loop.executor) {
                var places = [loop.isCurrent]
                await Task.yield()
                places.append(loop.isCurrent)
                await withCheckedContinuation { continuation in DispatchQueue.global().async { continuation.resume() } }
                places.append(loop.isCurrent)
                return places
            }.value
            #expect(places == [true, true, true])
        }

        @Test("Endless tasks do not block readiness reports", arguments: Kind.allCases)
        func busyTasks(_ kind: Kind) async throws {
            let loop = kind.loop
            let pair = SocketPair()
            let probe = Probe()
            let registration = try loop.register(pair.near, for: .readable, probe)
            let busy = Task(executorPreference: loop.executor) { while !Task.isCancelled { await Task.yield() } }
            pair.write("x", to: pair.far)
            await probe.reports.wait(for: 1)
            let fired = Recorder<Int>()
            _ = loop.schedule(after: .milliseconds(1)) { fired.note(1) }
            await fired.wait(for: 1)
            busy.cancel()
            await busy.value
            loop.close(registration, pair.give(pair.near))
        }

        @Test(
            "A delivery requested within a batch is dispatched once, at the end of the batch", arguments: Kind.allCases)
        func dispatchAfterBatch(_ kind: Kind) async {
            let loop = kind.loop
            let queue = DispatchQueue(label: "batch", target: .global())
            let delivery = SharedDelivery.on(queue).delivery
            let order = Recorder<String>()
            await loop.run {
                for number in 0..<3 {
                    if delivery.add(.call { order.note("item \(number)") }) { loop.dispatchAfterBatch(delivery) }
                }
                queue.sync {}
                order.note("end of batch")
            }
            #expect(await order.wait(for: 4) == ["end of batch", "item 0", "item 1", "item 2"])
        }
    }
}
