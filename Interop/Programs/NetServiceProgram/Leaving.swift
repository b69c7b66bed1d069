import Causeway
import CausewayBonjour
import Foundation

/// A listener that advertises a service. The argument selects how the service ends:
///
/// - "exit": the process exits without a goodbye
/// - "cancel": the listener is cancelled, and the process exits
/// - "signal": a signal ends the process
/// - "strict": another host has the service's name
final class Leaving: Sendable {
    private let listener: NWListener

    init(_ manner: String, name: String) throws {
        listener = try NWListener(using: .tcp)
        var service = NWListener.Service(name: name, type: "_nwleave._tcp")
        service.noAutoRename = manner == "strict"
        // For `cancel`, set the service only when the listener is ready and the port is known. Some programs do this.
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
            // Wait two seconds, so that a browser has seen the service.
            DispatchQueue.main.asyncAfter(deadline: .now() + 2) {
                if manner == "cancel" { listener.cancel() }
                if manner == "exit" || manner == "cancel" { exit(0) }
                if manner == "signal" { kill(getpid(), SIGTERM) }
            }
        }
        listener.start(queue: .main)
    }
}
