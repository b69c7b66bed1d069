import CausewayRuntime
import Synchronization
import Testing

extension Runtime {
    @Suite("Network change monitor")
    struct NetworkChangeMonitorTests {
        /// A simulated kernel and clock.
        final class Stage: Sendable {
            struct Watch: NetworkChangeMonitor.Watch {
                let stage: Stage
                func cancel() { stage.state.withLock { $0.liveWatches -= 1 } }
            }

            struct State {
                var isOpenRefused = false
                var liveWatches = 0
                var opened = 0
                var report: (@Sendable (NetworkChangeMonitor.Report) -> Void)?
                var timers: [(delay: Duration, body: @Sendable () -> Void)] = []
            }

            let state = Mutex(State())

            func makeMonitor() -> NetworkChangeMonitor {
                NetworkChangeMonitor(
                    context: .init(
                        follow: { report in
                            self.state.withLock { state in
                                guard !state.isOpenRefused else { return nil }
                                state.liveWatches += 1
                                state.opened += 1
                                state.report = report
                                return Watch(stage: self)
                            }
                        },
                        after: { delay, body in self.state.withLock { $0.timers.append((delay, body)) } }))
            }

            func report(_ report: NetworkChangeMonitor.Report) {
                state.withLock { $0.report }?(report)
            }

            /// Fires all pending timers, and returns their delays.
            @discardableResult
            func fireTimers() -> [Duration] {
                let timers = state.withLock { state in
                    defer { state.timers = [] }
                    return state.timers
                }
                for timer in timers { timer.body() }
                return timers.map(\.delay)
            }

            var liveWatches: Int { state.withLock { $0.liveWatches } }
            func refuseOpening(_ refuse: Bool) { state.withLock { $0.isOpenRefused = refuse } }
        }

        final class Counter: Sendable {
            private let count = Mutex(0)
            var value: Int { count.withLock { $0 } }
            func increment() { count.withLock { $0 += 1 } }
        }

        @Test("Watches the kernel while there are subscribers, with one watch for all")
        func followsOnDemand() {
            let stage = Stage()
            let monitor = stage.makeMonitor()
            #expect(stage.liveWatches == 0 && !monitor.isFollowing)
            let first = monitor.subscribe {}
            let second = monitor.subscribe {}
            #expect(stage.liveWatches == 1 && monitor.isFollowing)
            first.cancel()
            first.cancel()
            #expect(stage.liveWatches == 1)
            second.cancel()
            #expect(stage.liveWatches == 0 && !monitor.isFollowing)
            let third = monitor.subscribe {}
            #expect(stage.liveWatches == 1)
            third.cancel()
            #expect(stage.state.withLock { $0.opened } == 2)
        }

        @Test("Releasing a subscription cancels it")
        func releases() {
            let stage = Stage()
            let monitor = stage.makeMonitor()
            do {
                let subscription = monitor.subscribe {}
                withExtendedLifetime(subscription) { #expect(stage.liveWatches == 1) }
            }
            #expect(stage.liveWatches == 0)
        }

        @Test("After a burst each subscriber is called once, after the delay")
        func coalesces() {
            let stage = Stage()
            let monitor = stage.makeMonitor()
            let (one, two) = (Counter(), Counter())
            let subscriptions = [monitor.subscribe { one.increment() }, monitor.subscribe { two.increment() }]
            for _ in 0..<50 { stage.report(.changed) }
            #expect(one.value == 0 && two.value == 0)
            #expect(stage.fireTimers() == [NetworkChangeMonitor.window])
            #expect(one.value == 1 && two.value == 1)
            #expect(stage.fireTimers().isEmpty)

            stage.report(.changed)
            #expect(stage.fireTimers() == [.milliseconds(20)])
            #expect(one.value == 2 && two.value == 2)
            for subscription in subscriptions { subscription.cancel() }
        }

        @Test("No call follows a cancellation, even during a burst")
        func cancelledInBurst() {
            let stage = Stage()
            let monitor = stage.makeMonitor()
            let (gone, stays) = (Counter(), Counter())
            let subscription = monitor.subscribe { gone.increment() }
            let other = monitor.subscribe { stays.increment() }
            stage.report(.changed)
            subscription.cancel()
            stage.fireTimers()
            #expect(gone.value == 0 && stays.value == 1)
            other.cancel()
            stage.report(.changed)
            #expect(stage.fireTimers().isEmpty)
        }

        @Test("A body may cancel another subscription and its own, and subscribe again")
        func reentrant() {
            let stage = Stage()
            let monitor = stage.makeMonitor()
            let second = Counter()
            let slots = Mutex<[NetworkChangeMonitor.Subscription]>([])
            let first = monitor.subscribe {
                let taken = slots.withLock { slots in
                    defer { slots = [] }
                    return slots
                }
                for subscription in taken { subscription.cancel() }
                let next = monitor.subscribe { second.increment() }
                slots.withLock { $0.append(next) }
            }
            let victim = monitor.subscribe { Issue.record("called after its cancellation") }
            slots.withLock { $0 = [first, victim] }
            stage.report(.changed)
            stage.fireTimers()
            #expect(second.value == 0)
            stage.report(.changed)
            stage.fireTimers()
            #expect(second.value == 1)
            slots.withLock { $0 }.forEach { $0.cancel() }
            #expect(stage.liveWatches == 0)
        }

        @Test("A body that owns its subscription can be cancelled without a deadlock")
        func selfOwning() {
            final class Owner: Sendable {
                let subscription = Mutex<NetworkChangeMonitor.Subscription?>(nil)
            }
            let stage = Stage()
            let monitor = stage.makeMonitor()
            weak var released: Owner?
            do {
                let owner = Owner()
                released = owner
                let other = monitor.subscribe { _ = owner }
                owner.subscription.withLock { $0 = monitor.subscribe {} }
                other.cancel()
            }
            #expect(released == nil)
            #expect(stage.liveWatches == 0)
        }

        @Test("If the kernel cannot be watched, one retry at a time is made, and its success counts as a change")
        func retriesOpening() {
            let stage = Stage()
            stage.refuseOpening(true)
            let monitor = stage.makeMonitor()
            let counter = Counter()
            let subscriptions = [monitor.subscribe { counter.increment() }, monitor.subscribe {}]
            #expect(!monitor.isFollowing)
            #expect(stage.fireTimers() == [NetworkChangeMonitor.retryDelay])
            stage.refuseOpening(false)
            #expect(stage.fireTimers() == [NetworkChangeMonitor.retryDelay])
            #expect(monitor.isFollowing && counter.value == 0)
            #expect(stage.fireTimers() == [NetworkChangeMonitor.window])
            #expect(counter.value == 1)
            for subscription in subscriptions { subscription.cancel() }
            #expect(stage.liveWatches == 0)
        }

        @Test("If no subscriber is left at the retry, nothing is opened")
        func retryWithoutSubscribers() {
            let stage = Stage()
            stage.refuseOpening(true)
            let monitor = stage.makeMonitor()
            monitor.subscribe {}.cancel()
            stage.refuseOpening(false)
            #expect(stage.fireTimers() == [NetworkChangeMonitor.retryDelay])
            #expect(stage.liveWatches == 0 && !monitor.isFollowing)
        }

        @Test("A failing watch is closed and replaced")
        func replacesFailedWatch() {
            let stage = Stage()
            let monitor = stage.makeMonitor()
            let counter = Counter()
            let subscription = monitor.subscribe { counter.increment() }
            stage.report(.failed)
            #expect(stage.liveWatches == 0 && !monitor.isFollowing)
            #expect(stage.fireTimers() == [NetworkChangeMonitor.retryDelay])
            #expect(stage.liveWatches == 1)
            stage.fireTimers()
            #expect(counter.value == 1)
            subscription.cancel()
            #expect(stage.liveWatches == 0)
        }
    }
}
