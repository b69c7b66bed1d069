import CausewayRuntime
import CausewaySystem
import CausewayTestKit
import Dispatch
import Testing

/// Tests that arrival events are turned off while no receive call needs them.
extension Runtime {
    @Suite("Arrival events during reading")
    struct FlowMutingTests {
        /// A flow on a socket, with a queue that stays blocked until ``run()``.
        private final class Scene: Sendable {
            let loop = ManualLoop()
            let pair = SocketPair()
            let queue = DispatchQueue(label: "muting", target: .global())
            let log = Log()
            let flow: Flow
            let registration: Registration

            init() throws {
                let delivery = SharedDelivery.on(queue).delivery
                flow = Flow(loop: loop, kind: .stream)
                flow.deliver(on: delivery)
                let fd = pair.give(pair.near).release()
                registration = try loop.register(fd, for: flow.interest, flow)
                flow.attach(.socket(fd, registration), owner: Stage.Owner(log, delivery))
                flow.begin()
                queue.suspend()
            }

            var hearsArrivals: Bool { loop.watch(registration)?.interest.contains(.readable) == true }

            func receive() {
                flow.receive(minimum: 1, maximum: 10) { [log] content in log.note("\(content.data?.count ?? 0)") }
            }

            func report(_ readiness: Readiness = [.readable, .writable]) { loop.report(readiness, of: registration) }

            /// Runs the work in the queue.
            func run() {
                queue.resume()
                queue.sync {}
                queue.suspend()
            }

            func end() {
                queue.resume()
                _ = flow.close(abortively: false, owner: Stage.Owner(log, SharedDelivery.on(queue).delivery))
                queue.sync {}
            }
        }

        @Test("Arrivals are not reported while the program's queue reads, and are reported again after it has read all")
        func muting() throws {
            let scene = try Scene()
            scene.receive()
            scene.pair.write("abc", to: scene.pair.far)
            scene.report()
            #expect(scene.hearsArrivals)
            for _ in 0..<4 { scene.report() }
            #expect(!scene.hearsArrivals && scene.loop.updateCount == 1)
            scene.run()
            #expect(scene.log.take() == ["3"])
            #expect(!scene.hearsArrivals, "no further receive was started")
            scene.receive()
            scene.run()
            #expect(scene.hearsArrivals && scene.loop.updateCount == 2)
            scene.pair.write("de", to: scene.pair.far)
            scene.report()
            scene.run()
            #expect(scene.log.take() == ["2"])
            #expect(scene.hearsArrivals)
            scene.end()
        }

        @Test("The peer's end is reported while arrivals are not, and earlier content is read")
        func ending() throws {
            let scene = try Scene()
            scene.receive()
            scene.pair.write("abc", to: scene.pair.far)
            for _ in 0..<4 { scene.report() }
            #expect(!scene.hearsArrivals)
            #expect(scene.loop.watch(scene.registration)?.interest.contains([.writable, .peerClosed]) == true)
            scene.pair.closeFar()
            scene.report([.writable, .peerClosed])
            scene.receive()
            scene.run()
            scene.run()
            #expect(scene.log.take().prefix(2) == ["3", "0"])
            scene.end()
        }

        @Test("An echo that reads each arrival before the next changes no registration")
        func echo() throws {
            let scene = try Scene()
            for _ in 0..<20 {
                scene.receive()
                scene.pair.write("x", to: scene.pair.far)
                scene.report()
                scene.run()
            }
            #expect(scene.log.take() == Array(repeating: "1", count: 20))
            #expect(scene.loop.updateCount == 0)
            scene.end()
        }
    }
}
