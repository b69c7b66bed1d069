import Causeway
import CausewayBonjour
import Foundation

/// Tests that repeat an operation in one process.
enum Again {
    private static let type = "_nwagain._tcp"

    /// Creates several listeners with one name.
    static func listen(_ name: String, count: Int) throws -> [NWListener] {
        try (0..<count).map { _ in
            let listener = try NWListener(using: .tcp)
            listener.service = NWListener.Service(name: name, type: type)
            listener.newConnectionHandler = { $0.cancel() }
            listener.serviceRegistrationUpdateHandler = { [weak listener] change in
                guard case .add(.service(let name, _, _, _)) = change else { return }
                report("\(name) at \(listener?.port?.rawValue ?? 0)")
            }
            listener.start(queue: .main)
            return listener
        }
    }

    /// Browses until a service is found. After a line of input, does the same again.
    static func browse() async throws {
        for number in 1...2 {
            for try await case .added(let identity) in try ServiceDiscovery.browse(type) {
                report("found \(identity.name) \(number)")
                break
            }
            if number == 1 { _ = readLine() }
        }
    }
}
