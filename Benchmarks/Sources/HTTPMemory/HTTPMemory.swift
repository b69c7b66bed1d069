import Foundation

/// Loads URLs and prints memory, failures or descriptors. `http-memory` runs it.
///
/// usage: HTTPMemory transfer STYLE URL BYTES [PAUSES] | growth STYLE URL REQUESTS | stale URL REQUESTS | cancel URL REQUESTS
///
/// - `transfer` downloads (`download`, `bytes`, `delegate`) or uploads (`upload-file`, `upload-stream`) content once and prints the highest
///   resident memory. With PAUSES, the reader pauses for two seconds at 1 MiB and at each further quarter of the content.
/// - `growth` prints the resident memory after a tenth of the requests and after all of them. STYLE is `async`, `handler` or `delegate`.
/// - `stale` sends a GET and a POST alternately, with pauses of random length, and prints the failures of each.
/// - `cancel` cancels requests at random moments and prints the descriptors before and after.
@main
struct HTTPMemory {
    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        switch (words.first, words.count) {
        case ("transfer", 4...5):
            let transfer = Transfer(try url(words[2]), byteCount: Int(words[3]) ?? 0, pauses: words.count == 5)
            let count = try await transfer.run(words[1])
            print("bytes \(count) peak \(Memory.peak) anonymous \(Memory.anonymous)")
        case ("growth", 4):
            let growth = Growth(try url(words[2]), count: Int(words[3]) ?? 0)
            let (early, late, failures) = await growth.run(words[1])
            print("early \(early) late \(late) failed \(failures) peak \(Memory.peak)")
        case ("stale", 3): print(await StaleConnections(try url(words[1])).run(Int(words[2]) ?? 0))
        case ("cancel", 3): print(try await Cancellations(try url(words[1])).run(Int(words[2]) ?? 0))
        default: fatalError("usage: HTTPMemory transfer|growth|stale|cancel ...")
        }
    }

    private static func url(_ text: String) throws -> URL {
        guard let url = URL(string: text) else { throw CocoaError(.coderInvalidValue) }
        return url
    }
}

/// The resident memory of this process in KiB.
enum Memory {
    static var peak: Int { line("VmHWM:") }
    static var current: Int { line("VmRSS:") }
    /// Resident memory that the process itself has allocated. Pages from program files and library files do not count.
    static var anonymous: Int { line("RssAnon:") }

    private static func line(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let found = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return found?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
    }
}
