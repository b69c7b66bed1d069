import Causeway
import CausewayBonjour
import Foundation

/// A listener with a service that leaves in some way: "exit" without a word, "cancel" and exit at once, by a "signal",
/// "strict" only if somebody else has its name.
final class Leaving: Sendable {
    private let listener: NWListener

    init(_ manner: String, name: String) throws {
        listener = try NWListener(using: .tcp)
        var service = NWListener.Service(name: name, type: "_nwleave._tcp")
        service.noAutoRename = manner == "strict"
        // Some programs name their service when they know the port.
        let isLate = manner == "cancel"
        if !isLate { listener.service = service }
        listener.newConnectionHandler = { $0.cancel() }
        if manner == "signal" { ServiceDiscovery.sayGoodbye(before: SIGTERM) }
        listener.stateUpdateHandler = { [listener, service] state in
            if case .ready = state, isLate { listener.service = service }
            if case .failed(let error) = state {
                report("failed \(error)")
                exit(1)
            }
        }
        listener.serviceRegistrationUpdateHandler = { [listener] change in
            guard case .add(.service(let name, _, _, _)) = change else { return }
            report("registered \(name)")
            // Whoever looks has seen it.
            DispatchQueue.main.asyncAfter(deadline: .now() + 2) {
                if manner == "cancel" { listener.cancel() }
                if manner == "exit" || manner == "cancel" { exit(0) }
                if manner == "signal" { kill(getpid(), SIGTERM) }
            }
        }
        listener.start(queue: .main)
    }
}
