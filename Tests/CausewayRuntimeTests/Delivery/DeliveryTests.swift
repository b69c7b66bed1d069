import CausewayRuntime
import CausewaySystem
import Dispatch
import Testing

extension Runtime {
    @Suite("Delivery")
    struct DeliveryTests {
        static func makeQueue() -> DispatchQueue { DispatchQueue(label: "delivery", target: .global()) }

        @Test("Items run on the queue, in order, one at a time")
        func order() async {
            let queue = Self.makeQueue()
            let key = DispatchSpecificKey<Bool>()
            queue.setSpecific(key: key, value: true)
            let delivery = SharedDelivery.on(queue).delivery
            let events = Recorder<Int>()
            let isRunning = LockedValue(false)
            for number in 0..<2_000 {
                delivery.post(
                    .call {
                        let overlaps = isRunning.withLock { isRunning in
                            defer { isRunning = true }
                            return isRunning
                        }
                        let isOnQueue = DispatchQueue.getSpecific(key: key) == true
                        isRunning.withLock { $0 = false }
                        events.note(overlaps || !isOnQueue ? -1 : number)
                    })
            }
            #expect(await events.wait(for: 2_000) == Array(0..<2_000))
        }

        @Test("Items from many threads all run, and keep each thread's order")
        func manyThreads() async {
            let delivery = SharedDelivery.on(Self.makeQueue())
            let events = Recorder<Int>()
            await withTaskGroup(of: Void.self) { group in
                for thread in 0..<8 {
                    group.addTask {
                        for number in 0..<500 { delivery.post(.call { events.note(thread * 1_000 + number) }) }
                    }
                }
            }
            let all = await events.wait(for: 4_000)
            for thread in 0..<8 {
                let own = all.filter { $0 / 1_000 == thread }
                #expect(own.count == 500 && own == own.sorted())
            }
        }

        @Test("Only the first item since the last drain needs a dispatch")
        func oneDispatch() {
            let queue = Self.makeQueue()
            let delivery = SharedDelivery.on(queue).delivery
            let log = Log()
            let asked = (0..<5).map { number in delivery.add(.call { log.note("\(number)") }) }
            #expect(asked == [true, false, false, false, false])
            queue.sync {}
            #expect(log.all.isEmpty)
            delivery.dispatch()
            queue.sync {}
            #expect(log.all == ["0", "1", "2", "3", "4"])
            let again = delivery.add(.call {})
            #expect(again)
            delivery.dispatch()
            queue.sync {}
        }

        @Test("Items added by items run in the same block, after the earlier ones, without a dispatch")
        func addedWhileDraining() {
            let queue = Self.makeQueue()
            let delivery = SharedDelivery.on(queue).delivery
            let log = Log()
            delivery.post(
                .call {
                    log.note("1 \(delivery.isDraining)")
                    let mustDispatch = delivery.add(.call { log.note("3") })
                    log.note("dispatch \(mustDispatch)")
                })
            // If the first block has already ended, this item needs another block.
            if delivery.add(.call { log.note("2") }) { delivery.dispatch() }
            queue.sync {}
            #expect(log.all.filter { $0 != "2" } == ["1 true", "dispatch false", "3"])
            #expect(log.all.contains("2") && !delivery.isDraining)
        }

        @Test("An endless chain of items yields to the queue's other work")
        func budget() async {
            let queue = Self.makeQueue()
            let delivery = SharedDelivery.on(queue).delivery
            let done = Recorder<Int>()
            let count = LockedValue(0)
            let passed = LockedValue<Int?>(nil)
            @Sendable func step() {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                if number == 1 { queue.async { passed.withLock { $0 = count.withLock { $0 } } } }
                guard number < 5_000 else { return done.note(number) }
                delivery.post(.call { step() })
            }
            delivery.post(.call { step() })
            await done.wait(for: 1)
            let when = passed.withLock { $0 }
            #expect((when ?? .max) < 1_000, "the queue's other work waited for \(String(describing: when)) items")
        }

        @Test("On a global queue an item may wait for another")
        func concurrentQueue() async {
            let delivery = SharedDelivery.on(.global()).delivery
            let events = Recorder<String>()
            let gate = DispatchSemaphore(value: 0)
            let loop = LoopUnderTest.epoll.loop
            // The first call waits for the second call. If both ran in one block, they would deadlock.
            await loop.run {
                let waits = delivery.add(
                    .call {
                        gate.wait()
                        events.note("passed")
                    })
                if waits { loop.dispatchAfterBatch(delivery) }
                if delivery.add(.call { gate.signal() }) { loop.dispatchAfterBatch(delivery) }
            }
            #expect(await events.wait(for: 1) == ["passed"])
        }

        @Test("On a global queue every item runs once")
        func concurrentCount() async {
            let delivery = SharedDelivery.on(.global()).delivery
            let events = Recorder<Int>()
            for number in 0..<1_000 { delivery.post(.call { events.note(number) }) }
            #expect(await events.wait(for: 1_000).sorted() == Array(0..<1_000))
        }

        @Test("Users of one queue share its delivery, which is released with the last of them")
        func shared() {
            let queue = Self.makeQueue()
            weak var weakDelivery: SharedDelivery?
            do {
                let delivery = SharedDelivery.on(queue)
                weakDelivery = delivery
                #expect(SharedDelivery.on(queue) === delivery)
                #expect(SharedDelivery.on(Self.makeQueue()) !== delivery)
            }
            #expect(weakDelivery == nil)
            let log = Log()
            SharedDelivery.on(queue).post(.call { log.note("again") })
            queue.sync {}
            #expect(log.all == ["again"])
        }

        @Test("Deliveries of one queue are created and released on many threads at once")
        func churn() async {
            let queue = Self.makeQueue()
            let events = Recorder<Int>()
            await withTaskGroup(of: Void.self) { group in
                for thread in 0..<4 {
                    group.addTask {
                        for number in 0..<5_000 {
                            let delivery = SharedDelivery.on(queue)
                            if number == 4_999 { delivery.post(.call { events.note(thread) }) }
                        }
                    }
                }
            }
            #expect(await events.wait(for: 4).sorted() == [0, 1, 2, 3])
        }

        @Test("A suspended queue delays its items and loses none")
        func suspendedQueue() async {
            let queue = Self.makeQueue()
            let delivery = SharedDelivery.on(queue)
            let events = Recorder<Int>()
            queue.suspend()
            for number in 0..<300 { delivery.post(.call { events.note(number) }) }
            #expect(events.count == 0)
            queue.resume()
            #expect(await events.wait(for: 300) == Array(0..<300))
        }
    }
}
