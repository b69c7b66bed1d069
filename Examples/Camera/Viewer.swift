// Shows the viewer of ``Camera``: it registers a service, and receives each camera's datagrams one after the other.
import Causeway
import Foundation

/// Receives the frames of the cameras. Confined to its queue.
final class Viewer: @unchecked Sendable {
    private let queue = DispatchQueue(label: "viewer")
    private let listener: NWListener
    private var figures = Figures()

    init(name: String) throws {
        // Listen on any port: cameras find the service by its name.
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

    /// - Parameter next: The number of the next datagram if none is lost.
    private func receive(from camera: NWConnection, next: UInt64?) {
        camera.receiveMessage { [self] content, _, _, error in
            guard error == nil else { return camera.cancel() }
            guard let content, let number = Frame.number(of: content) else { return receive(from: camera, next: next) }
            // A reordered datagram arrives after later ones: it was counted as lost.
            let lost = next.map { number > $0 ? Int(clamping: number - $0) : 0 } ?? 0
            figures.add(1, lost: lost, "received")
            receive(from: camera, next: max(next ?? 0, number &+ 1))
        }
    }
}
