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
    echo(on: connection)
}
listener.start(queue: queue)

@Sendable func echo(on connection: NWConnection) {
    connection.receive(minimumIncompleteLength: 1, maximumLength: 65_536) { content, _, isComplete, error in
        guard let content, error == nil else {
            connection.cancel()
            return
        }
        connection.send(
            content: content,
            completion: .contentProcessed { error in
                // Receive again only after the content was sent. If a client does not read the echo, the server stops
                // receiving, and the client soon cannot send more.
                if isComplete || error != nil { connection.cancel() } else { echo(on: connection) }
            })
    }
}

dispatchMain()
