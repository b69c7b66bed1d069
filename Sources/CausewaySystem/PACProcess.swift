internal import CCausewayLibraries

/// A sandboxed process that evaluates one proxy script.
package enum PACProcess {
    /// The reason why scripts cannot run, with the package to install; `nil` if scripts can run. Loads the script
    /// engine on first use.
    package static var problem: String? { loaded }
    private static let loaded: String? = cw_script_load().map { String(cString: $0) }

    /// Tries to load a script engine from the library `name`. Returns the error; `nil` on success.
    package static func probe(_ name: String) -> String? {
        var message = [CChar](repeating: 0, count: 512)
        if cw_script_probe(name, &message, message.count) { return nil }
        return message.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    /// Starts the process. This takes some milliseconds if the calling process is large, so do not call it on an event
    /// loop.
    ///
    /// - Parameters:
    ///   - prelude: The source of a JavaScript function. Its first parameter is `ask`, a function that sends a message.
    ///     The values of `arguments` are its other parameters.
    ///   - arguments: The arguments in UTF-8.
    /// - Returns: The process descriptor, which is readable after the process has ended, and a socket for its messages.
    /// - Throws: The failed call's error, such as `EMFILE`.
    package static func start(
        prelude: String, arguments: [[UInt8]]
    ) throws(SystemError) -> (process: CInt, channel: CInt) {
        precondition(loaded == nil, "the script engine is not loaded")
        var process: CInt = -1
        var channel: CInt = -1
        let pieces = [Array(prelude.utf8)] + arguments
        // Join the JavaScript source and the arguments in one array. Then a single closure call keeps all pointers into
        // the array valid while the process starts.
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

    /// Reaps a process that has ended. Returns `false` while it is still running.
    package static func reap(_ process: CInt) -> Bool { cw_script_reap(process) }

    /// The local time's current offset from UTC, in minutes.
    package static var minutesAhead: Int { Int(cw_script_time_offset()) / 60 }
}
