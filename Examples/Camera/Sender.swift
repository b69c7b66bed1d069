// Shows the sender of ``Camera``: a frame is a batch, and the next frame is sent after the kernel has accepted the last one
// (back-pressure).
import Causeway
import Foundation

/// Sends frames. Confined to its queue.
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
            case .waiting(let error): say("no viewer available: \(error)")
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
        // The datagrams of one batch are sent with one system call.
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
                        if let error { say("a frame was not sent: \(error)") } else { figures.add(index, "sent") }
                        queue.asyncAfter(deadline: due) { self.sendFrame() }
                    })
            }
        }
    }
}
