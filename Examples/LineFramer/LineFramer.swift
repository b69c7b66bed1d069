// Shows a framer for text lines: CR LF ends a message, a line has at most 1,024 bytes. Try it: swift run LineFramer 7000, nc -C localhost
// 7000
import Causeway
import Foundation

final class LineFramer: NWProtocolFramerImplementation {
    static let definition = NWProtocolFramer.Definition(implementation: LineFramer.self)
    static var label: String { "lines" }
    static let limit = 1_024

    init(framer: NWProtocolFramer.Instance) {}
    func start(framer: NWProtocolFramer.Instance) -> NWProtocolFramer.StartResult { .ready }
    func wakeup(framer: NWProtocolFramer.Instance) {}
    func stop(framer: NWProtocolFramer.Instance) -> Bool { true }
    func cleanup(framer: NWProtocolFramer.Instance) {}

    func handleInput(framer: NWProtocolFramer.Instance) -> Int {
        while true {
            var line: Data?
            var isTooLong = false
            _ = framer.parseInput(minimumIncompleteLength: 2, maximumLength: Self.limit + 2) { buffer, _ in
                let seen = Data(buffer ?? UnsafeMutableRawBufferPointer(start: nil, count: 0))
                guard let end = seen.range(of: Data("\r\n".utf8)) else {
                    isTooLong = seen.count == Self.limit + 2
                    return 0
                }
                line = seen[..<end.lowerBound]
                return end.upperBound
            }
            if isTooLong { framer.markFailed(error: .posix(.EMSGSIZE)) }
            guard let line else { return 0 }
            let message = NWProtocolFramer.Message(instance: framer)
            framer.deliverInput(data: Data(line), message: message, isComplete: true)
        }
    }

    func handleOutput(
        framer: NWProtocolFramer.Instance, message: NWProtocolFramer.Message, messageLength: Int, isComplete: Bool
    ) {
        do { try framer.writeOutputNoCopy(length: messageLength) } catch { framer.markFailed(error: nil) }
        if isComplete { framer.writeOutput(data: Data("\r\n".utf8)) }
    }
}
