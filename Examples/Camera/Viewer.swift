// Shows the viewer of ``Camera``: it advertises itself, and reads each camera's datagrams one after the other.
import Network

/// Everything happens on its queue.
final class Viewer: @unchecked Sendable {
    private let queue = DispatchQueue(label: "viewer")
    private let listener: NWListener
    private var figures = Figures()

    init(name: String) throws {
        // Any port: cameras look for the name.
        listener = try NWListener(using: .udp)
        listener.service = NWListener.Service(name: name, type: Frame.serviceType)
    }

    func start() {
        listener.serviceRegistrationUpdateHandler = { say("\($0)") }
        listener.stateUpdateHandler = { state in
            guard case .failed(let error) = state else { return }
            say("cannot listen: \(error)")
            exit(1)
        }
        listener.newConnectionHandler = { [self] camera in
            say("a camera at \(camera.endpoint)")
            camera.start(queue: queue)
            receive(from: camera, next: nil)
        }
        listener.start(queue: queue)
    }

    /// - Parameter next: The number that the next datagram has if none is lost.
    private func receive(from camera: NWConnection, next: UInt64?) {
        camera.receiveMessage { [self] content, _, _, error in
            guard error == nil else { return camera.cancel() }
            guard let content, let number = Frame.number(of: content) else { return receive(from: camera, next: next) }
            // A datagram that was overtaken comes after its successors: it was counted as lost.
            let lost = next.map { number > $0 ? Int(clamping: number - $0) : 0 } ?? 0
            figures.add(1, lost: lost, "received")
            receive(from: camera, next: max(next ?? 0, number &+ 1))
        }
    }
}
