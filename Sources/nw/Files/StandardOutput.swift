import CausewaySystem
import FoundationEssentials

/// The process's standard output.
enum StandardOutput {
    private static let lane = FileLane("nw.standard-output")

    /// Writes everything, and returns when the reader at the other end took it or its pipe holds it.
    static func write(_ data: Data) async throws {
        do {
            try await lane.run { try OpenFile.standardOutput.writeAll(data) }
        } catch let error where !(error is CancellationError) {
            throw Failure("write to standard output failed", error)
        }
    }
}

/// Writes one line to standard output, at once.
func printLine(_ line: String) {
    var line = line
    line.append("\n")
    line.withUTF8 { try? OpenFile.standardOutput.writeAll(UnsafeRawBufferPointer($0)) }
}
