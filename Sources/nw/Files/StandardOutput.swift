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

/// Writes one line to standard output without buffering. Ends the process silently if the reader has closed the pipe.
func printLine(_ line: PrintableText) {
    do { try OpenFile.standardOutput.put(line + "\n") } catch NWError.posix(.EPIPE) {
        // Exit with the code of a process that SIGPIPE has ended. This process ignores SIGPIPE because of its sockets.
        _exit(128 + SIGPIPE)
    } catch {}
}

extension OpenFile {
    /// Writes text. All text for a terminal goes through this method, because ``PrintableText`` escapes control characters from peers.
    func put(_ text: PrintableText) throws {
        var text = text.text
        try text.withUTF8 { try writeAll(UnsafeRawBufferPointer($0)) }
    }
}
