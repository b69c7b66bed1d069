import Network

// No port is given, so the system chooses a free port.
let listener = try NWListener(using: .tcp)
listener.service = NWListener.Service(name: "Workshop", type: "_greeting._tcp")
