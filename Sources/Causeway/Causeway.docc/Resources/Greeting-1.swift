import Network

// Without a port, the system chooses a free one.
let listener = try NWListener(using: .tcp)
listener.service = NWListener.Service(name: "Workshop", type: "_greeting._tcp")
