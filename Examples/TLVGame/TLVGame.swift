// Shows a game with its own framer: each message has a type, a length and a value (TLV). The message's metadata contains the type.
import Causeway
import Foundation

/// The format: one byte of type, four bytes of length (big-endian, at most 4,096), the value.
final class GameFramer: NWProtocolFramerImplementation {
    enum Kind: UInt8 { case join = 1, move, resign }

    static let definition = NWProtocolFramer.Definition(implementation: GameFramer.self)
    static var label: String { "game" }
    init(framer: NWProtocolFramer.Instance) {}
    func start(framer: NWProtocolFramer.Instance) -> NWProtocolFramer.StartResult { .ready }
    func wakeup(framer: NWProtocolFramer.Instance) {}
    func stop(framer: NWProtocolFramer.Instance) -> Bool { true }
    func cleanup(framer: NWProtocolFramer.Instance) {}

    func handleInput(framer: NWProtocolFramer.Instance) -> Int {
        while true {
            var header: (kind: UInt8, length: Int)?
            _ = framer.parseInput(minimumIncompleteLength: 5, maximumLength: 5) { buffer, _ in
                guard let buffer, buffer.count == 5 else { return 0 }
                let length = buffer.loadUnaligned(fromByteOffset: 1, as: UInt32.self).bigEndian
                header = (buffer[0], Int(length))
                return 5
            }
            guard let header else { return 5 }
            guard let kind = Kind(rawValue: header.kind), header.length <= 4_096 else {
                framer.markFailed(error: .posix(.EBADMSG))  // unknown type
                return 0
            }
            if !framer.deliverInputNoCopy(length: header.length, message: .game(kind), isComplete: true) { return 0 }
        }
    }

    func handleOutput(
        framer: NWProtocolFramer.Instance, message: NWProtocolFramer.Message, messageLength: Int, isComplete: Bool
    ) {
        let kind = message["kind"] as? Kind ?? .resign
        let length = withUnsafeBytes(of: UInt32(messageLength).bigEndian) { Data($0) }
        framer.writeOutput(data: Data([kind.rawValue]) + length)
        do { try framer.writeOutputNoCopy(length: messageLength) } catch { framer.markFailed(error: nil) }
    }
}

extension NWProtocolFramer.Message {
    static func game(_ kind: GameFramer.Kind) -> NWProtocolFramer.Message {
        let message = NWProtocolFramer.Message(definition: GameFramer.definition)
        message["kind"] = kind
        return message
    }
}

extension NWParameters {
    static var game: NWParameters {
        let parameters = NWParameters.tcp
        let options = NWProtocolFramer.Options(definition: GameFramer.definition)
        parameters.defaultProtocolStack.applicationProtocols = [options]
        return parameters
    }
}
