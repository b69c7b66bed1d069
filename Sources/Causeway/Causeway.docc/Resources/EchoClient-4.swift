import Network

let connection = NWConnection(host: "localhost", port: 7000, using: .tcp)

connection.stateUpdateHandler = { state in
    switch state {
    case .ready:
        print("connected to \(connection.endpoint)")
    case .waiting(let error):
        // This program gives up. It could call `restart()` to try again.
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

connection.send(
    content: Data("Hello".utf8), contentContext: .finalMessage,
    completion: .contentProcessed { error in
        if let error { print("not sent: \(error)") }
    })
connection.receiveMessage { content, _, _, error in
    if let content { print("answer: \(String(decoding: content, as: UTF8.self))") }
    if let error { print("no answer: \(error)") }
    connection.cancel()
}
dispatchMain()
