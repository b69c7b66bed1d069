internal import CCausewayPAC

/// A process that evaluates one script and can do nothing else.
package enum PACProcess {
    /// What is missing and what to install, or `nil` where scripts can be run. Loads the engine at first use.
    package static var problem: String? { loaded }
    private static let loaded: String? = cw_script_load().map { String(cString: $0) }

    /// Tries an engine of another name. Returns what is wrong with it; `nil` when nothing is.
    package static func probe(_ name: String) -> String? {
        var message = [CChar](repeating: 0, count: 512)
        if cw_script_probe(name, &message, message.count) { return nil }
        return message.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    /// Starts it. For some milliseconds where this process is a large one: not on a loop's thread.
    ///
    /// - Parameters:
    ///   - prelude: A function of `ask` and the arguments.
    ///   - arguments: Text in UTF-8.
    /// - Returns: The process, readable when it has ended, and a socket for messages to and from it.
    package static func start(
        prelude: String, arguments: [[UInt8]]
    ) throws(SystemError) -> (process: CInt, channel: CInt) {
        precondition(loaded == nil, "the engine is not loaded")
        var process: CInt = -1
        var channel: CInt = -1
        let pieces = [Array(prelude.utf8)] + arguments
        // One block for all: the texts stay where they are while the process begins.
        let block = pieces.flatMap { $0 }
        let status = block.withUnsafeBytes { bytes in
            var offset = 0
            let texts = pieces.map { piece in
                defer { offset += piece.count }
                let start = bytes.baseAddress.map { ($0 + offset).assumingMemoryBound(to: CChar.self) }
                return cw_script_text(start: start, length: piece.count)
            }
            return texts.withUnsafeBufferPointer { texts in
                cw_script_start(texts[0], texts.baseAddress! + 1, CInt(arguments.count), &process, &channel)
            }
        }
        try check(status, "clone")
        return (process, channel)
    }

    package static func kill(_ process: CInt) { cw_script_kill(process) }

    /// Takes away what is left of a process that has ended. Returns whether there is nothing left.
    package static func reap(_ process: CInt) -> Bool { cw_script_reap(process) }

    /// Minutes that local time is ahead of universal time, now.
    package static var minutesAhead: Int { Int(cw_script_time_offset()) / 60 }
}
