import Network

let connection = NWConnection(host: "localhost", port: 7000, using: .tcp)
