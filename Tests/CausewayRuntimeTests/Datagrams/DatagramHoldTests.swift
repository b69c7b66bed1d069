@testable import CausewayRuntime
import CausewaySystem
import CausewayTestKit
import Dispatch
import FoundationEssentials
import Testing

extension Runtime {
    /// Tests with a shared socket and a program that reads too slowly. The tests control the event loop.
    @Suite("Shared datagram socket: hold and resume")
    struct DatagramHoldTests {
        final class Peers: Sendable {
            let flows = LockedValue<[Flow]>([])
        }

        /// A bound socket with flows for several peers.
        ///
        /// It also has the first peer's socket, and a queue that reads from the flows.
        final class Place: Sendable {
            static let registration = Registration(token: 1)
            let loop = ManualLoop()
            let socket: SharedDatagramSocket
            let address: SocketAddress
            let sender: Descriptor
            let queue = DispatchQueue(label: "place", target: .global())
            let log = Log()
            private let peers = Peers()

            init() throws {
                let descriptor = try Socket.open(.ipv4, .datagram)
                try Socket.bind(descriptor.rawValue, to: .ipv4(bits: 0x7f00_0001, port: 0))
                address = try #require(Socket.localAddress(descriptor.rawValue))
                sender = try Self.connect(to: address)
                socket = try SharedDatagramSocket(descriptor, on: loop, tracksSource: false) { [peers] _, flow, _ in
                    peers.flows.withLock { $0.append(flow) }
                    return true
                }
            }

            static func connect(to address: SocketAddress) throws -> Descriptor {
                let socket = try Socket.open(.ipv4, .datagram)
                _ = try Socket.connect(socket.rawValue, to: address)
                return socket
            }

            /// Sends a datagram from the first peer, and reports its arrival. Each byte of the datagram is its number.
            func send(_ number: Int, _ byteCount: Int) { send(number, byteCount, from: sender) }

            /// Sends a datagram from a peer, and reports to the loop that it has arrived. All its bytes have the value
            /// `number`.
            func send(_ number: Int, _ byteCount: Int, from peer: borrowing Descriptor) {
                let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: byteCount)
                let result = bytes.withUnsafeBytes { Socket.send(peer.rawValue, $0) }
                #expect(result == .moved(byteCount))
                // Simulate that this host sends answers. If it sent none, the reader would pause in order to collect
                // datagrams.
                socket.noteSending()
                loop.report(.readable, of: Self.registration)
            }

            /// Starts a peer's flow.
            func begin(_ position: Int = 0) throws -> Flow {
                let flow = try #require(peers.flows.withLock { $0.dropFirst(position).first })
                let delivery = SharedDelivery.on(queue).delivery
                flow.deliver(on: delivery)
                flow.attach(
                    .peer(socket, .ipv4(bits: 0, port: UInt16(position + 1))), owner: Stage.Owner(log, delivery))
                loop.batch { flow.begin() }
                return flow
            }

            /// Sends the first peer's first datagram, and starts this peer's flow.
            func beginFirst(byteCount: Int = 1) throws -> Flow {
                send(255, byteCount)
                return try begin()
            }

            var isReading: Bool { loop.watch(Self.registration)?.interest.contains(.readable) == true }

            /// Sends datagrams to the first peer's flow until its inbox is full and reading pauses. Returns the number
            /// of datagrams.
            func fill() -> Int {
                var count = 0
                while isReading, count < 1_000 {
                    send(count, 60_000)
                    count += 1
                }
                return count
            }

            func settle() {
                for _ in 0..<3 {
                    loop.runUntilIdle()
                    queue.sync {}
                }
            }
        }

        /// The number of waiting datagrams at which reading stops, if each has 60,000 bytes. This is one more than fits
        /// below the limit.
        static let heldCount = DatagramInbox.Mark.far.byteCount / 60_000 + 1

        @Test("Reading stops above the mark and resumes when the program has taken its datagrams: none is lost")
        func resume() throws {
            let place = try Place()
            let flow = try place.beginFirst()
            let count = place.fill()
            #expect(count == Self.heldCount && !place.isReading)
            // This datagram stays in the kernel while reading is stopped.
            place.send(count, 60_000)
            let counts = Log()
            flow.receiveBatch { batch, _ in counts.note("\(batch?.count ?? -1)") }
            place.queue.sync {}
            #expect(counts.all == ["\(count + 1)"])
            place.settle()
            #expect(place.isReading)
            let last = flow.takeDatagram()
            #expect(last?.data.count == 60_000 && last?.data.first == UInt8(truncatingIfNeeded: count))
            place.socket.stop()
        }

        /// Receives one datagram after another, and notes the first byte of each.
        static func receive(_ left: Int, from flow: Flow, _ numbers: Log) {
            guard left > 0 else { return }
            flow.receiveMessage { content in
                numbers.note("\(content.data?.first ?? 0)")
                receive(left - 1, from: flow, numbers)
            }
        }

        @Test("Reading does not resume before the program has taken half")
        func half() throws {
            let place = try Place()
            let flow = try place.beginFirst(byteCount: 60_000)
            let count = place.fill() + 1
            let numbers = Log()
            let quarter = count / 4
            Self.receive(quarter, from: flow, numbers)
            place.settle()
            #expect(numbers.count == quarter && !place.isReading)
            Self.receive(count / 2, from: flow, numbers)
            place.settle()
            #expect(numbers.count == quarter + count / 2 && place.isReading)
            let expected = [255] + (0..<(numbers.count - 1)).map { $0 & 0xff }
            #expect(numbers.all == expected.map { "\($0)" })
            place.socket.stop()
        }

        @Test("A hold ends after a time, so that a program that never receives does not lock out new peers")
        func patience() throws {
            let place = try Place()
            _ = try place.beginFirst()
            _ = place.fill()
            let other = try Place.connect(to: place.address)
            place.send(7, 3, from: other)
            #expect(place.socket.peerCount == 1)
            place.loop.advance(by: .milliseconds(20))
            #expect(place.socket.peerCount == 2)
            let second = try place.begin(1)
            #expect(second.takeDatagram()?.data == Data([7, 7, 7]))
            place.socket.stop()
        }

        @Test("A flow that is cancelled during a hold ends, and the others are read")
        func cancel() throws {
            let place = try Place()
            let flow = try place.beginFirst()
            _ = place.fill()
            place.queue.sync {
                flow.receiveMessage { [log = place.log] content in log.note(Stage.line("1", content)) }
                let owner = Stage.Owner(place.log, SharedDelivery.on(place.queue).delivery)
                _ = flow.close(abortively: false, owner: owner)
            }
            place.settle()
            #expect(place.log.all == ["1 error \(ECANCELED)", "closed"])
            let other = try Place.connect(to: place.address)
            place.send(7, 3, from: other)
            place.loop.advance(by: .milliseconds(20))
            let second = try place.begin(1)
            #expect(second.takeDatagram()?.data == Data([7, 7, 7]))
            place.socket.stop()
        }

        @Test("While a receive takes each datagram, reading is not held")
        func caughtUp() throws {
            let place = try Place()
            let flow = try place.beginFirst()
            let numbers = Log()
            Self.receive(.max, from: flow, numbers)
            place.settle()
            for number in 0..<(2 * Self.heldCount) {
                place.send(number, 60_000)
                place.settle()
                #expect(place.isReading)
            }
            #expect(numbers.count == 2 * Self.heldCount + 1)
            place.socket.stop()
        }
    }
}
