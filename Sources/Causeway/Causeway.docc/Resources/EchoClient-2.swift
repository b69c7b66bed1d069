import Network

let connection = NWConnection(host: "localhost", port: 7000, using: .tcp)

connection.stateUpdateHandler = { state in
    switch state {
    case .ready:
        print("connected to \(connection.endpoint)")
    case .waiting(let error):
        // `restart()` would try again. This program gives up instead.
        print("cannot connect now: \(error)")
        connection.cancel()
    case .failed(let error):
        print("failed: \(error)")
        connection.cancel()
    case .cancelled:
        exit(0)
    default:
        break
    }
}
connection.start(queue: .main)
dispatchMain()
