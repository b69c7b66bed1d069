import Network

// No port is given, so the system chooses a free port.
let listener = try NWListener(using: .tcp)
listener.service = NWListener.Service(name: "Workshop", type: "_greeting._tcp")

listener.serviceRegistrationUpdateHandler = { change in
    switch change {
    case .add(let endpoint): print("registered \(endpoint)")
    case .remove(let endpoint): print("no longer registered: \(endpoint)")
    }
}
listener.newConnectionHandler = { connection in connection.cancel() }
listener.start(queue: .main)
dispatchMain()
