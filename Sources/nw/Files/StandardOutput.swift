import Causeway
import CausewaySystem
import CausewayTypes
import FoundationEssentials

/// The process's standard output.
enum StandardOutput {
    private static let thread = FileThread("nw.standard-output")

    /// Writes all data. Returns when the file, the pipe or the terminal has accepted it.
    static func write(_ data: Data) async throws {
        do {
            try await thread.run { try OpenFile.standardOutput.writeAll(data) }
        } catch let error where !(error is CancellationError) {
            throw CommandFailure("write to standard output failed", error)
        }
    }

    static func write(_ text: PrintableText) async throws { try await write(Data(text.text.utf8)) }
}

/// Writes one line to standard output without buffering.
///
/// Ends the process if the line cannot be written: silently if the reader has closed the pipe, otherwise with an error, for example because
/// the disk is full.
func printLine(_ line: PrintableText) {
    do {
        try StatusLine.aside(isPiped: OpenFile.standardOutput.kind == .other) {
            try OpenFile.standardOutput.put(line + "\n")
        }
    } catch { StandardOutput.end(after: error) }
}

extension StandardOutput {
    /// Writes this program's own text, such as help, without escaping it. Ends the process if the text cannot be
    /// written.
    static func finish(_ text: String) {
        do { try OpenFile.standardOutput.writeAll(Data(text.utf8)) } catch { end(after: error) }
    }

    /// Ends the process after a failed write.
    fileprivate static func end(after error: any Error) -> Never {
        // Exit with the code that a shell reports for a process ended by SIGPIPE. The signal cannot end this process,
        // which ignores SIGPIPE so that a write to a closed socket returns an error.
        if error as? NWError == .posix(.EPIPE) { _exit(128 + SIGPIPE) }
        printError("nw: cannot write to standard output: \(describe(error))")
        _exit(EXIT_FAILURE)
    }
}

extension OpenFile {
    /// Writes text. All text for a terminal goes through this method, because ``PrintableText`` escapes control characters from peers.
    func put(_ text: PrintableText) throws {
        var text = text.text
        try text.withUTF8 { try writeAll(UnsafeRawBufferPointer($0)) }
    }
}
