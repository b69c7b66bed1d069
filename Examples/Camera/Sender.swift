// Shows the sending side of ``Camera``: a frame is a batch, and the next one waits until the last one has been taken (back-pressure).
import Network

/// Everything happens on its queue.
final class Sender: @unchecked Sendable {
    private let queue = DispatchQueue(label: "camera")
    private let connection: NWConnection
    private let interval: DispatchTimeInterval
    private var number: UInt64 = 0
    private var figures = Figures()

    init(to name: String, framesPerSecond: Int) {
        let viewer = NWEndpoint.service(name: name, type: Frame.serviceType, domain: "local", interface: nil)
        connection = NWConnection(to: viewer, using: .udp)
        interval = .nanoseconds(1_000_000_000 / framesPerSecond)
    }

    func start() {
        connection.stateUpdateHandler = { [self] state in
            switch state {
            case .ready:
                say("connected to \(connection.endpoint)")
                sendFrame()
            case .waiting(let error): say("no viewer at the moment: \(error)")
            case .failed(let error):
                say("ended: \(error)")
                exit(1)
            default: break
            }
        }
        connection.start(queue: queue)
    }

    private func sendFrame() {
        let due = DispatchTime.now() + interval
        // One batch is one hand-over: its datagrams leave in one system call.
        connection.batch {
            for index in 1...Frame.datagramCount {
                let datagram = Frame.datagram(number)
                number += 1
                guard index == Frame.datagramCount else {
                    connection.send(content: datagram, completion: .idempotent)
                    continue
                }
                connection.send(
                    content: datagram,
                    completion: .contentProcessed { [self] error in
                        if let error { say("a frame was not taken: \(error)") } else { figures.add(index, "sent") }
                        queue.asyncAfter(deadline: due) { self.sendFrame() }
                    })
            }
        }
    }
}
