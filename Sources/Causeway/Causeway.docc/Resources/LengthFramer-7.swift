import Network

/// Prefixes each message with its length: 4 bytes in network byte order.
final class LengthFramer: NWProtocolFramerImplementation {
    static let definition = NWProtocolFramer.Definition(implementation: LengthFramer.self)
    static var label: String { "length" }
    static let maximumLength = 1 << 20

    init(framer: NWProtocolFramer.Instance) {}
    func start(framer: NWProtocolFramer.Instance) -> NWProtocolFramer.StartResult { .ready }
    func wakeup(framer: NWProtocolFramer.Instance) {}
    func stop(framer: NWProtocolFramer.Instance) -> Bool { true }
    func cleanup(framer: NWProtocolFramer.Instance) {}

    func handleInput(framer: NWProtocolFramer.Instance) -> Int {
        while true {
            var length: Int?
            _ = framer.parseInput(minimumIncompleteLength: 4, maximumLength: 4) { buffer, _ in
                guard let buffer, buffer.count == 4 else { return 0 }
                length = Int(UInt32(bigEndian: buffer.loadUnaligned(as: UInt32.self)))
                return 4
            }
            // If the header is incomplete, wait until 4 bytes have arrived.
            guard let length else { return 4 }
            guard length <= Self.maximumLength else {
                framer.markFailed(error: .posix(.EMSGSIZE))
                return 0
            }
            let message = NWProtocolFramer.Message(instance: framer)
            // If part of the message has not arrived yet, the connection delivers this part on arrival. It does not
            // call the framer for these bytes.
            guard framer.deliverInputNoCopy(length: length, message: message, isComplete: true) else { return 0 }
        }
    }

    func handleOutput(
        framer: NWProtocolFramer.Instance, message: NWProtocolFramer.Message, messageLength: Int, isComplete: Bool
    ) {
        let header = withUnsafeBytes(of: UInt32(messageLength).bigEndian) { Data($0) }
        framer.writeOutput(data: header)
        do {
            try framer.writeOutputNoCopy(length: messageLength)
        } catch {
            framer.markFailed(error: nil)
        }
    }
}

func makeParameters() -> NWParameters {
    let parameters = NWParameters.tcp
    parameters.defaultProtocolStack.applicationProtocols = [
        NWProtocolFramer.Options(definition: LengthFramer.definition)
    ]
    return parameters
}

let listener = try NWListener(using: makeParameters(), on: 7000)
listener.newConnectionHandler = { connection in
    connection.start(queue: .main)
    printMessages(of: connection)
}
listener.start(queue: .main)

@Sendable func printMessages(of connection: NWConnection) {
    connection.receiveMessage { content, context, _, error in
        if let content { print(String(decoding: content, as: UTF8.self)) }
        guard error == nil, context?.isFinal != true else { return connection.cancel() }
        printMessages(of: connection)
    }
}

dispatchMain()
