import Testing

/// Starts programs of other projects.
extension Scratch {
    func start(_ peer: Peer, _ arguments: [String], input: Child.Input = .nothing) throws -> Child {
        try startProgram(try #require(peer.path), arguments, input: input)
    }

    func startOpenSSL(_ arguments: [String], input: Child.Input = .nothing) throws -> Child {
        try startProgram("openssl", arguments, input: input)
    }

    func startPython(_ arguments: [String]) throws -> Child { try startProgram("python3", arguments) }
}
