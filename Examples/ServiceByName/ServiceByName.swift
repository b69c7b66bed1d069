// Shows a server that clients find by its name: swift run ServiceByName serve NAME, then swift run ServiceByName call NAME
import Causeway
import Foundation

@main
enum ServiceByName {
    static func main() throws {
        let words = CommandLine.arguments.dropFirst()
        guard words.count == 2, let verb = words.first, let name = words.last, ["serve", "call"].contains(verb) else {
            print("usage: ServiceByName serve|call NAME")
            exit(64)
        }
        if verb == "serve" { try serve(name) } else { call(name) }
        dispatchMain()
    }

    static func serve(_ name: String) throws {
        // Listen on any port: clients find the service by its name.
        let listener = try NWListener(using: .tcp)
        listener.service = NWListener.Service(name: name, type: "_greeting._tcp")
        listener.serviceRegistrationUpdateHandler = { change in print("\(change)") }
        listener.newConnectionHandler = { connection in
            connection.start(queue: .main)
            connection.send(
                content: Data("Hello from \(name)\n".utf8), contentContext: .finalMessage, isComplete: true,
                completion: .contentProcessed { _ in connection.cancel() })
        }
        listener.start(queue: .main)
    }

    static func call(_ name: String) {
        let service = NWEndpoint.service(name: name, type: "_greeting._tcp", domain: "local.", interface: nil)
        let connection = NWConnection(to: service, using: .tcp)
        connection.stateUpdateHandler = { state in
            if case .waiting(let error) = state { print("not available: \(error)") }
        }
        connection.receive(minimumIncompleteLength: 1, maximumLength: 1_000) { content, _, _, error in
            print(content.map { String(decoding: $0, as: UTF8.self) } ?? "\(String(describing: error))")
            exit(content == nil ? 1 : 0)
        }
        connection.start(queue: .main)
    }
}
