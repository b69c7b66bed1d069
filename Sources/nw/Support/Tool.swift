import Dispatch
import Foundation

/// System programs that `nw` uses if they are installed.
enum Tool {
    /// The maximum output size in bytes. A program with more output counts as failed.
    private static let limit = 1 << 20

    /// Returns a program's path in `PATH` or in the system program folders.
    static func path(_ name: String) -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return (folders + ["/usr/sbin", "/sbin", "/usr/bin", "/bin"]).lazy.filter { $0.hasPrefix("/") }
            .map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Runs a program, and returns its output. `nil` if the program is not installed, fails, takes longer than two
    /// seconds, or prints too much.
    static func output(_ name: String, _ arguments: [String]) -> String? {
        guard let path = path(name) else { return nil }
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        let end = DispatchWorkItem { process.terminate() }
        DispatchQueue.global().asyncAfter(deadline: .now() + 2, execute: end)
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        end.cancel()
        guard process.terminationStatus == 0, data.count <= limit else { return nil }
        return String(decoding: data, as: UTF8.self)
    }
}
