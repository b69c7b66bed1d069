import Network

/// Prefixes each message with its length: 4 bytes in network byte order.
final class LengthFramer: NWProtocolFramerImplementation {
    static let definition = NWProtocolFramer.Definition(implementation: LengthFramer.self)
    static var label: String { "length" }

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
            // The 4 bytes of the header have not all arrived. Call this method again when there are 4 bytes.
            guard let length else { return 4 }
            let message = NWProtocolFramer.Message(instance: framer)
            // If a part of the message has not arrived yet, the connection delivers that part when it arrives. The
            // framer is not called for these bytes.
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
