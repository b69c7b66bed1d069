import Network

let queue = DispatchQueue(label: "echo")
let listener = try NWListener(using: .tcp, on: 7000)

listener.stateUpdateHandler = { state in
    switch state {
    case .ready:
        print("listening on port 7000")
    case .failed(let error):
        print("cannot listen: \(error)")
        exit(1)
    default:
        break
    }
}
listener.newConnectionHandler = { connection in
    print("new client \(connection.endpoint)")
    connection.start(queue: queue)
}
listener.start(queue: queue)
dispatchMain()
